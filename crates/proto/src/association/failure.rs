//! Errors of paths and of the association (RFC 9260 §8.1, §8.2; RFC 7829 §3.2, §5).

use super::{Context, Handled, Open};
use crate::interface::{PathId, PathState};
use crate::timers::TimerId;

impl Open {
    /// A timeout on a path. `of_association` says whether it also counts against the peer as a whole.
    pub(crate) fn note_path_error(
        &mut self,
        context: &mut Context<'_>,
        id: PathId,
        of_association: bool,
    ) -> Handled {
        if of_association {
            self.note_association_error(context)?;
        }
        let limits = &context.config.failure;
        let Some(path) = self.paths.get_mut(id) else { return Ok(()) };
        // RFC 7829 §4.1: counting goes on beyond the limit, so that dormant paths can be told apart.
        path.error_count = path.error_count.saturating_add(1);
        let errors = path.error_count;
        // A failed path whose link has come back has few errors and works no more than before.
        let state = if errors > limits.path_max_retrans || path.state == PathState::Inactive {
            PathState::Inactive
        } else if limits.potentially_failed_max_retrans.is_some_and(|limit| errors > limit) {
            PathState::PotentiallyFailed
        } else {
            path.state
        };
        if path.confirmed {
            let fails_now = path.state == PathState::Active && state != PathState::Active;
            self.change_path_state(context, id, state);
            if fails_now && context.config.heartbeat.interval.is_some() {
                // RFC 7829 §3.2 rule 6: a heartbeat as soon as the path becomes potentially failed; by rule 5 none where
                // they are switched off.
                context.timers.set(TimerId::Heartbeat(id), context.now);
            }
        }
        if id == self.paths.primary()
            && limits.primary_switchover_max_retrans.is_some_and(|limit| errors > limit)
        {
            let successor = self.data_path();
            self.set_primary(successor);
        }
        self.grant_wanted_primary(context);
        self.notice_path_in_use(context);
        self.restate_source(context, id);
        Ok(())
    }

    /// The answer to a HEARTBEAT, an ASCONF, or something else that went there came back: the path works (RFC 9260 §8.3). What has backed off
    /// while it did not waits no longer.
    pub(crate) fn note_path_alive(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        let returns = core::mem::take(&mut path.error_count) > 0;
        let before = path.state;
        let is_another = before != PathState::Active;
        path.rto.forget_back_off();
        path.doubt.clear();
        path.pmtu.on_heartbeat_answered();
        if !core::mem::replace(&mut path.confirmed, true) {
            self.notes.addresses_changed = true;
            self.vouched_has_answered(id);
        }
        self.change_path_state(context, id, PathState::Active);
        self.grant_wanted_primary(context);
        self.notice_path_in_use(context);
        if matches!(before, PathState::PotentiallyFailed | PathState::Inactive) {
            self.acknowledge_again(context, id);
        }
        if is_another {
            self.take_over(context, id);
        }
        // RFC 9260 §8.1: the association's counter may wait for the fate of outstanding data.
        if self.sender.is_all_acknowledged() {
            self.notes.error_count = 0;
        }
        if returns {
            self.hasten_retransmissions(context);
            self.hasten_asconf(context);
        }
    }
}
