//! Where lost DATA goes: the trait, and one rule per file.

mod alternate_path;
mod largest_threshold;
mod largest_window;
mod least_loss;
mod primary_path;
mod same_path;
mod soonest;
mod with_room;

use core::fmt::Debug;

pub(super) use self::alternate_path::AlternatePath;
pub(super) use self::largest_threshold::LargestThreshold;
pub(super) use self::largest_window::LargestWindow;
pub(super) use self::least_loss::LeastLoss;
pub(super) use self::primary_path::PrimaryPath;
pub(super) use self::same_path::SamePath;
pub(super) use self::soonest::Soonest;
pub(super) use self::with_room::WithRoom;
use super::chunk::Loss;
use super::scheduler::Offer;
use crate::config::RetransmissionPath;
use crate::interface::PathId;
use crate::path::{PathIds, data_paths, is_sound};

/// Chooses the path of a retransmission.
pub(super) trait RetransmissionRule: Debug + Send {
    /// Where a chunk goes that was lost on the path `lost_on`, which may exist no more; `None` only when no path is usable.
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId>;
}

/// The rule that is asked for.
pub(super) fn rule(asked: RetransmissionPath) -> Box<dyn RetransmissionRule> {
    match asked {
        RetransmissionPath::Alternate => Box::new(AlternatePath),
        RetransmissionPath::Primary => Box::new(PrimaryPath),
        RetransmissionPath::Same => Box::new(SamePath),
        RetransmissionPath::WithRoom => Box::new(WithRoom),
        RetransmissionPath::LargestWindow => Box::new(LargestWindow),
        RetransmissionPath::LargestThreshold => Box::new(LargestThreshold),
        RetransmissionPath::LeastLoss => Box::new(LeastLoss),
        RetransmissionPath::Soonest => Box::new(Soonest),
    }
}

/// The paths among which the rules of concurrent multipath transfer choose, that which has lost the chunk last, or not at all after a
/// timeout if there is another (RFC 9260 §6.4).
fn choices(offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> PathIds {
    let mut paths = data_paths(offer.paths);
    if let Some(at) = paths.iter().position(|&path| path == lost_on) {
        paths.remove(at);
        if paths.is_empty() || matches!(loss, Loss::Missing | Loss::Outage) {
            paths.push(lost_on);
        }
    }
    paths
}

/// Whether a path may carry what it has lost once more.
fn works(offer: &Offer<'_>, path: PathId) -> bool {
    offer.paths.get(path).is_some_and(is_sound)
}

#[cfg(test)]
#[path = "retransmit_tests.rs"]
mod tests;
