use smallvec::SmallVec;
use whimbrel_wire::Tsn;

use super::FastRecovery;
use crate::interface::PathId;

/// A state of each path: a loss on one leaves the windows of the others alone. What concurrent multipath transfer needs, where
/// several paths carry data all the time.
#[derive(Debug, Default)]
pub(in crate::send) struct RecoveryOfPath {
    /// The paths in Fast Recovery and the TSNs that end it.
    exits: SmallVec<[(PathId, Tsn); 2]>,
}

impl RecoveryOfPath {
    /// The TSN that ends the recovery of a path.
    pub(super) fn exit(&self, path: PathId) -> Option<Tsn> {
        self.exits.iter().find(|(of, _)| *of == path).map(|&(_, exit)| exit)
    }
}

impl FastRecovery for RecoveryOfPath {
    fn begin(&mut self, lost_on: &[PathId], highest: Tsn) -> SmallVec<[PathId; 4]> {
        let entering: SmallVec<[PathId; 4]> =
            lost_on.iter().copied().filter(|&path| !self.covers(path)).collect();
        self.exits.extend(entering.iter().map(|&path| (path, highest)));
        entering
    }

    fn on_cumulative_ack(&mut self, cumulative: Tsn) {
        self.exits.retain(|(_, exit)| !exit.at_or_before(cumulative));
    }

    fn end(&mut self, path: PathId) {
        self.exits.retain(|(of, _)| *of != path);
    }

    fn remove_path(&mut self, path: PathId) {
        self.end(path);
    }

    fn is_active(&self) -> bool {
        !self.exits.is_empty()
    }

    fn covers(&self, path: PathId) -> bool {
        self.exits.iter().any(|(of, _)| *of == path)
    }
}
