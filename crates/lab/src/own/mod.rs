//! Experiments of one's own: a file says which hosts and networks there are, what happens to them, who sends what, and what is
//! swept.

mod air;
mod buffer;
mod correspondent;
mod experiment;
mod file;
mod happenings;
mod limits;
mod losses;
mod measures;
mod medium;
mod motion;
mod parameters;
mod plots;
mod policies;
mod profile;
mod quantities;
mod radio;
mod residents;
mod rivals;
mod sources;
mod sweep;
mod traffic;
mod unread;
mod world;

pub use experiment::{load, name, read};

#[cfg(test)]
#[path = "../own_tests.rs"]
mod tests;
