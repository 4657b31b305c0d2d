//! A NAT has given the peer another UDP port (RFC 6951 §5.4).
//!
//! The RFC has the port stored at once that a packet with the right Verification Tag came from. Whoever has seen the tag could so send
//! all our data to somebody else behind the same NAT. So the port has to answer a HEARTBEAT first, and until it has, data goes to the
//! old one, as it would if that answered still: nothing but HEARTBEAT and answers no longer than their questions goes to the new one.

use core::net::SocketAddr;

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::Tsn;

use super::{Closing, Context, Open};
use crate::interface::PathId;

/// A HEARTBEAT to a port that the peer has been heard from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortProbe {
    pub(crate) route: Route,
    pub(crate) nonce: u64,
    sent_at: Instant,
    /// It has left; otherwise it waits to be written.
    pub(crate) written: bool,
    /// The first new chunk after the new port was heard.
    next: Tsn,
}

impl Open {
    /// The peer is heard from `route`, which differs from a path in the encapsulation port alone: that path, if there is one.
    pub(crate) fn notice_new_port(&mut self, context: &mut Context<'_>, route: Route) -> Option<PathId> {
        let id = self.paths.by_ips(route.local.ip(), route.remote.ip())?;
        let path = self.paths.get(id)?;
        // No data goes to an unconfirmed address, nor is there any left to send while the association ends.
        if !path.is_trusted() || matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_)) {
            self.follow_port(id, route);
            return Some(id);
        }
        let rto = path.rto.without_back_off();
        let pending = path.supervision.new_port;
        // One port per RTO: the peer cannot make us probe many.
        if pending.is_some_and(|probe| context.now < probe.sent_at + rto)
            || !self.probe_burst.try_send(context.now, rto)
        {
            return Some(id);
        }
        let nonce =
            pending.filter(|probe| probe.route == route).map_or_else(|| context.rng.next_u64(), |p| p.nonce);
        let next =
            pending.filter(|probe| probe.route == route).map_or_else(|| self.sender.next_tsn(), |p| p.next);
        let probe = PortProbe { route, nonce, sent_at: context.now, written: false, next };
        if let Some(path) = self.paths.get_mut(id) {
            path.supervision.new_port = Some(probe);
        }
        Some(id)
    }

    /// The new port has answered. What is in flight went to the old one and is lost, unless something has been acknowledged that was sent
    /// there since the new one was heard: a box may well have two ports for the same host.
    pub(crate) fn confirm_port(&mut self, context: &mut Context<'_>, id: PathId, nonce: u64) {
        let probe = self
            .paths
            .get(id)
            .and_then(|path| path.supervision.new_port)
            .filter(|probe| probe.nonce == nonce);
        let Some(probe) = probe else { return };
        self.follow_port(id, probe.route);
        self.note_path_alive(context, id);
        self.forget_restated(id);
        if self.sender.cumulative_ack_point().precedes(probe.next) {
            self.give_up(context, id);
        }
        let (sack, new) = (self.receive.route(), probe.route);
        if (sack.local, sack.remote.ip()) == (new.local, new.remote.ip()) {
            self.receive.set_route(new);
            self.receive.force_ack();
            self.set_sack_timer(context);
        }
    }

    /// The path leads to another port from now on, and whatever is found by the peer's address is found there.
    fn follow_port(&mut self, id: PathId, route: Route) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.route = route;
        path.supervision.new_port = None;
        self.notes.addresses_changed = true;
        let addresses = self.peer.addresses.iter_mut();
        addresses.filter(|address| address.ip() == route.remote.ip()).for_each(|known| *known = route.remote);
    }

    /// Whether the peer was found at this address, port included.
    pub(crate) fn is_port_known(&self, route: Route) -> bool {
        let listed = |remote: SocketAddr| self.peer.addresses.contains(&remote);
        self.paths.by_route(route).is_some() || listed(route.remote)
    }
}
