//! The authentication of one association.

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use whimbrel_wire as wire;

use super::ChunkTypes;
use super::config::HmacAlgorithm;
use super::interface::AuthKeyNews;
use super::key::{KeyVectors, Mac};
use super::offer::Offer;
use super::shared_keys::{SharedKeys, SharedSecret};
use crate::config::Config;
use crate::protection::{Protection, record};

/// Unknown keys the user is told of at most, until keys change: whoever knows the tag could otherwise make any number
/// of events.
const MAX_UNKNOWN_REPORTS: u32 = 16;

/// Keys kept ready for what the peer sends: two of each algorithm, as during a roll-over.
const MAX_READY: usize = 4;

/// Authentication as far as both sides agreed on it. Where they did not, nothing of this costs anything.
#[derive(Debug, Default)]
pub(crate) struct Auth {
    pub(crate) session: Option<Box<Session>>,
    /// Protection of whole packets, in the place of a session (chunk draft §3.2).
    pub(crate) protection: Option<Box<Protection>>,
}

/// What an AUTH chunk is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// What follows is authenticated.
    Genuine,
    /// What follows is to be dropped without a word (RFC 4895 §6.3).
    Discard,
    /// What follows is to be dropped, and the peer told that it used an algorithm we did not ask for.
    UnsupportedHmac(u16),
}

/// The keys of an association and what both sides agreed on.
#[derive(Debug)]
pub(crate) struct Session {
    shared: Arc<SharedKeys>,
    vectors: KeyVectors,
    /// What we told the peer that it may use.
    accepted: SmallVec<[HmacAlgorithm; 2]>,
    /// What the peer only takes authenticated.
    pub(crate) peer_requires: ChunkTypes,
    /// What we only take authenticated.
    pub(crate) we_require: ChunkTypes,
    /// What to send with.
    pub(crate) sending: SendingKey,
    /// Keys that the peer used lately, the last one first. Most associations live and die without needing one.
    ready: Vec<(u16, Mac)>,
    last_used: Option<u16>,
    unknown_reports: u32,
    /// News of the last AUTH chunk.
    news: Option<(u16, AuthKeyNews)>,
}

/// The active key. The HMAC is keyed when the first AUTH chunk is sent, which most associations never do: keying
/// one for each would be a good part of what a handshake costs.
#[derive(Debug)]
pub(crate) struct SendingKey {
    pub(crate) id: u16,
    pub(crate) algorithm: HmacAlgorithm,
    secret: SharedSecret,
    pub(crate) mac: OnceLock<Box<Mac>>,
}

impl SendingKey {
    fn active(shared: &SharedKeys, algorithm: HmacAlgorithm) -> Option<Self> {
        let id = shared.active();
        Some(Self { id, algorithm, secret: shared.get(id)?.clone(), mac: OnceLock::new() })
    }
}

impl Auth {
    /// What the two offers make possible.
    pub(crate) fn new(
        config: &Config,
        shared: &Arc<SharedKeys>,
        random: [u8; 32],
        peer: Option<&Offer>,
    ) -> Self {
        match peer.zip(Offer::own(config, random)) {
            Some((peer, own)) => Self::with_offers(config, shared, &own, peer),
            None => Self::default(),
        }
    }

    /// What two offers make possible, `own` and the one of the peer.
    pub(crate) fn with_offers(config: &Config, shared: &Arc<SharedKeys>, own: &Offer, peer: &Offer) -> Self {
        let session = peer.algorithm(&config.auth.algorithms).and_then(|algorithm| {
            let vectors = KeyVectors::new(&own.key_vector(), &peer.key_vector());
            Some(Box::new(Session {
                sending: SendingKey::active(shared, algorithm)?,
                shared: Arc::clone(shared),
                vectors,
                accepted: config.auth.algorithms.iter().copied().collect(),
                peer_requires: ChunkTypes::required(peer.chunks.as_deref().unwrap_or_default())
                    .with_changes_of_addresses(),
                we_require: ChunkTypes::required(own.chunks.as_deref().unwrap_or_default()),
                ready: Vec::new(),
                last_used: None,
                unknown_reports: 0,
                news: None,
            }))
        });
        Self { session, protection: None }
    }

    /// Whether we take chunks of this type only authenticated.
    #[inline]
    pub(crate) fn we_require(&self, chunk_type: u8) -> bool {
        self.session.as_ref().is_some_and(|session| session.we_require.contains(chunk_type))
            || self.protection.as_ref().is_some_and(|protection| protection.is_enforced())
    }

    /// Bytes that an AUTH chunk takes in a packet with a chunk of this type: 0 if the peer does not ask for it.
    #[inline]
    pub(crate) fn chunk_overhead(&self, chunk_type: u8) -> usize {
        match &self.session {
            Some(session) if session.peer_requires.contains(chunk_type) => session.auth_len(),
            _ => 0,
        }
    }

    /// Bytes that a packet with a chunk of this type takes besides its chunks and the common header. Those of protection count from the
    /// beginning: what is cut before packets are protected may go out again afterwards.
    #[inline]
    pub(crate) fn overhead(&self, chunk_type: u8) -> usize {
        if self.protection.is_some() { record::OVERHEAD } else { self.chunk_overhead(chunk_type) }
    }

    /// Bytes that any packet takes besides its chunks and the common header at most.
    pub(crate) fn largest_overhead(&self) -> usize {
        if self.protection.is_some() {
            return record::OVERHEAD;
        }
        self.session.as_ref().map_or(0, |session| session.auth_len())
    }

    /// What seals packets now.
    #[inline]
    pub(crate) fn sealing(&self) -> Option<&Protection> {
        self.protection.as_deref().filter(|protection| protection.seals())
    }

    /// Whether the association is set up, and its keys are not.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.protection.as_ref().is_some_and(|protection| protection.is_pending())
    }

    /// Whether packets are to be protected, and cannot be yet.
    #[inline]
    pub(crate) fn lacks_keys(&self) -> bool {
        self.is_pending() && !self.is_enforced()
    }

    /// Whether nothing in clear is taken any more.
    pub(crate) fn is_enforced(&self) -> bool {
        self.protection.as_ref().is_some_and(|protection| protection.is_enforced())
    }

    /// Whether data that came may be, or may have brought its turn to, what is said about keys.
    #[inline]
    pub(crate) fn awaits_key_message(&self) -> bool {
        self.protection
            .as_ref()
            .is_some_and(|protection| protection.is_pending() || protection.is_message_coming())
    }

    /// The keys have changed.
    pub(crate) fn set_keys(&mut self, shared: &Arc<SharedKeys>) {
        let Some(session) = &mut self.session else { return };
        if let Some(sending) = SendingKey::active(shared, session.sending.algorithm) {
            session.sending = sending;
        }
        session.shared = Arc::clone(shared);
        session.ready.clear();
        session.unknown_reports = 0;
    }

    /// Judges the AUTH chunk `raw` of `packet` (RFC 4895 §6.3).
    pub(crate) fn verify(&mut self, packet: &[u8], raw: &wire::RawChunk<'_>) -> Verdict {
        match (&mut self.session, raw.decode()) {
            (Some(session), Ok(wire::Chunk::Auth(auth))) => session.verify(packet, raw, &auth),
            _ => Verdict::Discard,
        }
    }

    /// What the last AUTH chunk told about its key.
    pub(crate) fn take_news(&mut self) -> Option<(u16, AuthKeyNews)> {
        self.session.as_mut()?.news.take()
    }
}

impl Session {
    /// Bytes of an AUTH chunk of ours.
    pub(crate) fn auth_len(&self) -> usize {
        wire::Auth::HMAC_OFFSET + self.sending.algorithm.mac_len()
    }

    /// The HMAC of what we send.
    pub(crate) fn sending_mac(&self) -> &Mac {
        let SendingKey { algorithm, secret, mac, .. } = &self.sending;
        mac.get_or_init(|| Box::new(Mac::new(*algorithm, &self.vectors.association_key(secret))))
    }

    fn verify(&mut self, packet: &[u8], raw: &wire::RawChunk<'_>, auth: &wire::Auth<'_>) -> Verdict {
        let algorithm = HmacAlgorithm::from_id(auth.hmac_id).filter(|known| self.accepted.contains(known));
        let Some(algorithm) = algorithm else { return Verdict::UnsupportedHmac(auth.hmac_id) };
        let Some(mac) = self.key(auth.shared_key_id, algorithm) else {
            if self.unknown_reports < MAX_UNKNOWN_REPORTS {
                self.unknown_reports += 1;
                self.news = Some((auth.shared_key_id, AuthKeyNews::Unknown));
            }
            return Verdict::Discard;
        };
        let head = &packet[raw.offset()..][..wire::Auth::HMAC_OFFSET];
        // Padding of this chunk and of those behind it is covered (RFC 4895 §6.2).
        let tail = &packet[raw.offset() + raw.bytes().len()..];
        if !mac.verify(head, auth.hmac, tail) {
            return Verdict::Discard;
        }
        if self.last_used != Some(auth.shared_key_id) {
            self.last_used = Some(auth.shared_key_id);
            self.news = Some((auth.shared_key_id, AuthKeyNews::InUse));
        }
        Verdict::Genuine
    }

    /// The key the peer has named, computed when it is needed first.
    fn key(&mut self, id: u16, algorithm: HmacAlgorithm) -> Option<&Mac> {
        let known = self.ready.iter().position(|(ready, mac)| *ready == id && mac.algorithm() == algorithm);
        match known {
            Some(at) => self.ready[..=at].rotate_right(1),
            None => {
                let mac = Mac::new(algorithm, &self.vectors.association_key(self.shared.get(id)?));
                self.ready.truncate(MAX_READY - 1);
                self.ready.insert(0, (id, mac));
            }
        }
        self.ready.first().map(|(_, mac)| mac)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
