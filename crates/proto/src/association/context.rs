use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use whimbrel_machine::{Instant, Rng, Route};
use whimbrel_wire::cause::encode_causes;
use whimbrel_wire::{Cause, Causes, CommonHeader, chunk_type};

use super::{Identity, Naming, Translators};
use crate::auth::SharedKeys;
use crate::config::Config;
use crate::interface::{CloseReason, Event, PathId};
use crate::send::report::T3;
use crate::timers::{TimerId, Timers};

/// What every state of an association works with.
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) identity: &'a Identity,
    pub(crate) config: &'a Config,
    pub(crate) rng: &'a mut Rng,
    pub(crate) timers: &'a mut Timers,
    pub(crate) events: &'a mut VecDeque<Event>,
    /// The shared keys of this association.
    pub(crate) keys: &'a Arc<SharedKeys>,
    /// Those of the networks that we are in.
    pub(crate) translators: &'a Translators,
}

impl Context<'_> {
    /// How far our addresses may be named.
    pub(crate) fn naming(&self) -> Naming<'_> {
        Naming { wanted: self.config.dar.naming, translators: self.translators }
    }

    /// The common header of a packet to the peer.
    pub(crate) fn header(&self, verification_tag: u32) -> CommonHeader {
        self.identity.header(verification_tag)
    }

    /// Starts, restarts or stops T3-rtx of a path (RFC 9260 §6.3.2).
    pub(crate) fn set_t3(&mut self, path: PathId, t3: T3, rto: Duration) {
        let timer = TimerId::T3Retransmit(path);
        match t3 {
            T3::Start if self.timers.is_set(timer) => {}
            T3::Start | T3::Restart => self.timers.set(timer, self.now + rto),
            T3::Stop => self.timers.clear(timer),
        }
    }
}

impl Identity {
    pub(crate) fn header(&self, verification_tag: u32) -> CommonHeader {
        CommonHeader { source_port: self.local_port, destination_port: self.remote_port, verification_tag }
    }
}

/// What a handler returns: something, or how the association ends.
pub(crate) type Handled<T = ()> = Result<T, Ending>;

/// How an association ends. Handlers return it as an error, so that nothing is done after the end.
#[derive(Debug)]
pub(crate) enum Ending {
    /// Nothing more is sent.
    Silent(CloseReason),
    /// An ABORT with these encoded causes is sent.
    Abort { reason: CloseReason, causes: Vec<u8> },
    /// This packet is sent.
    Farewell(Box<Farewell>),
}

/// A last packet, finished. Boxed above, since every handler returns an [`Ending`] and few make this one.
#[derive(Debug)]
pub(crate) struct Farewell {
    pub(crate) reason: CloseReason,
    pub(crate) route: Route,
    pub(crate) packet: Vec<u8>,
}

impl Ending {
    /// We abort because the peer broke a rule (RFC 9260 §3.3.10.13).
    pub(crate) fn violation(what: &'static str) -> Self {
        Self::abort(CloseReason::ProtocolViolation(what), &[Cause::ProtocolViolation(what.as_bytes())])
    }

    pub(crate) fn abort(reason: CloseReason, causes: &[Cause<'_>]) -> Self {
        let mut encoded = Vec::new();
        encode_causes(causes, &mut encoded);
        Self::Abort { reason, causes: encoded }
    }
}

/// Most causes remembered from an ABORT or ERROR of the peer.
pub(super) const MAX_CAUSES: usize = 16;

/// Codes of the causes in a chunk, as far as they can be read.
pub(crate) fn cause_codes(causes: Causes<'_>) -> Vec<u16> {
    causes.take(MAX_CAUSES).map_while(Result::ok).map(|cause| cause.code()).collect()
}

/// What is kept of a text of the peer's.
fn excerpt(text: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&text[..text.len().min(512)])
}

/// The ending an ABORT of the peer means (RFC 9260 §9.1).
pub(crate) fn aborted_by_peer(causes: Causes<'_>) -> Ending {
    let mut reason = Bytes::new();
    for cause in causes.take(MAX_CAUSES).map_while(Result::ok) {
        match cause {
            Cause::UserInitiatedAbort(text) => reason = excerpt(text),
            Cause::ProtocolViolation(text) if reason.is_empty() => reason = excerpt(text),
            _ => {}
        }
    }
    Ending::Silent(CloseReason::AbortedByPeer { causes: cause_codes(causes), reason })
}

/// Whether an ERROR says that the peer does not know ASCONF (RFC 5061 §5.1 A9).
pub(super) fn rejects_asconf(causes: Causes<'_>) -> bool {
    let unknown = |cause| match cause {
        Cause::UnrecognizedChunkType(chunk) => chunk.first() == Some(&chunk_type::ASCONF),
        _ => false,
    };
    causes.take(16).map_while(Result::ok).any(unknown)
}
