//! A heartbeat that is not answered in time on a path from which packets keep coming ([`Unanswered::RepeatIfHeard`]).

use super::tail_probe::repetition_after;
use super::{Closing, Context, Open};
use crate::config::{TailLoss, Unanswered};
use crate::interface::{PathId, PathState};
use crate::path::{Path, PendingHeartbeat};
use crate::timers::TimerId;

impl Open {
    /// Sends the heartbeat that has not been answered once more if its path is alive by another sign; true if it has.
    ///
    /// The answer to either of the two counts, and measures: they are told apart.
    pub(crate) fn repeat_if_heard(&mut self, context: &mut Context<'_>, id: PathId) -> bool {
        // RFC 9260 §8.3: no heartbeats once SHUTDOWN has been sent.
        let closing = matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_));
        if context.config.heartbeat.unanswered != Unanswered::RepeatIfHeard || closing {
            return false;
        }
        // Nothing waits for the verdict, and a single packet may be lost on the best of paths.
        let probing = context.config.retransmission.tail == TailLoss::Probe;
        let idle = probing && !self.sender.has_in_flight(id);
        let Some(path) = self.paths.get_mut(id) else { return false };
        let first = |late: &&PendingHeartbeat| late.is_first() && path.state == PathState::Active;
        let Some(late) = path.supervision.heartbeat.as_ref().filter(first) else { return false };
        let heard = is_heard(path, late, context);
        if !heard && !idle {
            return false;
        }
        if let Some(late) = path.supervision.heartbeat.as_mut() {
            late.repeat(context.now);
        }
        path.supervision.last_probing = context.now;
        let rto = path.rto.current();
        // The repetition and those that follow it have a round trip more than the first: together they are late on a path with jitter more easily
        // than they are lost.
        let wait = if heard { rto * 2 } else { rto + path.rto.srtt().unwrap_or_default() };
        context.timers.set(TimerId::HeartbeatTimeout(id), context.now + wait);
        if idle {
            context.timers.set(TimerId::TailProbe(id), context.now + repetition_after(path));
        }
        true
    }
}

/// Whether a packet has come by a round trip after the heartbeat had left, and not just before it either. As a rule it has not been on its
/// way already when the path died; behind a queue longer than an RTO it may have been, so that this is asked once only.
fn is_heard(path: &Path, late: &PendingHeartbeat, context: &Context<'_>) -> bool {
    let rto = path.rto.current();
    let due = late.last_sent_at() + path.rto.srtt().unwrap_or(rto);
    path.supervision.heard.is_some_and(|heard| heard >= due && heard + rto / 2 >= context.now)
}
