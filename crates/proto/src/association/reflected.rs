//! Packets that carry the tag we gave to the peer instead of our own (RFC 9260 §8.5.1 B, C).

use core::time::Duration;

use whimbrel_machine::{Instant, Route};

use super::context::aborted_by_peer;
use super::{Association, Context, Ending, Open};
use crate::config::AssociationFailure;
use crate::interface::CloseReason;

impl Association {
    /// An ABORT that was accepted on account of its T bit (RFC 9260 §8.5.1 B).
    pub(crate) fn handle_reflected_abort(
        &mut self,
        now: Instant,
        route: Route,
        causes: whimbrel_wire::Causes<'_>,
    ) {
        // It answers what was sent from an address that was being deleted (RFC 5061 §5.3.1).
        let local = route.local.ip();
        let late = |open: &Open| open.locals.is_leaving(local) || !open.locals.accepts(local);
        // An address that the peer has listed but that somebody else has, on a private network of the same numbers for
        // instance: who answers there says nothing about the peer.
        let elsewhere = |open: &Open| {
            !open.is_confirmed(route.remote.ip()) && open.paths.iter().any(|path| path.confirmed)
        };
        if self.open().is_some_and(|open| late(open) || elsewhere(open)) {
            return;
        }
        if self.open().is_some()
            && !self.is_waiting_for_shutdown_complete()
            && let Ending::Silent(reason) = aborted_by_peer(causes)
        {
            let refused =
                |open: &mut Open, context: &mut Context<'_>| match context.config.failure.association {
                    AssociationFailure::Errors(_) => Err(Ending::Silent(reason)),
                    // Who has lost the association answers so at all of its addresses, and who has got an address that was the peer's at that one
                    // alone. RFC 9260 §8.5.1 B does not tell them apart.
                    AssociationFailure::Silence(_) => {
                        open.handle_refusal(context, route, reason, Duration::ZERO)
                    }
                };
            let result = self.in_open(now, refused);
            self.conclude(now, result.unwrap_or(Ok(())));
            return;
        }
        // Without an association the peer cannot be waiting for anything: it has our SHUTDOWN ACK, and only its
        // SHUTDOWN COMPLETE was slower, on another path, than its answer to some stray packet.
        let ending = if self.is_waiting_for_shutdown_complete() {
            Ending::Silent(CloseReason::Shutdown)
        } else {
            aborted_by_peer(causes)
        };
        self.conclude(now, Err(ending));
    }

    /// Something has come with the peer's own tag, and ends nothing.
    pub(crate) fn note_dropped(&mut self, now: Instant) {
        self.in_open(now, |open, _| open.notes.packets_dropped += 1);
    }

    /// A SHUTDOWN COMPLETE that was accepted on account of its T bit (RFC 9260 §8.5.1 C).
    pub(crate) fn handle_reflected_shutdown_complete(&mut self, now: Instant) {
        if self.is_waiting_for_shutdown_complete() {
            self.conclude(now, Err(Ending::Silent(CloseReason::Shutdown)));
        } else {
            self.note_dropped(now);
        }
    }
}
