use smallvec::SmallVec;
use whimbrel_wire::Tsn;

use super::{Advance, Growth};
use crate::interface::PathId;

/// The pseudo-cumulative point of the path has to advance: the lowest TSN of those that were sent once, on this path (CUC, version 1).
///
/// It stays where it is until that chunk is acknowledged, even if that has moved to another path meanwhile: then the window rests until it has been.
#[derive(Debug, Default)]
pub(super) struct PathPoint {
    points: SmallVec<[(PathId, Tsn); 2]>,
}

impl Growth for PathPoint {
    fn grows(&mut self, path: PathId, advance: &Advance<'_>) -> bool {
        let known =
            self.points.iter().position(|&(of, _)| of == path).map(|at| self.points.swap_remove(at).1);
        let Some(point) = known.or(advance.lowest) else { return true };
        let advanced = advance.is_acknowledged(point);
        let next = if advanced { advance.lowest_sent_once(path, point) } else { Some(point) };
        self.points.extend(next.map(|next| (path, next)));
        advanced
    }

    fn remove_path(&mut self, path: PathId) {
        self.points.retain(|(of, _)| *of != path);
    }
}
