//! The end of an association, and who is told of it.

use whimbrel_machine::Instant;

use super::{Association, Ending, Handled, Phase};
use crate::interface::{AddressChangeError, Event};
use crate::timers::Timers;

impl Association {
    /// Ends the association if `result` says so.
    pub(super) fn conclude(&mut self, now: Instant, result: Handled) {
        let Err(ending) = result else { return };
        let reason = match ending {
            Ending::Silent(reason) => reason,
            Ending::Abort { reason, causes } => {
                self.farewell = self.write_abort_raw(&causes);
                reason
            }
            Ending::Farewell(farewell) => {
                let super::context::Farewell { reason, route, packet } = *farewell;
                self.farewell = Some((route, packet));
                reason
            }
        };
        self.in_open(now, |open, context| open.abandon_changes(context, AddressChangeError::Abandoned));
        let event = match (&mut self.phase, self.identity.token) {
            (Phase::Closed, _) => return,
            // Nobody has been told of it, but for who has asked for it.
            (Phase::Open(open), token) if open.auth.is_pending() => {
                self.events.clear();
                token.map(|token| Event::ConnectFailed { token, reason })
            }
            (Phase::Open(open), _) => {
                open.drain_received(&mut self.events, self.identity.id, &self.config.limits);
                Some(Event::Closed { association: self.identity.id, reason, undelivered: open.undelivered() })
            }
            (_, Some(token)) => Some(Event::ConnectFailed { token, reason }),
            (_, None) => Some(Event::Closed { association: self.identity.id, reason, undelivered: 0 }),
        };
        self.events.extend(event);
        self.timers = Timers::default();
        self.keep_totals();
        self.phase = Phase::Closed;
    }
}
