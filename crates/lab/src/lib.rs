//! Published handover experiments as code: sweeps in virtual time over the transport that users run, and the papers'
//! claims checked one by one.
//!
//! An [`Experiment`] is one file in `figures/`. The set-ups and the claims are data (`data/scenarios.toml`,
//! `data/claims.toml`). [`runner`] runs sweeps on all cores with results that do not depend on how many there are.
#![forbid(unsafe_code)]

mod assumptions;
mod belated;
pub mod claims;
mod command_line;
mod concurrent_profile;
mod dar;
pub mod experiment;
pub mod figures;
mod golden;
pub mod grid;
mod handed_over_video;
mod hard_handover_place;
pub mod likeness;
mod meaning;
mod overlap_place;
mod overlap_rules;
mod overlap_sender;
pub mod own;
pub mod plot;
pub mod profile;
pub mod report;
pub mod runner;
pub mod scenario;
mod scheme;
pub mod sensitivity;
pub mod setups;
mod shard;
pub mod statistics;
pub mod store;
pub mod summary;
mod two_cell_download;
mod two_cell_place;
mod two_networks;
mod ufa_trace;
mod unseen;
mod value;

pub use experiment::{
    Axes, Cell, Experiment, Fingerprint, Name, Outcome, PAPER, Row, SEAMLESS, Sample, Watch,
};
pub use meaning::Meaning;
pub use scenario::{DataError, Papers};
pub use shard::{Shard, ShardError};
pub use value::Value;

/// What rows carry as their version: that of the crate, and a fingerprint of the sources that results depend on.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("WHIMBREL_LAB_SOURCES"));
