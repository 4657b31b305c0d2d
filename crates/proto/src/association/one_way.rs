//! Paths that work in one direction only, and not in the same one: each end hears the other, and no answer ever returns by the way of its question.

use whimbrel_machine::Route;

use super::Open;
use crate::config::{Config, FailedRoute};
use crate::interface::PathState;
use crate::path::{Egress, Path};

/// An answer goes by so many other paths at most where none is known to work.
const MOST: usize = 4;

impl Open {
    /// By which other paths the answer to a HEARTBEAT or an ASCONF that came by `asked` goes, too.
    ///
    /// RFC 9260 §8.3 and RFC 5061 §5.2 E6 have it go back to where the question came from. If nothing that is sent there seems to arrive, nor by any other path, a copy goes by
    /// each of them, and if some are answered, though elsewhere, by those. The nonce of a HEARTBEAT says for which path the answer is, whichever way that returns, and the serial
    /// number of an ASCONF to which request.
    pub(super) fn detours(&self, config: &Config, asked: Route) -> Vec<Route> {
        let avoids = config.sack.failed_route == FailedRoute::Avoid;
        let path = self.paths.by_route(asked).and_then(|id| self.paths.get(id)).filter(|_| avoids);
        if path.is_none_or(|path| !has_failed(path)) || self.paths.iter().any(works_both_ways) {
            return Vec::new();
        }
        let open = |path: &&Path| {
            let from = path.route.local.ip();
            path.confirmed
                && path.egress == Egress::Open
                && path.route != asked
                && self.locals.is_source(from)
        };
        let others: Vec<&Path> = self.paths.iter().filter(open).collect();
        let active = others.iter().any(|path| path.state == PathState::Active);
        let chosen = others.iter().filter(|path| !active || path.state == PathState::Active);
        chosen.take(MOST).map(|path| path.route).collect()
    }
}

fn has_failed(path: &Path) -> bool {
    path.confirmed && matches!(path.state, PathState::PotentiallyFailed | PathState::Inactive)
}

fn works_both_ways(path: &Path) -> bool {
    path.confirmed && path.state == PathState::Active && !path.supervision.answered_elsewhere
}
