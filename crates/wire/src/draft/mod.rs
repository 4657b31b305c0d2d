//! What Internet-Drafts define and no RFC yet: packets protected by the SCTP DTLS chunk, acknowledgements that are for
//! good, and translators that forget.
//!
//! - *The chunk draft*: draft-ietf-tsvwg-sctp-dtls-chunk-04.
//! - *The key draft*: draft-porfiri-tsvwg-sctp-dtls-handshake-02.
//! - *The NR-SACK draft*: draft-natarajan-tsvwg-sctp-nrsack, later a part of draft-tuexen-tsvwg-sctp-multipath.
//! - *The NAT draft*: draft-ietf-tsvwg-natsupp.
//!
//! Their numbers are to be confirmed by IANA, so all of them are here. [`Chunk`](crate::Chunk), [`Parameter`](crate::Parameter)
//! and [`Cause`](crate::Cause) read these formats as unknown, which is what endpoints that do not use them need.

mod dtls;
mod key_management;
mod nr_sack;

pub use dtls::{DTLS_CHUNK_OVERHEAD, Dtls, RECORD_HEADER_LEN};
pub use key_management::{KeyManagement, KeyRoles};
pub use nr_sack::{NrSack, NrSackBuilder};

use crate::PayloadProtocolId;

/// Chunk type of DTLS (chunk draft §4.2).
pub const CHUNK_DTLS: u8 = 0x41;

/// Chunk type of NR-SACK (NR-SACK draft). It may be sent to peers only that list it among their extensions: others take it for unknown and stop.
pub const CHUNK_NR_SACK: u8 = 0x10;

/// Parameter type of DTLS Key Management (chunk draft §4.1).
pub const PARAMETER_KEY_MANAGEMENT: u16 = 0x8006;

/// Cause code of Missing DTLS Chunk Support (chunk draft §4.3.1).
pub const CAUSE_MISSING_SUPPORT: u16 = 100;

/// Cause code of No Common DTLS Key Management Method (chunk draft §4.3.2).
pub const CAUSE_NO_COMMON_METHOD: u16 = 101;

/// Cause code of DTLS Key Management Tie Breaker Collision (chunk draft §4.3.3).
pub const CAUSE_TIE_BREAKER_COLLISION: u16 = 102;

/// Cause code of Incompatible DTLS Key Management Roles (chunk draft §4.3.4).
pub const CAUSE_INCOMPATIBLE_ROLES: u16 = 103;

/// Cause code of Missing State: nobody knows the address that a packet came from, so whoever has sent it should add that address anew, by
/// ASCONF (NAT draft, "Missing State Error Cause").
pub const CAUSE_MISSING_STATE: u16 = 0x00b1;

/// User messages that hold TLS records (chunk draft §9.5, key draft §4.1).
pub const PPID_TLS_RECORDS: PayloadProtocolId = PayloadProtocolId(4242);

/// User messages that hold one byte about keys (key draft §4.2).
pub const PPID_KEY_CONTROL: PayloadProtocolId = PayloadProtocolId(4243);

/// Key management by TLS 1.3 in user messages (key draft §9.1).
pub const METHOD_TLS: u8 = 192;
