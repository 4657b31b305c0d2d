//! Packets that carry the tag we gave to the peer instead of our own (RFC 9260 §8.5.1 B, C).

use whimbrel_machine::{Instant, Route};

use super::context::{Ending, aborted_by_peer};
use super::open::Open;
use super::shutdown::Closing;
use super::{Association, Phase};
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
        if matches!(&self.phase, Phase::Open(open) if late(open) || elsewhere(open)) {
            return;
        }
        // Without an association the peer cannot be waiting for anything: it has our SHUTDOWN ACK, and only its
        // SHUTDOWN COMPLETE was slower, on another path, than its answer to some stray packet.
        let ending = match &self.phase {
            Phase::Open(open) if matches!(open.closing, Closing::AckSent(_)) => {
                Ending::Silent(CloseReason::Shutdown)
            }
            _ => aborted_by_peer(causes),
        };
        self.conclude(now, Err(ending));
    }

    /// A SHUTDOWN COMPLETE that was accepted on account of its T bit (RFC 9260 §8.5.1 C).
    pub(crate) fn handle_reflected_shutdown_complete(&mut self, now: Instant) {
        if matches!(&self.phase, Phase::Open(open) if matches!(open.closing, Closing::AckSent(_))) {
            self.conclude(now, Err(Ending::Silent(CloseReason::Shutdown)));
        }
    }
}
