//! Packets that belong to no association (RFC 9260 §8.4), and the reflected tags of §8.5.1.

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::Route;
use whimbrel_wire::{
    AbortBuilder, Cause, Chunk, ChunkError, CommonHeader, ErrorBuilder, Packet, ShutdownComplete, chunk_type,
    draft,
};

use super::table::{Lookup, Owner};
use super::{Endpoint, is_handshake};
use crate::arrival::Arrival;
use crate::association::single_chunk;

/// What an out of the blue packet asks for.
enum Verdict {
    Discard,
    ShutdownComplete,
    Abort,
}

impl Endpoint {
    /// A packet whose tag is not one of ours. True if it was taken.
    pub(super) fn handle_out_of_the_blue(&mut self, arrival: &Arrival<'_>, ports: Lookup) -> bool {
        let Arrival { route, packet, .. } = *arrival;
        let tag = packet.header().verification_tag;
        // RFC 9260 §8.5.1 A: only INIT may carry a zero tag.
        if tag == 0 {
            return false;
        }
        match self.table.by_peer(route.remote, ports) {
            Some(Owner::Here(index)) => return self.handle_foreign_tag(index, arrival, tag),
            // A reflected tag is the peer's own, and names no shard of ours.
            Some(Owner::Elsewhere(shard)) => {
                return deciding(packet).is_some() && self.hand_over_by_peer(shard, arrival);
            }
            None => {}
        }
        // RFC 5061 §5.2 D2, D4: the address it names leads to an association, the tag does not fit.
        if names_known_address(packet, |address| {
            self.table.by_peer(SocketAddr::new(address, route.remote.port()), ports).is_some()
        }) {
            return false;
        }
        self.totals.out_of_the_blue += 1;
        let back = reflecting(packet);
        match verdict(packet) {
            Verdict::Discard => false,
            Verdict::ShutdownComplete => {
                self.answer(route, single_chunk(back, &ShutdownComplete { tag_reflected: true }));
                true
            }
            Verdict::Abort => {
                self.answer(route, single_chunk(back, &AbortBuilder { tag_reflected: true, causes: &[] }));
                true
            }
        }
    }

    /// A packet had the tag of an association, and came from an address that the association does not know: whoever has sent it is told, in fewer
    /// bytes than came.
    pub(super) fn tell_stranger(&mut self, arrival: &Arrival<'_>, stranger: Route) {
        let cause = Cause::Unknown { code: draft::CAUSE_MISSING_STATE, bytes: &[] };
        let back = reflecting(arrival.packet);
        self.answer(stranger, single_chunk(back, &ErrorBuilder { causes: &[cause] }));
    }

    /// The addresses belong to an association, the tag does not: to be discarded (RFC 9260 §8.5), but for a peer
    /// that reflects the tag we gave it (§8.5.1 B, C), and a SHUTDOWN ACK that meets a handshake (§8.5.1 E).
    fn handle_foreign_tag(&mut self, index: usize, arrival: &Arrival<'_>, tag: u32) -> bool {
        let Some(association) = self.table.get_mut(index) else { return false };
        let reflected = association.peer_tag() == Some(tag);
        let Arrival { now, route, packet, .. } = *arrival;
        match deciding(packet) {
            Some(Chunk::Error(_)) if reflected => association.handle_missing_state(now, route),
            // A peer that has forgotten us has no key left. Where all has been acknowledged, under protection, its ABORT in clear says what its lost
            // SHUTDOWN COMPLETE would have said; elsewhere nothing in clear ends a protected association.
            Some(Chunk::Abort(abort)) if association.is_protected() => {
                if !(reflected && abort.tag_reflected) {
                    return false;
                }
                association.handle_reflected_shutdown_complete(now);
            }
            // RFC 4895 §6.3: who reflects a tag has no key left.
            Some(Chunk::Abort(_)) if association.requires_authenticated(chunk_type::ABORT) => {
                if reflected {
                    association.note_dropped(now);
                }
                return false;
            }
            Some(Chunk::Abort(abort)) if reflected && abort.tag_reflected => {
                association.handle_reflected_abort(now, route, abort.causes);
            }
            Some(Chunk::ShutdownComplete(complete)) if reflected && complete.tag_reflected => {
                association.handle_reflected_shutdown_complete(now);
            }
            Some(Chunk::ShutdownAck) if is_handshake(association.phase()) => {
                association.answer_shutdown_ack(arrival);
            }
            _ => return false,
        }
        self.table.touch(index);
        true
    }
}

/// Whether the packet holds an ASCONF whose Address Parameter is `known`.
fn names_known_address(packet: &Packet<'_>, known: impl Fn(IpAddr) -> bool) -> bool {
    let asconf = packet.chunks().find_map(|chunk| match chunk {
        Ok(Chunk::Asconf(asconf)) => Some(asconf.address),
        _ => None,
    });
    asconf.is_some_and(known)
}

/// RFC 4895 §6.3: a packet that belongs to no association is handled without taking AUTH into account.
fn without_auth<'a>(packet: &Packet<'a>) -> impl Iterator<Item = Result<Chunk<'a>, ChunkError<'a>>> {
    packet.chunks().skip_while(|chunk| matches!(chunk, Ok(Chunk::Auth(_))))
}

/// The header of an answer that carries the tag of the question (RFC 9260 §8.4 rules 5 and 8).
fn reflecting(packet: &Packet<'_>) -> CommonHeader {
    let header = packet.header();
    CommonHeader {
        source_port: header.destination_port,
        destination_port: header.source_port,
        verification_tag: header.verification_tag,
    }
}

/// Whether a chunk says that its sender does not know where we are.
fn is_missing_state(chunk: &Chunk<'_>) -> bool {
    let missing = |cause| matches!(cause, Ok(Cause::Unknown { code: draft::CAUSE_MISSING_STATE, .. }));
    matches!(chunk, Chunk::Error(error) if error.causes.take(16).any(missing))
}

/// The chunk that decides about a packet whose tag is not ours, wherever in the packet it is (RFC 9260 §8.5.1 B, C, E): the
/// ABORT, if there is one, since a packet with ABORT is never answered (§9.1).
fn deciding<'a>(packet: &Packet<'a>) -> Option<Chunk<'a>> {
    let mut found = None;
    for chunk in without_auth(packet) {
        match chunk {
            Ok(abort @ Chunk::Abort(_)) => return Some(abort),
            Err(error) if error.chunk_type == chunk_type::ABORT => return None,
            Ok(end @ (Chunk::ShutdownComplete(_) | Chunk::ShutdownAck)) => found = found.or(Some(end)),
            Ok(error) if is_missing_state(&error) => found = found.or(Some(error)),
            Ok(_) | Err(_) => {}
        }
    }
    found
}

/// RFC 9260 §8.4 rules 2 to 8, whichever comes first in that order. INIT and COOKIE ECHO have been taken care of.
fn verdict(packet: &Packet<'_>) -> Verdict {
    let (mut shutdown_ack, mut discard) = (false, false);
    for chunk in without_auth(packet) {
        match chunk {
            Ok(Chunk::Abort(_)) => return Verdict::Discard,
            // RFC 9260 §3.3.7: one with a format error is discarded like any other.
            Err(error) if error.chunk_type == chunk_type::ABORT => return Verdict::Discard,
            Ok(Chunk::ShutdownAck) => shutdown_ack = true,
            Ok(Chunk::ShutdownComplete(_) | Chunk::CookieAck | Chunk::Init(_)) => discard = true,
            Ok(Chunk::Error(error)) => {
                discard |= error.causes.take(16).any(|cause| matches!(cause, Ok(Cause::StaleCookie { .. })));
            }
            Ok(_) | Err(_) => {}
        }
    }
    match (shutdown_ack, discard) {
        (true, _) => Verdict::ShutdownComplete,
        (false, true) => Verdict::Discard,
        (false, false) => Verdict::Abort,
    }
}
