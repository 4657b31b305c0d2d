//! SCTP on the wire: bytes to packets, chunks, parameters and causes, and back.
//!
//! Reading borrows and never allocates: [`Packet::parse`] looks at the common header, [`Packet::chunks`] walks the
//! chunks, and a chunk with parameters or causes hands out another iterator. Writing appends to a caller's `Vec<u8>`
//! through [`PacketWriter`], which may already hold earlier packets of the same train.
//!
//! This crate knows formats, not behaviour: no time, no state, no randomness. What a value *means* (a zero Initiate
//! Tag, a DATA chunk without user data, a parameter in the wrong chunk) is for the layer above to judge; here it only
//! has to be well-formed.
//!
//! ```
//! use whimbrel_wire::{ChecksumMode, Chunk, CommonHeader, Packet, PacketWriter, Shutdown, Tsn};
//!
//! let header = CommonHeader { source_port: 5000, destination_port: 7, verification_tag: 0xddc9_c306 };
//! let mut out = Vec::new();
//! let mut writer = PacketWriter::new(&mut out, header, 1452);
//! assert!(writer.push(&Shutdown { cumulative_tsn_ack: Tsn(17) }));
//! writer.finish(ChecksumMode::Crc32c);
//!
//! let packet = Packet::parse(&out)?;
//! assert!(packet.checksum_is_valid());
//! for chunk in packet.chunks() {
//!     assert!(matches!(chunk, Ok(Chunk::Shutdown(shutdown)) if shutdown.cumulative_tsn_ack == Tsn(17)));
//! }
//! # Ok::<(), whimbrel_wire::ParseError>(())
//! ```
//!
//! # Promises
//!
//! - No input makes a reader panic, recurse or loop: every step consumes at least four bytes or ends the walk.
//! - One cursor (`tlv`) decides where a chunk, parameter or cause ends, so no two readers disagree about padding.
//! - What is not recognised keeps its bytes and tells what to do with it ([`UnknownAction`], RFC 9260 §3.2, §3.2.1).
//! - What a reader accepted can be written again, and reading that gives an equal value.
//!
//! # Formats covered
//!
//! RFC 9260 (all chunks, parameters, causes), the ECN pair of RFC 4960 appendix A, RFC 3758 (FORWARD TSN),
//! RFC 4820 (padding), RFC 4895 (AUTH), RFC 5061 (ASCONF), RFC 6525 (RE-CONFIG), RFC 7053 (I bit), RFC 8260 (I-DATA,
//! I-FORWARD-TSN) and RFC 9653 (zero checksum).
#![forbid(unsafe_code)]

pub mod cause;
mod checksum;
pub mod chunk;
pub mod draft;
mod emit;
mod list;
mod packet;
pub mod parameter;
mod serial;
mod tlv;
mod unknown;
mod writer;

pub use cause::{Cause, Causes, cause_code, cause_name};
pub use checksum::ChecksumMode;
pub use chunk::{
    Abort, AbortBuilder, Asconf, AsconfAck, AsconfAckBuilder, AsconfBuilder, Auth, Chunk, ChunkError,
    ChunkErrorKind, Chunks, CookieAck, CookieEcho, CountedSack, Cwr, DATA_HEADER_LEN, Data, Ecne,
    ErrorBuilder, ErrorChunk, ForwardTsn, FragmentPosition, GapAckBlock, Heartbeat, HeartbeatAck,
    I_DATA_HEADER_LEN, IData, IForwardTsn, Init, InitAck, InitAckBuilder, InitBuilder, Pad, PadBuilder,
    RawChunk, ReConfig, ReConfigBuilder, Sack, SackBuilder, Shutdown, ShutdownAck, ShutdownComplete,
    SkippedMessage, SkippedStream, Unknown, chunk_type,
};
pub use emit::EmitChunk;
pub use list::{List, WireItem};
pub use packet::{COMMON_HEADER_LEN, CommonHeader, Packet, ParseError};
pub use parameter::{
    AddStreamsRequest, AddressRequest, ErrorCauseIndication, IncomingSsnResetRequest,
    OutgoingSsnResetRequest, Parameter, ParameterError, ParameterErrorKind, Parameters, RawParameter,
    ReConfigResponse, UnknownParameter, parameter_type,
};
pub use serial::{MessageId, PayloadProtocolId, Ssn, StreamId, Tsn};
pub use unknown::UnknownAction;
pub use writer::{MAX_PACKET_LEN, PacketWriter};

#[cfg(test)]
mod testing;
