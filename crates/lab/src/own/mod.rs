//! Experiments of one's own: a file says which networks there are, what happens to them, who sends what, and what is swept.

mod experiment;
mod file;
mod limits;
mod sweep;
mod world;

pub use experiment::{load, name};

#[cfg(test)]
#[path = "../own_tests.rs"]
mod tests;
