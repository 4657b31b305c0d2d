//! What INIT and INIT ACK said, as one number. The keys depend on the DTLS Key Management parameters alone; with this in the first
//! protected messages, nobody takes streams or extensions out of a handshake unnoticed.

use sha2::{Digest, Sha256};
use whimbrel_wire::{Chunk, CommonHeader, EmitChunk, Init, Packet, parameter_type};

use super::exchange::KeyRole;
use crate::association::single_chunk;

/// Parameters that do not count: addresses change under way, a cookie is secret to one end, and an INIT that is repeated may ask for another life of it.
const LEFT_OUT: [u16; 5] = [
    parameter_type::IPV4_ADDRESS,
    parameter_type::IPV6_ADDRESS,
    parameter_type::STATE_COOKIE,
    parameter_type::COOKIE_PRESERVATIVE,
    parameter_type::UNRECOGNIZED_PARAMETER,
];

/// The digest of what we said of ourselves in INIT or INIT ACK and what the peer said, as sent and received. Where both ends have asked for the
/// association each has sent both chunks, and one has read the INIT ACK of the other, which has read the INIT. So what may differ between
/// the two, or from one INIT to the next, does not count: the window, and the streams that an end wishes to send on.
pub(crate) fn digest(role: KeyRole, own: &Init<'_>, peer: &Init<'_>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for init in by_role(role, own, peer) {
        hash.update(init.initiate_tag.to_be_bytes());
        hash.update(init.inbound_streams.to_be_bytes());
        hash.update(init.initial_tsn.0.to_be_bytes());
        let mut parameters = init.parameters;
        while let Some(Ok(raw)) = parameters.next_raw() {
            if !LEFT_OUT.contains(&raw.parameter_type()) {
                hash.update(raw.bytes());
            }
        }
        // Where one ends and the other begins.
        hash.update([0; 4]);
    }
    hash.finalize().into()
}

/// A digest with how many streams there are each way, as both ends have understood it.
pub(crate) fn with_streams(digest: [u8; 32], role: KeyRole, outbound: u16, inbound: u16) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(digest);
    by_role(role, outbound, inbound).iter().for_each(|streams| hash.update(streams.to_be_bytes()));
    hash.finalize().into()
}

/// What belongs to the client, and what to the server.
fn by_role<T>(role: KeyRole, own: T, peer: T) -> [T; 2] {
    match role {
        KeyRole::Client => [own, peer],
        KeyRole::Server => [peer, own],
    }
}

/// What `act` makes of an INIT or INIT ACK of ours, read again as the peer reads it.
pub(crate) fn as_read<T>(chunk: &impl EmitChunk, act: impl FnOnce(&Init<'_>) -> T) -> Option<T> {
    let packet = single_chunk(CommonHeader::default(), chunk);
    match Packet::parse(&packet).ok()?.chunks().next()?.ok()? {
        Chunk::Init(init) => Some(act(&init)),
        Chunk::InitAck(init_ack) => Some(act(&init_ack.as_init())),
        _ => None,
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
