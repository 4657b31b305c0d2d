//! Which verdicts hang on values that the papers leave out.
//!
//! [`experiments`] are the papers' experiments with one more axis, the assumed value that is changed; [`tried`] checks every claim on their rows,
//! once for each alternative. What that yielded last is committed (`data/sensitivity.jsonl`), with a fingerprint of what it was made
//! with, so that verdicts can be given without making it again.

mod committed;
mod experiment;
mod trials;

pub use committed::{Committed, CommittedError, FILE};
#[cfg(test)]
pub(crate) use experiment::AS_ASSUMED;
pub(crate) use experiment::SUFFIX;
pub use experiment::{Altered, experiments};
pub use trials::{Tried, Turn, tried};

#[cfg(test)]
#[path = "sensitivity_tests.rs"]
mod tests;
