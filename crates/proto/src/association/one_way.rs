//! Paths that work in one direction only, and not in the same one: each end hears the other, and no answer ever returns by the way of its question.

use whimbrel_machine::{Instant, Route};

use super::replies::First;
use super::{Context, Open};
use crate::config::FailedRoute;
use crate::interface::PathState;
use crate::path::{Egress, Path};

/// An answer goes by so many other paths at most.
const MOST: usize = 4;
/// Longer answers go by none: nobody is to be sent much at addresses that may be somebody else's by now.
const LONGEST: usize = 128;
/// Answers to what comes by a path go elsewhere so often in an RTO at most.
const TIMES: u32 = 4;

/// By which ways answers about a path come, and those to what comes by the path go.
#[derive(Debug, Default)]
pub(crate) struct WayOfAnswers {
    /// The last answer about the path arrived by another path: this one may work in one direction only.
    elsewhere: bool,
    /// When an answer last went by other paths, too, and with which of them the next one begins.
    copied: Option<Instant>,
    turn: usize,
}

impl WayOfAnswers {
    /// Up to `MOST` of `routes`, the next ones in turn.
    fn take_turns(&mut self, routes: &mut Vec<Route>) {
        self.turn %= routes.len().max(1);
        routes.rotate_left(self.turn);
        routes.truncate(MOST);
        self.turn += routes.len();
    }
}

impl Open {
    /// Sends copies of an answer, `chunks`, to what came by the first route, a HEARTBEAT or an ASCONF, and is answered by the second.
    ///
    /// An answer goes back to where the question came from (RFC 9260 §6.4, RFC 5061 §5.2 E6). If nothing that is sent there seems to arrive, nor by any other path, a copy goes by
    /// up to four others in turn, or if some are active, by those. RFC 5061 has no such copy, but the asker knows the answer by its serial number, and the one to a HEARTBEAT by
    /// its nonce, which says what path it has gone by. Who works both ways by any path never does so.
    pub(super) fn answer_elsewhere(
        &mut self,
        context: &Context<'_>,
        [asked, answered]: [Route; 2],
        kind: First,
        chunks: &[Vec<u8>],
    ) {
        let avoids = context.config.sack.failed_route == FailedRoute::Avoid;
        let small = chunks.iter().map(Vec::len).sum::<usize>() <= LONGEST;
        let needed = avoids && small && !self.heartbeats_are_over() && !self.any_works_both_ways();
        if !needed || !self.may_answer_elsewhere(context.now, asked) {
            return;
        }
        let open = |path: &&Path| {
            let from = path.route.local.ip();
            let apart = path.route != asked && path.route != answered;
            path.confirmed && path.egress == Egress::Open && apart && self.locals.is_source(from)
        };
        let others: Vec<&Path> = self.paths.iter().filter(open).collect();
        let active = others.iter().any(|path| path.state == PathState::Active);
        let chosen = others.iter().filter(|path| !active || path.state == PathState::Active);
        let mut routes: Vec<Route> = chosen.map(|path| path.route).collect();
        if let Some(path) = self.paths.by_route(asked).and_then(|id| self.paths.get_mut(id)) {
            path.supervision.way_of_answers_mut().take_turns(&mut routes);
        }
        for route in routes {
            chunks.iter().all(|chunk| self.replies.push_raw(route, kind, chunk));
        }
    }

    /// Whether the path that a question came by has failed, and its answers have not gone elsewhere too often.
    fn may_answer_elsewhere(&mut self, now: Instant, asked: Route) -> bool {
        let Some(path) = self.paths.by_route(asked).and_then(|id| self.paths.get_mut(id)) else {
            return false;
        };
        let pause = path.rto.without_back_off() / TIMES;
        let copied = path.supervision.way_of_answers().copied;
        let allowed = has_failed(path) && copied.is_none_or(|at| now >= at + pause);
        if allowed {
            path.supervision.way_of_answers_mut().copied = Some(now);
        }
        allowed
    }

    /// Whether anything that is sent by a path is answered by the same one.
    pub(super) fn any_works_both_ways(&self) -> bool {
        self.paths.iter().any(works_both_ways)
    }

    /// The way of the last word to what came by `asked`: that one (RFC 9260 §6.4), or where nothing that is sent there seems to arrive, and no path works both ways, the path in use,
    /// if that is active.
    pub(super) fn way_of_last_word(&self, asked: Route) -> Route {
        let failed = self.paths.by_route(asked).and_then(|id| self.paths.get(id)).is_some_and(has_failed);
        let in_use = self.paths.get(self.data_path()).filter(|path| path.state == PathState::Active);
        let elsewhere = failed && !self.any_works_both_ways();
        in_use.filter(|path| elsewhere && path.is_usable()).map_or(asked, |path| path.route)
    }
}

/// Notes that an answer about `path` has come by `route`; whether that is the way of the path itself.
pub(super) fn note_way_of_answer(path: &mut Path, route: Route) -> bool {
    // Behind a translator the port may be another one each time.
    let ends = |route: Route| (route.local.ip(), route.remote.ip());
    let directly = ends(route) == ends(path.route);
    path.supervision.way_of_answers_mut().elsewhere = !directly;
    directly
}

fn has_failed(path: &Path) -> bool {
    path.confirmed && matches!(path.state, PathState::PotentiallyFailed | PathState::Inactive)
}

fn works_both_ways(path: &Path) -> bool {
    path.confirmed && path.state == PathState::Active && !path.supervision.way_of_answers().elsewhere
}
