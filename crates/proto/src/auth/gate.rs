//! Which chunks of a received packet are let in (RFC 4895 §6.3).

use whimbrel_wire::{Packet, RawChunk, chunk_type};

use super::session::{Auth, Verdict};

/// How far a packet has been authenticated. What comes before its AUTH chunk is not, what follows a genuine one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Gate {
    /// No AUTH chunk so far.
    #[default]
    Open,
    /// A genuine AUTH chunk came before.
    Authenticated,
}

/// What to do with a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// It may be processed.
    Admit,
    /// It is passed over; the next one may be good.
    Skip,
    /// It and everything behind it are dropped.
    Stop,
    /// As `Stop`; the peer is to be told that it used an HMAC we did not ask for.
    StopUnsupported(u16),
}

impl Gate {
    /// Judges the next chunk of `packet`.
    #[inline]
    pub(crate) fn admit(&mut self, auth: &mut Auth, packet: &Packet<'_>, raw: &RawChunk<'_>) -> Admission {
        // Without authentication AUTH is an unknown chunk, and nothing is required.
        if auth.session.is_none() {
            return Admission::Admit;
        }
        self.judge(auth, packet, raw)
    }

    #[inline]
    fn judge(&mut self, auth: &mut Auth, packet: &Packet<'_>, raw: &RawChunk<'_>) -> Admission {
        match (raw.chunk_type(), *self) {
            // RFC 4895 §5.1: AUTH MUST NOT appear more than once.
            (chunk_type::AUTH, Self::Authenticated) => Admission::Stop,
            (chunk_type::AUTH, Self::Open) => match auth.verify(packet.bytes(), raw) {
                Verdict::Genuine => {
                    *self = Self::Authenticated;
                    Admission::Skip
                }
                Verdict::Discard => Admission::Stop,
                Verdict::UnsupportedHmac(id) => Admission::StopUnsupported(id),
            },
            // RFC 5061 §5.2 D5: nothing hides behind a request that is not authenticated.
            (chunk_type::ASCONF, Self::Open) if auth.we_require(chunk_type::ASCONF) => Admission::Stop,
            (other, Self::Open) if auth.we_require(other) => Admission::Skip,
            _ => Admission::Admit,
        }
    }
}
