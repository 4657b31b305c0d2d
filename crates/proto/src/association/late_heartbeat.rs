//! A heartbeat that is not answered in time: on a path from which packets keep coming ([`Unanswered::RepeatIfHeard`]), and on one that has failed and may be back soon.

use super::tail_probe::repetition_after;
use super::{Closing, Context, Open};
use crate::config::{HeartbeatConfig, TailLoss, Unanswered};
use crate::interface::{PathId, PathState};
use crate::path::{Path, PendingHeartbeat};
use crate::timers::TimerId;

/// A path that has failed is asked so many times without a pause between the end of one heartbeat's time and the next one, where its backing off is limited: it may
/// be the better network, which nobody says is back, and the one in use a poor one.
pub(super) const AWAITED: u32 = 20;
/// As long as no more paths have failed.
const FEW: usize = 4;

impl Open {
    /// Whether paths that have failed are asked more often than RFC 9260 §8.3 has it, and are no more than a thin network has room to ask for.
    pub(super) fn awaits_few(&self, context: &Context<'_>) -> bool {
        let HeartbeatConfig { interval, standby_back_off, .. } = &context.config.heartbeat;
        let failed = |path: &&Path| matches!(path.state, PathState::PotentiallyFailed | PathState::Inactive);
        interval.is_some() && standby_back_off.is_some() && self.paths.iter().filter(failed).count() <= FEW
    }

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
