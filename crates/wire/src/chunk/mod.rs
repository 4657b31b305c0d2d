//! Chunks: one file each, with its diagram (RFC 9260 §3.2, §3.3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Chunk Type   |  Chunk Flags  |         Chunk Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                          Chunk Value                          /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! Flag bits and reserved fields without a meaning are written as zero and ignored when read.

mod abort;
mod asconf;
mod asconf_ack;
mod auth;
mod chunks;
mod cookie_ack;
mod cookie_echo;
mod cwr;
mod data;
mod ecne;
mod error;
mod forward_tsn;
mod heartbeat;
mod heartbeat_ack;
mod i_data;
mod i_forward_tsn;
mod init;
mod init_ack;
mod pad;
mod re_config;
mod sack;
mod shutdown;
mod shutdown_ack;
mod shutdown_complete;
mod unknown;

pub use abort::{Abort, AbortBuilder};
pub use asconf::{Asconf, AsconfBuilder};
pub use asconf_ack::{AsconfAck, AsconfAckBuilder};
pub use auth::Auth;
pub use chunks::{ChunkError, ChunkErrorKind, Chunks, RawChunk};
pub use cookie_ack::CookieAck;
pub use cookie_echo::CookieEcho;
pub use cwr::Cwr;
pub use data::{DATA_HEADER_LEN, Data};
pub use ecne::Ecne;
pub use error::{ErrorBuilder, ErrorChunk};
pub use forward_tsn::{ForwardTsn, SkippedStream};
pub use heartbeat::Heartbeat;
pub use heartbeat_ack::HeartbeatAck;
pub use i_data::{FragmentPosition, I_DATA_HEADER_LEN, IData};
pub use i_forward_tsn::{IForwardTsn, SkippedMessage};
pub use init::{Init, InitBuilder};
pub use init_ack::{InitAck, InitAckBuilder};
pub use pad::{Pad, PadBuilder};
pub use re_config::{ReConfig, ReConfigBuilder};
pub use sack::{CountedSack, GapAckBlock, Sack, SackBuilder};
pub(crate) use sack::{ENTRY_LEN, MOST_PACKETS, PACKETS_SHIFT};
pub use shutdown::Shutdown;
pub use shutdown_ack::ShutdownAck;
pub use shutdown_complete::ShutdownComplete;
pub use unknown::Unknown;

use crate::emit::EmitChunk;

/// Chunk type numbers, as they also appear in Supported Extensions (RFC 5061 §4.2.7) and CHUNKS (RFC 4895 §3.2).
pub mod chunk_type {
    /// RFC 9260 §3.3.1.
    pub const DATA: u8 = 0;
    /// RFC 9260 §3.3.2.
    pub const INIT: u8 = 1;
    /// RFC 9260 §3.3.3.
    pub const INIT_ACK: u8 = 2;
    /// RFC 9260 §3.3.4.
    pub const SACK: u8 = 3;
    /// RFC 9260 §3.3.5.
    pub const HEARTBEAT: u8 = 4;
    /// RFC 9260 §3.3.6.
    pub const HEARTBEAT_ACK: u8 = 5;
    /// RFC 9260 §3.3.7.
    pub const ABORT: u8 = 6;
    /// RFC 9260 §3.3.8.
    pub const SHUTDOWN: u8 = 7;
    /// RFC 9260 §3.3.9.
    pub const SHUTDOWN_ACK: u8 = 8;
    /// RFC 9260 §3.3.10.
    pub const ERROR: u8 = 9;
    /// RFC 9260 §3.3.11.
    pub const COOKIE_ECHO: u8 = 10;
    /// RFC 9260 §3.3.12.
    pub const COOKIE_ACK: u8 = 11;
    /// RFC 4960 appendix A.
    pub const ECNE: u8 = 12;
    /// RFC 4960 appendix A.
    pub const CWR: u8 = 13;
    /// RFC 9260 §3.3.13.
    pub const SHUTDOWN_COMPLETE: u8 = 14;
    /// RFC 4895 §5.1.
    pub const AUTH: u8 = 0x0f;
    /// RFC 8260 §2.1.
    pub const I_DATA: u8 = 0x40;
    /// RFC 5061 §4.1.2.
    pub const ASCONF_ACK: u8 = 0x80;
    /// RFC 6525 §3.1.
    pub const RE_CONFIG: u8 = 0x82;
    /// RFC 4820 §3.
    pub const PAD: u8 = 0x84;
    /// RFC 3758 §3.2.
    pub const FORWARD_TSN: u8 = 0xc0;
    /// RFC 5061 §4.1.1.
    pub const ASCONF: u8 = 0xc1;
    /// RFC 8260 §2.3.1.
    pub const I_FORWARD_TSN: u8 = 0xc2;
}

/// A chunk, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is documented at the type it carries")]
pub enum Chunk<'a> {
    Data(Data<'a>),
    IData(IData<'a>),
    Init(Init<'a>),
    InitAck(InitAck<'a>),
    Sack(Sack<'a>),
    Heartbeat(Heartbeat<'a>),
    HeartbeatAck(HeartbeatAck<'a>),
    Abort(Abort<'a>),
    Shutdown(Shutdown),
    ShutdownAck,
    Error(ErrorChunk<'a>),
    CookieEcho(CookieEcho<'a>),
    CookieAck,
    Ecne(Ecne),
    Cwr(Cwr),
    ShutdownComplete(ShutdownComplete),
    Auth(Auth<'a>),
    Asconf(Asconf<'a>),
    AsconfAck(AsconfAck<'a>),
    ReConfig(ReConfig<'a>),
    Pad(Pad<'a>),
    ForwardTsn(ForwardTsn<'a>),
    IForwardTsn(IForwardTsn<'a>),
    Unknown(Unknown<'a>),
}

impl<'a> Chunk<'a> {
    /// Reads a chunk of sane length.
    #[inline]
    fn decode(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        match raw.chunk_type() {
            chunk_type::DATA => Data::decode(raw).map(Self::Data),
            chunk_type::SACK => Sack::decode(raw).map(Self::Sack),
            _ => Self::decode_other(raw),
        }
    }

    fn decode_other(raw: &RawChunk<'a>) -> Result<Self, ChunkErrorKind> {
        Ok(match raw.chunk_type() {
            chunk_type::INIT => Self::Init(Init::decode(raw)?),
            chunk_type::INIT_ACK => Self::InitAck(InitAck::decode(raw)?),
            chunk_type::HEARTBEAT => Self::Heartbeat(Heartbeat::decode(raw)?),
            chunk_type::HEARTBEAT_ACK => Self::HeartbeatAck(HeartbeatAck::decode(raw)?),
            chunk_type::ABORT => Self::Abort(Abort::decode(raw)?),
            chunk_type::SHUTDOWN => Self::Shutdown(Shutdown::decode(raw)?),
            chunk_type::SHUTDOWN_ACK => ShutdownAck::decode(raw).map(|_| Self::ShutdownAck)?,
            chunk_type::ERROR => Self::Error(ErrorChunk::decode(raw)),
            chunk_type::COOKIE_ECHO => Self::CookieEcho(CookieEcho::decode(raw)),
            chunk_type::COOKIE_ACK => CookieAck::decode(raw).map(|_| Self::CookieAck)?,
            chunk_type::ECNE => Self::Ecne(Ecne::decode(raw)?),
            chunk_type::CWR => Self::Cwr(Cwr::decode(raw)?),
            chunk_type::SHUTDOWN_COMPLETE => Self::ShutdownComplete(ShutdownComplete::decode(raw)?),
            chunk_type::AUTH => Self::Auth(Auth::decode(raw)?),
            chunk_type::I_DATA => Self::IData(IData::decode(raw)?),
            chunk_type::ASCONF => Self::Asconf(Asconf::decode(raw)?),
            chunk_type::ASCONF_ACK => Self::AsconfAck(AsconfAck::decode(raw)?),
            chunk_type::RE_CONFIG => Self::ReConfig(ReConfig::decode(raw)),
            chunk_type::PAD => Self::Pad(Pad::decode(raw)),
            chunk_type::FORWARD_TSN => Self::ForwardTsn(ForwardTsn::decode(raw)?),
            chunk_type::I_FORWARD_TSN => Self::IForwardTsn(IForwardTsn::decode(raw)?),
            _ => Self::Unknown(Unknown::decode(raw)),
        })
    }

    /// The chunk type number.
    #[must_use]
    pub const fn chunk_type(&self) -> u8 {
        match self {
            Self::Data(_) => chunk_type::DATA,
            Self::IData(_) => chunk_type::I_DATA,
            Self::Init(_) => chunk_type::INIT,
            Self::InitAck(_) => chunk_type::INIT_ACK,
            Self::Sack(_) => chunk_type::SACK,
            Self::Heartbeat(_) => chunk_type::HEARTBEAT,
            Self::HeartbeatAck(_) => chunk_type::HEARTBEAT_ACK,
            Self::Abort(_) => chunk_type::ABORT,
            Self::Shutdown(_) => chunk_type::SHUTDOWN,
            Self::ShutdownAck => chunk_type::SHUTDOWN_ACK,
            Self::Error(_) => chunk_type::ERROR,
            Self::CookieEcho(_) => chunk_type::COOKIE_ECHO,
            Self::CookieAck => chunk_type::COOKIE_ACK,
            Self::Ecne(_) => chunk_type::ECNE,
            Self::Cwr(_) => chunk_type::CWR,
            Self::ShutdownComplete(_) => chunk_type::SHUTDOWN_COMPLETE,
            Self::Auth(_) => chunk_type::AUTH,
            Self::Asconf(_) => chunk_type::ASCONF,
            Self::AsconfAck(_) => chunk_type::ASCONF_ACK,
            Self::ReConfig(_) => chunk_type::RE_CONFIG,
            Self::Pad(_) => chunk_type::PAD,
            Self::ForwardTsn(_) => chunk_type::FORWARD_TSN,
            Self::IForwardTsn(_) => chunk_type::I_FORWARD_TSN,
            Self::Unknown(unknown) => unknown.chunk_type,
        }
    }

    fn with_emitter<R>(&self, apply: impl FnOnce(&dyn EmitChunk) -> R) -> R {
        match self {
            Self::Data(chunk) => apply(chunk),
            Self::IData(chunk) => apply(chunk),
            Self::Init(chunk) => apply(chunk),
            Self::InitAck(chunk) => apply(chunk),
            Self::Sack(chunk) => apply(chunk),
            Self::Heartbeat(chunk) => apply(chunk),
            Self::HeartbeatAck(chunk) => apply(chunk),
            Self::Abort(chunk) => apply(chunk),
            Self::Shutdown(chunk) => apply(chunk),
            Self::ShutdownAck => apply(&ShutdownAck),
            Self::Error(chunk) => apply(chunk),
            Self::CookieEcho(chunk) => apply(chunk),
            Self::CookieAck => apply(&CookieAck),
            Self::Ecne(chunk) => apply(chunk),
            Self::Cwr(chunk) => apply(chunk),
            Self::ShutdownComplete(chunk) => apply(chunk),
            Self::Auth(chunk) => apply(chunk),
            Self::Asconf(chunk) => apply(chunk),
            Self::AsconfAck(chunk) => apply(chunk),
            Self::ReConfig(chunk) => apply(chunk),
            Self::Pad(chunk) => apply(chunk),
            Self::ForwardTsn(chunk) => apply(chunk),
            Self::IForwardTsn(chunk) => apply(chunk),
            Self::Unknown(chunk) => apply(chunk),
        }
    }
}

impl EmitChunk for Chunk<'_> {
    fn wire_len(&self) -> usize {
        self.with_emitter(|chunk| chunk.wire_len())
    }

    fn emit(&self, out: &mut Vec<u8>) {
        self.with_emitter(|chunk| chunk.emit(out));
    }
}

#[cfg(test)]
#[path = "round_trip_tests.rs"]
mod round_trip_tests;
