//! ICMP messages about an association, already matched to it (RFC 9260 §10).

use core::time::Duration;

use whimbrel_machine::{Instant, Route, Unreachable};

use super::{Association, Closing, Context, Ending, Handled, Open, Phase};
use crate::config::AssociationFailure;
use crate::interface::CloseReason;

/// A peer that we have called, and that has been refusing packets for this long and has sent none, is gone.
const REFUSALS: Duration = Duration::from_secs(10);

impl Association {
    /// `init` says that the quoted packet was our INIT.
    pub(crate) fn handle_icmp(&mut self, now: Instant, route: Route, reason: Unreachable, init: bool) {
        let result = match (&mut self.phase, reason) {
            (Phase::CookieWait(wait), _) if init => {
                wait.attempt.on_unreachable(reason, &mut self.timers, now)
            }
            (Phase::CookieEchoed(echoed), _) if !init => {
                echoed.attempt.on_unreachable(reason, &mut self.timers, now)
            }
            (Phase::Open(_), Unreachable::Protocol) if !init => self
                .in_open(now, |open, context| open.handle_protocol_unreachable(context, route))
                .unwrap_or(Ok(())),
            (Phase::Open(_), Unreachable::PacketTooBig { mtu }) if !init => {
                self.in_open(now, |open, context| open.handle_packet_too_big(context, route, mtu));
                Ok(())
            }
            _ => Ok(()),
        };
        self.conclude(now, result);
    }
}

impl Open {
    /// ICMP8 treats protocol unreachable as an ABORT. A multihomed peer is not gone because one of its addresses
    /// says so: there the path fails (ICMP9) and the association lives on, unless all of them do.
    fn handle_protocol_unreachable(&mut self, context: &mut Context<'_>, route: Route) -> Handled {
        if matches!(self.closing, Closing::AckSent(_)) {
            // Everything was acknowledged and the peer has left: only its SHUTDOWN COMPLETE was lost.
            return Err(Ending::Silent(CloseReason::Shutdown));
        }
        if self.auth.is_enforced() {
            // Nothing in clear is believed, and ICMP is not sealed. Whoever gets no answers notices by that.
            return Ok(());
        }
        // Where patience is a time, one message from each does not say so: an interface that goes down and comes back has its address for some
        // milliseconds before a socket is bound to it. Whoever has called us may be behind a translator that refuses what it has forgotten while its host sleeps.
        let called_by_us = context.identity.token.is_some();
        let long_enough = match context.config.failure.association {
            AssociationFailure::Errors(_) => Duration::ZERO,
            AssociationFailure::Silence(_) if called_by_us => REFUSALS,
            AssociationFailure::Silence(patience) => patience,
        };
        self.handle_refusal(context, route, CloseReason::NoSctp, long_enough)
    }

    /// Whoever has an address of the peer knows nothing of the association: perhaps the peer has left that address, and it is somebody else's by
    /// now. There the path fails; the association ends with `reason` when all have been refused for `long_enough`.
    pub(super) fn handle_refusal(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        reason: CloseReason,
        long_enough: Duration,
    ) -> Handled {
        self.note_refusal(context, route);
        if self.is_refused_for_good(context, long_enough) {
            return Err(Ending::Silent(reason));
        }
        match self.paths.by_route(route) {
            Some(id) => self.note_path_error(context, id, false),
            None => Ok(()),
        }
    }

    /// The host at an address of the peer refuses packets. What it refused before the peer was last heard does not count.
    fn note_refusal(&mut self, context: &Context<'_>, route: Route) {
        let heard = self.notes.heard;
        for path in self.paths.iter_mut().filter(|path| path.route.remote.ip() == route.remote.ip()) {
            let refused = &mut path.supervision.refused;
            *refused = refused.filter(|since| *since >= heard).or(Some(context.now));
        }
    }

    /// Whether nobody has been behind any confirmed address of the peer for so long.
    fn is_refused_for_good(&self, context: &Context<'_>, long_enough: Duration) -> bool {
        let heard = self.notes.heard;
        let refuses = |since: Instant| since >= heard && context.now >= since + long_enough;
        let mut confirmed = self.paths.iter().filter(|path| path.confirmed);
        confirmed.all(|path| path.supervision.refused.is_some_and(refuses))
    }

    /// ICMP7: a router names the MTU of the next hop, IP header included.
    fn handle_packet_too_big(&mut self, context: &mut Context<'_>, route: Route, mtu: u32) {
        let ip = if route.remote.is_ipv6() { 40 } else { 20 };
        let udp = if route.remote.port() == 0 { 0 } else { 8 };
        let Some(size) = (mtu as usize).checked_sub(ip + udp) else { return };
        let Some(id) = self.paths.by_route(route) else { return };
        let Some(path) = self.paths.get_mut(id) else { return };
        let before = path.packet_size();
        path.pmtu.on_packet_too_big(size, context.now);
        let (is_less, wait) = (path.packet_size() < before, path.rto.current());
        self.sender.on_packet_size(id, path.pmdcs());
        // What is on its way in larger packets has not passed, either; the size, not a full queue, is to blame.
        if is_less && let Some(t3) = self.sender.lose_larger(id, size) {
            self.set_t3(context, id, t3, wait);
        }
        self.refresh_probe_timer(context, id);
    }
}
