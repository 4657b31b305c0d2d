use smallvec::SmallVec;
use whimbrel_wire::Tsn;

use super::{Advance, Growth};
use crate::interface::PathId;

/// One of two points of the path has to advance: the lowest TSN in flight there, which may have been sent again, or the lowest of those that were
/// sent once (CUC, version 2). What has moved to another path holds back nothing here.
#[derive(Debug, Default)]
pub(super) struct PathPoints {
    /// The lowest of those that were sent once.
    points: SmallVec<[(PathId, Tsn); 2]>,
}

impl Growth for PathPoints {
    fn grows(&mut self, path: PathId, advance: &Advance<'_>) -> bool {
        let known =
            self.points.iter().position(|&(of, _)| of == path).map(|at| self.points.swap_remove(at).1);
        let from = known.or(advance.lowest);
        let next = from.and_then(|from| advance.lowest_sent_once(path, from));
        self.points.extend(next.map(|next| (path, next)));
        advance.of_path() || known.is_some_and(|point| advance.is_acknowledged(point))
    }

    fn remove_path(&mut self, path: PathId) {
        self.points.retain(|(of, _)| *of != path);
    }
}
