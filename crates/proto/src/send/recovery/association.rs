use smallvec::SmallVec;
use whimbrel_wire::Tsn;

use super::FastRecovery;
use crate::interface::PathId;

/// One state for the whole association, as RFC 9260 §7.2.4 has it: a loss on one path freezes the windows of all.
#[derive(Debug, Default)]
pub(in crate::send) struct RecoveryOfAssociation {
    exit: Option<Tsn>,
}

impl FastRecovery for RecoveryOfAssociation {
    fn begin(&mut self, lost_on: &[PathId], highest: Tsn) -> SmallVec<[PathId; 4]> {
        if self.exit.is_some() {
            return SmallVec::new();
        }
        self.exit = Some(highest);
        lost_on.into()
    }

    fn on_cumulative_ack(&mut self, cumulative: Tsn) {
        if self.exit.is_some_and(|exit| exit.at_or_before(cumulative)) {
            self.exit = None;
        }
    }

    fn end(&mut self, _path: PathId) {
        self.exit = None;
    }

    fn remove_path(&mut self, _path: PathId) {}

    fn is_active(&self) -> bool {
        self.exit.is_some()
    }

    fn covers(&self, _path: PathId) -> bool {
        self.exit.is_some()
    }
}
