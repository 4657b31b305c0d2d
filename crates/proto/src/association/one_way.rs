//! Paths that work in one direction only, and not in the same one: each end hears the other, and no answer ever returns by the way of its question.

use whimbrel_machine::{Instant, Route};

use super::{Context, Open};
use crate::config::FailedRoute;
use crate::interface::{PathId, PathState};
use crate::path::{Egress, Path};

/// An answer goes by so many other paths at most.
const MOST: usize = 4;
/// Longer answers go by none: nobody is to be sent much at addresses that may be somebody else's by now.
const LONGEST: usize = 128;
/// Answers to what comes by a path go elsewhere so often in an RTO at most.
const TIMES: u32 = 4;

impl Open {
    /// By which other paths an answer of `len` bytes goes, which is sent by `source` to what came by `asked`, a HEARTBEAT or an ASCONF.
    ///
    /// It goes back to where the question came from (RFC 9260 §6.4, RFC 5061 §5.2 E6). If nothing that is sent there seems to arrive, nor by any other path, a copy goes by up
    /// to four others in turn, or if some are active, by those. RFC 5061 has no such copy, but the asker knows the answer by its serial number, and the one to a HEARTBEAT by
    /// its nonce, which says what path it has gone by. Who works both ways by any path never does so.
    pub(super) fn detours(
        &mut self,
        context: &Context<'_>,
        asked: Route,
        source: Route,
        len: usize,
    ) -> Vec<Route> {
        let avoids = context.config.sack.failed_route == FailedRoute::Avoid;
        let unneeded = !avoids || len > LONGEST || self.heartbeats_are_over();
        if unneeded
            || self.paths.iter().any(works_both_ways)
            || !self.may_answer_elsewhere(context.now, asked)
        {
            return Vec::new();
        }
        let open = |path: &&Path| {
            let from = path.route.local.ip();
            let apart = path.route != asked && path.route != source;
            path.confirmed && path.egress == Egress::Open && apart && self.locals.is_source(from)
        };
        let others: Vec<&Path> = self.paths.iter().filter(open).collect();
        let active = others.iter().any(|path| path.state == PathState::Active);
        let mut routes: Vec<Route> = others
            .iter()
            .filter(|path| !active || path.state == PathState::Active)
            .map(|path| path.route)
            .collect();
        let turn = self.notes.detours % routes.len().max(1);
        routes.rotate_left(turn);
        routes.truncate(MOST);
        self.notes.detours = turn + routes.len();
        routes
    }

    /// Whether the path that a question came by has failed, and its answers have not gone elsewhere too often.
    fn may_answer_elsewhere(&mut self, now: Instant, asked: Route) -> bool {
        let Some(path) = self.paths.by_route(asked).and_then(|id| self.paths.get_mut(id)) else {
            return false;
        };
        let pause = path.rto.without_back_off() / TIMES;
        let fails = has_failed(path) && path.supervision.detoured.is_none_or(|at| now >= at + pause);
        if fails {
            path.supervision.detoured = Some(now);
        }
        fails
    }

    /// What the peer has answered of a path came by `route`.
    pub(super) fn note_way_of_answer(&mut self, id: PathId, route: Route) {
        if let Some(path) = self.paths.get_mut(id) {
            // Behind a translator the port may be another one each time.
            let way = |route: Route| (route.local.ip(), route.remote.ip());
            path.supervision.answered_elsewhere = way(route) != way(path.route);
        }
    }

    /// Whether anything that is sent by a path is answered by the same one.
    pub(super) fn any_works_both_ways(&self) -> bool {
        self.paths.iter().any(works_both_ways)
    }

    /// The way of the last word to what came by `asked`: where nothing that is sent there seems to arrive the path in use, if that is active.
    pub(super) fn way_of_last_word(&self, asked: Route) -> Route {
        let failed = self.paths.by_route(asked).and_then(|id| self.paths.get(id)).is_some_and(has_failed);
        let in_use = self.paths.get(self.data_path()).filter(|path| path.state == PathState::Active);
        in_use.filter(|path| failed && path.is_usable()).map_or(asked, |path| path.route)
    }
}

fn has_failed(path: &Path) -> bool {
    path.confirmed && matches!(path.state, PathState::PotentiallyFailed | PathState::Inactive)
}

fn works_both_ways(path: &Path) -> bool {
    path.confirmed && path.state == PathState::Active && !path.supervision.answered_elsewhere
}
