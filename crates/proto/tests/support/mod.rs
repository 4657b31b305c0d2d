//! Bodies of fuzz targets over the public interface: a script of bytes decides everything. `tests/scripts.rs` runs
//! them over the corpora.
#![allow(dead_code, reason = "each target uses its part")]

pub(crate) mod hostile_peer;
pub(crate) mod lossy_pair;
pub(crate) mod protected_peer;
#[path = "../../src/script.rs"]
mod script;
mod victim;
