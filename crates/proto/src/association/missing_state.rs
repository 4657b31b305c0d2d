//! A packet with the right Verification Tag from an address that the peer has not listed. It is not processed (RFC 9260 §8.4), but who has sent it
//! may be the peer behind a translator that has another outer address now: it is told, so that it adds that address by ASCONF.
//!
//! The words are those that the NAT draft has for a translator without state: an ERROR with the cause Missing State. The tag is the one that
//! the packet had, as in the ABORT of RFC 9260 §8.4 that would be the answer otherwise, so that a stranger learns nothing.

use core::time::Duration;

use whimbrel_machine::{Instant, Route};

use super::{Association, Closing, Context, Open};
use crate::config::TailLoss;
use crate::interface::Mobility;

/// No more than one stranger is told in this time.
const PAUSE: Duration = Duration::from_millis(50);

/// Strangers with our tag that are told to say where they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strangers {
    last: Option<Instant>,
    /// Who is to be told.
    waiting: Option<Route>,
}

impl Open {
    /// A packet was dropped because the peer has not listed the address that it came from.
    pub(crate) fn note_stranger(&mut self, context: &Context<'_>, route: Route) {
        let can_tell = self.asconf.mobility == Mobility::Dynamic
            && context.config.retransmission.tail == TailLoss::Probe
            && matches!(self.closing, Closing::No)
            && self.locals.accepts(route.local.ip());
        let Strangers { last, waiting } = &mut self.notes.strangers;
        if can_tell && last.is_none_or(|last| context.now >= last + PAUSE) {
            (*last, *waiting) = (Some(context.now), Some(route));
        }
    }
}

impl Association {
    /// Who is to be told that nobody knows its address.
    pub(crate) fn take_stranger(&mut self) -> Option<Route> {
        match self.phase_mut() {
            super::Phase::Open(open) => open.notes.strangers.waiting.take(),
            _ => None,
        }
    }

    /// The peer does not know the address that our packets come from, so that it is translated, also if it looks as if everybody could reach it.
    /// Whoever says so may be anybody: all that it brings about is one more ASCONF now and then.
    pub(crate) fn handle_missing_state(&mut self, now: Instant, route: Route) {
        self.in_open(now, |open, context| {
            open.locals.hide(route.local.ip());
            open.restate(context, route.local.ip());
        });
    }
}
