//! ABORT chunks of an association (RFC 9260 §9.1).

use whimbrel_machine::Route;
use whimbrel_wire::{COMMON_HEADER_LEN, Cause, ChecksumMode, EmitChunk};

use super::replies::Encoded;
use super::{Association, Identity};
use crate::auth::chunk_writer::ChunkWriter;
use crate::auth::session::Auth;

impl Association {
    /// An ABORT to the peer, if its tag is known.
    pub(crate) fn write_abort(&self, causes: &[Cause<'_>]) -> Option<(Route, Vec<u8>)> {
        let mut encoded = Vec::new();
        whimbrel_wire::cause::encode_causes(causes, &mut encoded);
        self.write_abort_raw(&encoded)
    }

    /// As [`Self::write_abort`], with encoded causes.
    pub(crate) fn write_abort_raw(&self, causes: &[u8]) -> Option<(Route, Vec<u8>)> {
        let open = self.begun()?;
        let route = open.route_in_use();
        let mut chunk = vec![whimbrel_wire::chunk_type::ABORT, 0];
        chunk.extend_from_slice(&(4 + causes.len() as u16).to_be_bytes());
        chunk.extend_from_slice(causes);
        chunk.resize(chunk.len().next_multiple_of(4), 0);
        Some((route, one_chunk(&self.identity, open.peer.tag, &open.auth, &Encoded(&chunk))))
    }
}

/// A packet with one chunk, authenticated if the peer wants that, and a CRC32c.
pub(super) fn one_chunk(identity: &Identity, tag: u32, auth: &Auth, chunk: &impl EmitChunk) -> Vec<u8> {
    let mut out = Vec::with_capacity(COMMON_HEADER_LEN + chunk.wire_len());
    let mut writer = ChunkWriter::new(auth, &mut out, identity.header(tag), usize::MAX);
    let fits = writer.push(auth, chunk);
    debug_assert!(fits, "a control chunk fits its packet");
    writer.finish(auth, ChecksumMode::Crc32c);
    out
}
