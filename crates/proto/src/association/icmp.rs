//! ICMP messages about an association, already matched to it (RFC 9260 §10).

use whimbrel_machine::{Instant, Route, Unreachable};

use super::{Association, Closing, Ending, Open, Phase};
use crate::interface::CloseReason;

impl Association {
    /// `init` says that the quoted packet was our INIT.
    pub(crate) fn handle_icmp(&mut self, now: Instant, route: Route, reason: Unreachable, init: bool) {
        let result = match (&mut self.phase, reason) {
            // ICMP8. Port unreachable means the same for UDP encapsulation (RFC 6951 §5.5).
            (Phase::CookieWait(wait), Unreachable::Protocol) if init && wait.is_last_hope() => {
                Err(Ending::Silent(CloseReason::NoSctp))
            }
            (Phase::CookieWait(wait), Unreachable::Protocol | Unreachable::Destination) if init => {
                wait.try_next_route(&mut self.timers, now);
                Ok(())
            }
            (Phase::CookieEchoed(echoed), Unreachable::Protocol) if !init && echoed.is_last_hope() => {
                Err(Ending::Silent(CloseReason::NoSctp))
            }
            (Phase::CookieEchoed(echoed), Unreachable::Protocol | Unreachable::Destination) if !init => {
                echoed.try_next_route(&mut self.timers, now);
                Ok(())
            }
            (Phase::Open(_), Unreachable::Protocol) if !init => self.protocol_unreachable(now, route),
            (Phase::Open(_), Unreachable::PacketTooBig { mtu }) if !init => {
                let (mut context, phase) = self.split(now);
                let Phase::Open(open) = phase else { return };
                open.handle_packet_too_big(&mut context, route, mtu);
                Ok(())
            }
            _ => Ok(()),
        };
        self.conclude(now, result);
    }

    /// ICMP8 treats protocol unreachable as an ABORT. A multihomed peer is not gone because one of its addresses
    /// says so: there the path fails (ICMP9) and the association lives on.
    fn protocol_unreachable(&mut self, now: Instant, route: Route) -> Result<(), Ending> {
        let (mut context, phase) = self.split(now);
        let Phase::Open(open) = phase else { return Ok(()) };
        if matches!(open.closing, Closing::AckSent(_)) {
            // Everything was acknowledged and the peer has left: only its SHUTDOWN COMPLETE was lost.
            return Err(Ending::Silent(CloseReason::Shutdown));
        }
        let others =
            open.paths.iter().any(|path| path.confirmed && path.route.remote.ip() != route.remote.ip());
        if !others {
            return Err(Ending::Silent(CloseReason::NoSctp));
        }
        match open.paths.by_route(route) {
            Some(id) => open.note_path_error(&mut context, id, false),
            None => Ok(()),
        }
    }
}

impl Open {
    /// ICMP7: a router names the MTU of the next hop, IP header included.
    fn handle_packet_too_big(&mut self, context: &mut super::Context<'_>, route: Route, mtu: u32) {
        let ip = if route.remote.is_ipv6() { 40 } else { 20 };
        let udp = if route.remote.port() == 0 { 0 } else { 8 };
        let Some(size) = (mtu as usize).checked_sub(ip + udp) else { return };
        let Some(id) = self.paths.by_route(route) else { return };
        let Some(path) = self.paths.get_mut(id) else { return };
        path.pmtu.on_packet_too_big(size, context.now);
        path.congestion.on_packet_size(path.pmdcs());
        self.refresh_probe_timer(context, id);
    }
}
