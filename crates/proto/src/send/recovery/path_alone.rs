use smallvec::SmallVec;
use whimbrel_wire::Tsn;

use super::{FastRecovery, RecoveryOfPath};
use crate::interface::PathId;

/// A state of each path that ends when all that was outstanding on the path as it began has been acknowledged, or sent again by another. The
/// Cumulative TSN Ack Point may be held back by a path that takes many times as long: until then the window of this one would rest.
#[derive(Debug, Default)]
pub(in crate::send) struct RecoveryOfPathAlone {
    paths: RecoveryOfPath,
}

impl FastRecovery for RecoveryOfPathAlone {
    fn begin(&mut self, lost_on: &[PathId], highest: Tsn) -> SmallVec<[PathId; 4]> {
        self.paths.begin(lost_on, highest)
    }

    fn on_cumulative_ack(&mut self, cumulative: Tsn) {
        self.paths.on_cumulative_ack(cumulative);
    }

    fn on_path_point(&mut self, path: PathId, lowest: Option<Tsn>) {
        if self.paths.exit(path).is_some_and(|exit| lowest.is_none_or(|lowest| exit.precedes(lowest))) {
            self.paths.end(path);
        }
    }

    fn end(&mut self, path: PathId) {
        self.paths.end(path);
    }

    fn remove_path(&mut self, path: PathId) {
        self.paths.remove_path(path);
    }

    fn is_active(&self) -> bool {
        self.paths.is_active()
    }

    fn covers(&self, path: PathId) -> bool {
        self.paths.covers(path)
    }
}
