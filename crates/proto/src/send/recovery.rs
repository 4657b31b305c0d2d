//! Fast Recovery (RFC 9260 §7.2.4): while it lasts, no window grows, and further losses do not shrink one. The trait, and one
//! file for each scope: a state of the association, or a state of each path.

mod association;
mod path;
mod path_alone;

use core::fmt::Debug;

use smallvec::SmallVec;
use whimbrel_wire::Tsn;

pub(super) use self::association::RecoveryOfAssociation;
pub(super) use self::path::RecoveryOfPath;
pub(super) use self::path_alone::RecoveryOfPathAlone;
use crate::interface::PathId;

/// Knows which paths are in Fast Recovery.
pub(super) trait FastRecovery: Debug + Send {
    /// Chunks last sent on the paths `lost_on` are lost, and `highest` is the highest TSN outstanding, which ends the
    /// recovery that begins now (the Fast Recovery Exit Point). Returns the paths that enter it.
    fn begin(&mut self, lost_on: &[PathId], highest: Tsn) -> SmallVec<[PathId; 4]>;

    /// Everything up to `cumulative` has been acknowledged (RFC 9260 §6.2.1 D iv).
    fn on_cumulative_ack(&mut self, cumulative: Tsn);

    /// `lowest` is the lowest TSN in flight on `path`, where nothing waits that was lost there.
    fn on_path_point(&mut self, _path: PathId, _lowest: Option<Tsn>) {}

    /// All that was in flight on `path` has been given up, so that slow start must be able to grow again.
    fn end(&mut self, path: PathId);

    /// `path` is no more.
    fn remove_path(&mut self, path: PathId);

    /// Whether any path is in Fast Recovery.
    fn is_active(&self) -> bool;

    /// Whether `path` is in Fast Recovery.
    fn covers(&self, path: PathId) -> bool;
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
