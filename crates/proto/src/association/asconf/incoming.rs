//! ASCONF chunks come in: each is carried out once, in order, and answered as often as it comes (RFC 5061 §5.2).

use core::net::{Ipv4Addr, SocketAddr};
use std::collections::VecDeque;

use whimbrel_machine::Route;
use whimbrel_wire::{Asconf as AsconfChunk, EmitChunk, Parameter, ShutdownAck};

use super::super::pairing::reaches;
use super::super::replies::{First, MAX_BYTES};
use super::super::{Closing, Context, Open};
use crate::arrival::Arrival;

/// To an address that nobody has confirmed this many bytes of answers go for each byte that came, at most.
const AMPLIFICATION: usize = 3;

/// The peer's serial numbers and our answers.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Peer-Sequence-Number: the last chunk carried out.
    peer_serial: u32,
    /// Answers, kept in case they were lost, oldest first.
    cached: VecDeque<(u32, Vec<u8>)>,
}

/// The answers to the ASCONF chunks of one packet (RFC 5061 §5.5).
#[derive(Debug, Default)]
pub(crate) struct PacketAnswers {
    chunks_seen: u32,
    answers: Vec<Vec<u8>>,
    bytes: usize,
}

impl PacketAnswers {
    /// What does not fit the packet that answers is not sent, nor what comes after it (E7): the peer asks again. A packet
    /// can hold thousands of repetitions.
    fn push(&mut self, answer: &[u8]) {
        self.bytes = self.bytes.saturating_add(answer.len());
        if self.bytes <= MAX_BYTES {
            self.answers.push(answer.to_vec());
        }
    }
}

impl Incoming {
    pub(super) fn new(peer_serial: u32) -> Self {
        Self { peer_serial, cached: VecDeque::new() }
    }
}

impl Open {
    /// An authenticated ASCONF from `route` (RFC 5061 §5.2 E1 to E5).
    pub(crate) fn handle_asconf(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        asconf: &AsconfChunk<'_>,
        packet: &mut PacketAnswers,
    ) {
        // RFC 5061 §5.1.1 C4: no ASCONF-ACK can be sent any more. But the peer has moved and so missed SHUTDOWN ACK, which is
        // its answer wherever it is now.
        if matches!(self.closing, Closing::AckSent(_)) {
            return self.answer_after_the_end(context, route, asconf);
        }
        let incoming = &mut self.asconf.incoming;
        let first = packet.chunks_seen == 0;
        packet.chunks_seen += 1;
        let serial = asconf.sequence_number;
        // RFC 5061 §3.
        let ahead = serial.wrapping_sub(incoming.peer_serial);
        // E2: done already. The answer goes out again if it is still there.
        if ahead == 0 || ahead > 1 << 31 {
            if let Some((_, answer)) = incoming.cached.iter().find(|(cached, _)| *cached == serial) {
                packet.push(answer);
            }
            return;
        }
        // E5: a chunk before it is missing, or somebody guesses.
        if ahead != 1 {
            return;
        }
        // E1: the peer has every answer before this one, or it would have repeated its question.
        if first {
            incoming.cached.clear();
        }
        incoming.peer_serial = serial;
        let ack = self.carry_out(context, route, asconf);
        let mut answer = Vec::with_capacity(ack.wire_len());
        ack.emit(&mut answer);
        let incoming = &mut self.asconf.incoming;
        if incoming.cached.len() >= context.config.dar.cached_acks {
            incoming.cached.pop_front();
        }
        packet.push(&answer);
        incoming.cached.push_back((serial, answer));
        self.repeat_asconf_by(context, route);
    }

    /// An ASCONF in SHUTDOWN-ACK-SENT, which leaves no trace but that SHUTDOWN COMPLETE is let in from where it comes from. Only the next one in
    /// order does that (E2, E5), or the last one, whose answer was lost, and only if the peer may name the address as it does: by a parameter, or by
    /// the source alone.
    fn answer_after_the_end(&mut self, context: &mut Context<'_>, route: Route, asconf: &AsconfChunk<'_>) {
        let source = route.remote.ip();
        let ahead = asconf.sequence_number.wrapping_sub(self.asconf.incoming.peer_serial);
        let names = |parameter: Parameter<'_>| match parameter {
            Parameter::AddIpAddress(request) => request.address == source,
            _ => false,
        };
        let named = { asconf.parameters }.any(|parameter| parameter.is_ok_and(names));
        let address = if named { source } else { Ipv4Addr::UNSPECIFIED.into() };
        if ahead <= 1
            && self.add_peer_address(context, route, address).is_ok()
            && self.locals.is_source(route.local.ip())
        {
            self.replies.push(route, &ShutdownAck);
        }
    }

    /// Whether an authenticated ASCONF from an address that is not the peer's belongs here: it names one that is, or leaves that
    /// to the tag, or has been answered before. The last is a peer that has moved on before it had the answer. It must not
    /// change what it repeats (RFC 5061 §5.1 B4), and so names an address that this very request has deleted.
    pub(crate) fn is_led_here(&self, asconf: &AsconfChunk<'_>) -> bool {
        let answered =
            || self.asconf.incoming.cached.iter().any(|(serial, _)| *serial == asconf.sequence_number);
        asconf.address.is_unspecified() || self.knows(asconf.address) || answered()
    }

    /// The packet is at its end: its answers go back to where it came from, whatever address that is (E6), as far as
    /// they fit one packet (E7). A HEARTBEAT to an address that has just been added goes with them (RFC 5061 §5.3 F1).
    pub(crate) fn send_asconf_acks(
        &mut self,
        context: &mut Context<'_>,
        arrival: &Arrival<'_>,
        answers: PacketAnswers,
    ) {
        if answers.answers.is_empty() {
            return;
        }
        let Some((route, before)) = self.way_back(arrival.route) else { return };
        // Who has the keys could still name the address of somebody else as the source.
        let bound = if self.is_confirmed(route.remote.ip()) {
            usize::MAX
        } else {
            AMPLIFICATION * arrival.packet.bytes().len()
        };
        let mut bytes = self.auth.largest_overhead() + whimbrel_wire::COMMON_HEADER_LEN + before.len();
        if !before.is_empty() && bytes <= bound {
            self.replies.push_raw(route, First::Asconf, &before);
        }
        for answer in &answers.answers {
            bytes += answer.len();
            if bytes > bound || !self.replies.push_raw(route, First::AsconfAck, answer) {
                break;
            }
        }
        self.answer_elsewhere(context, [arrival.route, route], First::AsconfAck, &answers.answers);
        if self.sack_destination(context.config).is_none() {
            // The peer has left every address that a SACK could go to, and would send again what has arrived. V4 lets a
            // SACK go with the answer.
            self.receive.set_route(route);
            self.receive.force_ack();
        }
        let added = self.paths.by_route(route);
        let added = added.filter(|&id| self.paths.get(id).is_some_and(|path| !path.confirmed));
        let rto = added.and_then(|id| self.paths.get(id)).map(|path| path.rto.without_back_off());
        if let (Some(id), Some(rto)) = (added, rto)
            && self.probe_burst.try_send(context.now, rto)
        {
            self.send_heartbeat_on(context, id);
            self.bundle_heartbeat(id, route);
        }
    }

    /// The route back to where a packet came from, from the address it came to if that may be sent from, and what must
    /// come before the answer. When both sides lose their only address at once, each waits for an answer that the other
    /// may send neither from the address it deletes (F4) nor from the one it adds (F1), unless the packet has an ASCONF
    /// in it: so the own request is repeated before the answer.
    fn way_back(&self, route: Route) -> Option<(Route, Vec<u8>)> {
        if self.locals.is_source(route.local.ip()) {
            return Some((route, Vec::new()));
        }
        let source = self.locals.sources().into_iter().find(|local| reaches(*local, &[route.remote]));
        if let Some(local) = source {
            return Some((Route { local, ..route }, Vec::new()));
        }
        let request = self.asconf.outgoing.outstanding.as_ref()?;
        let usable = |local: &SocketAddr| {
            self.locals.up(local.ip()).is_some()
                && request.pinned.is_none_or(|pinned| pinned == local.ip())
                && reaches(*local, &[route.remote])
        };
        let local = request.items.iter().filter_map(|item| item.added).find(usable)?;
        Some((Route { local, ..route }, request.chunk.clone()))
    }
}

#[cfg(test)]
#[path = "incoming_tests.rs"]
mod tests;
