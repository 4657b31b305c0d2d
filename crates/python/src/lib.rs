//! The native half of the Python package `whimbrel`: [`whimbrel_lab`] behind five functions, which `python/whimbrel/lab.py` makes
//! into what people call.
//!
//! A scenario is two words here, its name and its text; that of a paper's experiment has no text. Tables leave as Arrow IPC streams.
#![deny(unsafe_code)]

mod scenario;
mod sweep;

use pyo3::prelude::*;

#[pymodule]
mod _lab {
    #[pymodule_export]
    use super::scenario::{cells, experiments, read, text};
    #[pymodule_export]
    use super::sweep::run;
}
