use super::{Offer, Scheduler};
use crate::interface::PathId;

/// Each path in turn that has room in its window. A turn is a train, so that packets are bundled as on one path.
#[derive(Debug, Default)]
pub(in crate::send) struct RoundRobin {
    last: Option<PathId>,
}

impl Scheduler for RoundRobin {
    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId> {
        let mut paths = self.in_use(offer.paths);
        if let Some(at) = self.last.and_then(|last| paths.iter().position(|&path| path == last)) {
            paths.rotate_left(at + 1);
        }
        let next = paths.iter().copied().find(|&path| offer.has_room(path));
        self.last = next.or(self.last);
        next.or(paths.first().copied())
    }
}
