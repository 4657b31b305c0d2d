//! Experiments of one's own: a file says which hosts and networks there are, what happens to them, who sends what, and what is
//! swept.

mod experiment;
mod file;
mod flow;
mod happenings;
mod limits;
mod measures;
mod motion;
mod plots;
mod quantities;
mod residents;
mod sweep;
mod traffic;
mod world;

pub use experiment::{load, name, read};

#[cfg(test)]
#[path = "../own_tests.rs"]
mod tests;
