//! The packets of the client's half of the handshake.

use core::net::SocketAddr;

use whimbrel_wire::draft::KeyManagement;
use whimbrel_wire::{
    AbortBuilder, Cause, Causes, ChecksumMode, CookieEcho, EmitChunk, ErrorBuilder, InitBuilder, Parameter,
};

use super::CookieEchoed;
use crate::association::Identity;
use crate::association::output::{single_chunk, write_single_chunk};
use crate::association::own_parameters::own_parameters;
use crate::association::protection::own_parameter;
use crate::association::replies::Encoded;
use crate::auth::chunk_writer::ChunkWriter;
use crate::auth::offer::Offer;
use crate::config::Config;
use crate::negotiate::Extensions;

pub(super) fn reports_stale_cookie(causes: Causes<'_>) -> bool {
    causes.take(16).any(|cause| matches!(cause, Ok(Cause::StaleCookie { .. })))
}

pub(super) fn write_abort(identity: &Identity, tag: u32, causes: &[Cause<'_>]) -> Vec<u8> {
    single_chunk(identity.header(tag), &AbortBuilder { tag_reflected: false, causes })
}

pub(super) fn write_init(
    identity: &Identity,
    config: &Config,
    listed: &[SocketAddr],
    preservative: u32,
    out: &mut Vec<u8>,
) {
    // RFC 9260 §8.5.1 A: a packet with INIT has a zero Verification Tag.
    with_init(identity, config, listed, preservative, |init| {
        write_single_chunk(identity.header(0), init, out)
    });
}

/// What `act` makes of our INIT.
pub(in crate::association) fn with_init<T>(
    identity: &Identity,
    config: &Config,
    listed: &[SocketAddr],
    preservative: u32,
    act: impl FnOnce(&InitBuilder<'_>) -> T,
) -> T {
    let offer = Offer::own(config, identity.auth_random);
    let key_management = own_parameter(config, identity);
    let extensions = Extensions::own(config).list();
    let mut parameters = own_parameters(config, listed, offer.as_ref(), &extensions);
    parameters.extend(key_management.as_deref().map(KeyManagement::parameter));
    if preservative > 0 {
        parameters.push(Parameter::CookiePreservative(preservative));
    }
    act(&InitBuilder {
        initiate_tag: identity.local_tag,
        a_rwnd: identity.buffers.memory().offer(config.limits.first_receive_window()),
        outbound_streams: config.streams.outbound,
        inbound_streams: config.streams.inbound_max,
        initial_tsn: identity.initial_tsn,
        parameters: &parameters,
    })
}

impl CookieEchoed {
    /// Bytes of COOKIE ECHO, and of ERROR if the peer is told of parameters that we do not know.
    pub(super) fn len_of_chunks(&self) -> usize {
        let error = ErrorBuilder { causes: &[Cause::UnrecognizedParameters(&self.unrecognized)] };
        let told = if self.unrecognized.is_empty() { 0 } else { error.wire_len() };
        CookieEcho { cookie: &self.cookie }.wire_len() + told
    }
}

pub(super) fn write_cookie_echo(identity: &Identity, echoed: &CookieEchoed, out: &mut Vec<u8>) {
    let auth = &echoed.open.auth;
    let mut writer = ChunkWriter::new(auth, out, identity.header(echoed.open.peer.tag), usize::MAX);
    let fits = writer.push(auth, &CookieEcho { cookie: &echoed.cookie });
    debug_assert!(fits);
    if !echoed.unrecognized.is_empty() {
        let causes = [Cause::UnrecognizedParameters(&echoed.unrecognized)];
        // Without room the peer is not told.
        _ = writer.push(auth, &ErrorBuilder { causes: &causes });
    }
    if !echoed.first_data.is_empty() {
        let fits = writer.push(auth, &Encoded(&echoed.first_data));
        debug_assert!(fits);
    }
    // RFC 9653 §5.2: a packet with COOKIE ECHO always carries a CRC32c.
    writer.finish(auth, ChecksumMode::Crc32c);
}
