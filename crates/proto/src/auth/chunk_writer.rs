//! A packet of an association being written: a packet writer that authenticates what the peer wants authenticated.

use whimbrel_wire::{
    Auth as AuthChunk, ChecksumMode, CommonHeader, EmitChunk, MAX_PACKET_LEN, PacketWriter, chunk_type,
};

use super::key::MAX_MAC_LEN;
use super::session::{Auth, Session};
use crate::protection::record;

/// Writes one packet. As soon as a chunk is pushed that the peer only takes authenticated, an AUTH chunk is put before
/// it, and covers everything from there to the end of the packet (RFC 4895 §6.2). No caller can forget it, and a packet
/// without such chunks costs no more than a look at their types. Where packets are protected as a whole it is sealed instead.
#[must_use = "a packet without its checksum is not valid: call finish"]
pub(crate) struct ChunkWriter<'a> {
    packet: PacketWriter<'a>,
    /// Where the AUTH chunk begins.
    auth_at: Option<usize>,
    /// Bytes that are kept for what comes behind the last chunk.
    behind: usize,
}

impl<'a> ChunkWriter<'a> {
    /// See [`PacketWriter::new`].
    #[inline]
    pub(crate) fn new(auth: &Auth, out: &'a mut Vec<u8>, header: CommonHeader, limit: usize) -> Self {
        if auth.sealing().is_none() {
            return Self { packet: PacketWriter::new(out, header, limit), auth_at: None, behind: 0 };
        }
        let behind = record::BEHIND;
        let mut packet = PacketWriter::new(out, header, limit.min(MAX_PACKET_LEN).saturating_sub(behind));
        packet.append(&[0; record::BEFORE]);
        Self { packet, auth_at: None, behind }
    }

    /// Bytes of the packet if nothing more is written.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.packet.len() + self.behind
    }

    /// Bytes a chunk of this type may take: what is left, less an AUTH chunk if the chunk would need the first one.
    #[inline]
    pub(crate) fn room_for(&self, auth: &Auth, chunk_type: u8) -> usize {
        let overhead = if self.auth_at.is_some() { 0 } else { auth.chunk_overhead(chunk_type) };
        self.packet.remaining().saturating_sub(overhead)
    }

    /// Appends a chunk, or several encoded as one; `false`, and nothing written, if it does not fit.
    #[inline]
    #[must_use = "a chunk that did not fit was not written"]
    pub(crate) fn push(&mut self, auth: &Auth, chunk: &impl EmitChunk) -> bool {
        let at = self.packet.len();
        if !self.packet.push(chunk) {
            return false;
        }
        match &auth.session {
            Some(session) if self.auth_at.is_none() => self.protect(session, at),
            _ => true,
        }
    }

    /// Puts an AUTH chunk before the first chunk from `at` on that needs it. Without room for it they are removed.
    fn protect(&mut self, session: &Session, at: usize) -> bool {
        let Some(first) = first_required(session, self.packet.bytes_mut(), at) else { return true };
        let algorithm = session.sending.algorithm;
        let hmac = &[0; MAX_MAC_LEN][..algorithm.mac_len()];
        let auth = AuthChunk { shared_key_id: session.sending.id, hmac_id: algorithm.id(), hmac };
        if self.packet.insert(first, &auth) {
            self.auth_at = Some(first);
            return true;
        }
        self.packet.truncate(at);
        false
    }

    /// Completes the packet: fills in the HMAC or seals it, then the checksum.
    #[inline]
    pub(crate) fn finish(mut self, auth: &Auth, checksum: ChecksumMode) {
        if let (Some(at), Some(session)) = (self.auth_at, &auth.session) {
            let mac = session.sending_mac();
            let field = AuthChunk::HMAC_OFFSET..AuthChunk::HMAC_OFFSET + mac.algorithm().mac_len();
            mac.sign(&mut self.packet.bytes_mut()[at..], field);
        }
        if let Some(protection) = auth.sealing() {
            protection.seal(&mut self.packet);
        }
        self.packet.finish(checksum);
    }
}

/// Where the first chunk begins, of those from `at` on, that the peer only takes authenticated.
fn first_required(session: &Session, packet: &[u8], mut at: usize) -> Option<usize> {
    while let Some(&[chunk_type, _, high, low]) = packet.get(at..).and_then(<[u8]>::first_chunk::<4>) {
        debug_assert_ne!(chunk_type, chunk_type::AUTH, "AUTH is written here only");
        if session.peer_requires.contains(chunk_type) {
            return Some(at);
        }
        at += usize::from(u16::from_be_bytes([high, low])).max(4).next_multiple_of(4);
    }
    None
}

#[cfg(test)]
#[path = "chunk_writer_tests.rs"]
mod tests;
