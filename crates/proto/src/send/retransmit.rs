//! Where lost DATA goes: the trait, and one rule per file.

mod alternate_path;
mod primary_path;

use core::fmt::Debug;

pub(super) use self::alternate_path::AlternatePath;
pub(super) use self::primary_path::PrimaryPath;
use super::chunk::Loss;
use super::scheduler::Offer;
use crate::interface::PathId;

/// Chooses the path of a retransmission.
pub(super) trait RetransmissionRule: Debug + Send {
    /// Where a chunk goes that was lost on the path `lost_on`, which may exist no more; `None` only when no path is usable.
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId>;
}

#[cfg(test)]
#[path = "retransmit_tests.rs"]
mod tests;
