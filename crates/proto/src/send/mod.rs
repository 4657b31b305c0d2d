//! The sending half of an association: streams, scheduler, outstanding chunks.

#[cfg(any(test, fuzzing))]
pub(crate) mod operations;
pub(crate) mod outstanding;
pub(crate) mod sack_report;
pub mod scheduler;
pub(crate) mod streams;
