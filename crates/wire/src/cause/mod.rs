//! Error causes: why an ERROR or ABORT was sent, or an ASCONF request refused (RFC 9260 §3.3.10).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Cause Code           |         Cause Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! /                  Cause-Specific Information                   /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! Quoted chunks and parameters stay bytes; [`Parameters::from_wire`](crate::Parameters::from_wire) walks the latter.

mod causes;
mod name;

pub use causes::Causes;
pub use name::cause_name;

use crate::list::{List, array};
use crate::parameter::ParameterErrorKind;
use crate::serial::{StreamId, Tsn};
use crate::tlv::{self, EmitTlv};

/// Cause codes.
pub mod cause_code {
    /// RFC 9260 §3.3.10.1.
    pub const INVALID_STREAM_IDENTIFIER: u16 = 1;
    /// RFC 9260 §3.3.10.2.
    pub const MISSING_MANDATORY_PARAMETER: u16 = 2;
    /// RFC 9260 §3.3.10.3.
    pub const STALE_COOKIE: u16 = 3;
    /// RFC 9260 §3.3.10.4.
    pub const OUT_OF_RESOURCE: u16 = 4;
    /// RFC 9260 §3.3.10.5.
    pub const UNRESOLVABLE_ADDRESS: u16 = 5;
    /// RFC 9260 §3.3.10.6.
    pub const UNRECOGNIZED_CHUNK_TYPE: u16 = 6;
    /// RFC 9260 §3.3.10.7.
    pub const INVALID_MANDATORY_PARAMETER: u16 = 7;
    /// RFC 9260 §3.3.10.8.
    pub const UNRECOGNIZED_PARAMETERS: u16 = 8;
    /// RFC 9260 §3.3.10.9.
    pub const NO_USER_DATA: u16 = 9;
    /// RFC 9260 §3.3.10.10.
    pub const COOKIE_RECEIVED_WHILE_SHUTTING_DOWN: u16 = 10;
    /// RFC 9260 §3.3.10.11.
    pub const RESTART_WITH_NEW_ADDRESSES: u16 = 11;
    /// RFC 9260 §3.3.10.12.
    pub const USER_INITIATED_ABORT: u16 = 12;
    /// RFC 9260 §3.3.10.13.
    pub const PROTOCOL_VIOLATION: u16 = 13;
    /// RFC 5061 §4.3.1.
    pub const DELETE_LAST_ADDRESS: u16 = 0x00a0;
    /// RFC 5061 §4.3.2.
    pub const RESOURCE_SHORTAGE: u16 = 0x00a1;
    /// RFC 5061 §4.3.3.
    pub const DELETE_SOURCE_ADDRESS: u16 = 0x00a2;
    /// RFC 5061 §4.3.4.
    pub const ILLEGAL_ASCONF_ACK: u16 = 0x00a3;
    /// RFC 5061 §4.3.5.
    pub const NO_AUTHORIZATION: u16 = 0x00a4;
    /// RFC 4895 §4.1.
    pub const UNSUPPORTED_HMAC_IDENTIFIER: u16 = 0x0105;
}

/// An error cause, read or to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause<'a> {
    /// DATA came on a stream that does not exist (RFC 9260 §3.3.10.1).
    InvalidStreamIdentifier(StreamId),
    /// Parameter types an INIT or INIT ACK lacks (RFC 9260 §3.3.10.2).
    MissingMandatoryParameter(List<'a, u16>),
    /// The State Cookie expired (RFC 9260 §3.3.10.3).
    StaleCookie {
        /// How long ago, in microseconds; zero if the sender keeps that to itself.
        microseconds: u32,
    },
    /// The sender has no room (RFC 9260 §3.3.10.4).
    OutOfResource,
    /// An address parameter, header included, that cannot be used (RFC 9260 §3.3.10.5).
    UnresolvableAddress(&'a [u8]),
    /// A chunk, header included, that was not recognised (RFC 9260 §3.3.10.6).
    UnrecognizedChunkType(&'a [u8]),
    /// A mandatory parameter has an invalid value (RFC 9260 §3.3.10.7).
    InvalidMandatoryParameter,
    /// Parameters, headers included, that were not recognised (RFC 9260 §3.3.10.8).
    UnrecognizedParameters(&'a [u8]),
    /// DATA came without user data (RFC 9260 §3.3.10.9).
    NoUserData {
        /// Its TSN.
        tsn: Tsn,
    },
    /// COOKIE ECHO came in SHUTDOWN-ACK-SENT (RFC 9260 §3.3.10.10).
    CookieReceivedWhileShuttingDown,
    /// Address parameters, headers included, that a restart must not add (RFC 9260 §3.3.10.11).
    RestartWithNewAddresses(&'a [u8]),
    /// The application aborted; its reason (RFC 9260 §3.3.10.12).
    UserInitiatedAbort(&'a [u8]),
    /// Some other rule was broken; more about it (RFC 9260 §3.3.10.13).
    ProtocolViolation(&'a [u8]),
    /// The request, header included, to delete the last address (RFC 5061 §4.3.1).
    DeleteLastAddress(&'a [u8]),
    /// The request, header included, there was no room for (RFC 5061 §4.3.2).
    ResourceShortage(&'a [u8]),
    /// The request, header included, to delete the address it came from (RFC 5061 §4.3.3).
    DeleteSourceAddress(&'a [u8]),
    /// An ASCONF-ACK nobody asked for (RFC 5061 §4.3.4).
    IllegalAsconfAck,
    /// The request, header included, that local policy refuses (RFC 5061 §4.3.5).
    NoAuthorization(&'a [u8]),
    /// An AUTH chunk used an HMAC that was not offered (RFC 4895 §4.1).
    UnsupportedHmacIdentifier {
        /// The identifier.
        hmac_id: u16,
    },
    /// Anything else.
    Unknown {
        /// The cause code.
        code: u16,
        /// The cause-specific information, without header and padding.
        bytes: &'a [u8],
    },
}

/// Bytes before the list in Missing Mandatory Parameter: how many there are.
const COUNT_LEN: usize = 4;

impl<'a> Cause<'a> {
    /// The cause code.
    #[must_use]
    pub fn code(&self) -> u16 {
        EmitTlv::code(self)
    }

    /// Reads a cause from its code and its information.
    fn decode(code: u16, value: &'a [u8]) -> Result<Self, ParameterErrorKind> {
        use cause_code as known;
        Ok(match code {
            known::INVALID_STREAM_IDENTIFIER => {
                let [s0, s1, _, _] = exactly(value)?;
                Self::InvalidStreamIdentifier(StreamId(u16::from_be_bytes([s0, s1])))
            }
            known::MISSING_MANDATORY_PARAMETER => Self::MissingMandatoryParameter(counted_list(value)?),
            known::STALE_COOKIE => Self::StaleCookie { microseconds: u32::from_be_bytes(exactly(value)?) },
            known::OUT_OF_RESOURCE => exactly::<0>(value).map(|_| Self::OutOfResource)?,
            known::UNRESOLVABLE_ADDRESS => Self::UnresolvableAddress(value),
            known::UNRECOGNIZED_CHUNK_TYPE => Self::UnrecognizedChunkType(value),
            known::INVALID_MANDATORY_PARAMETER => {
                exactly::<0>(value).map(|_| Self::InvalidMandatoryParameter)?
            }
            known::UNRECOGNIZED_PARAMETERS => Self::UnrecognizedParameters(value),
            known::NO_USER_DATA => Self::NoUserData { tsn: Tsn(u32::from_be_bytes(exactly(value)?)) },
            known::COOKIE_RECEIVED_WHILE_SHUTTING_DOWN => {
                exactly::<0>(value).map(|_| Self::CookieReceivedWhileShuttingDown)?
            }
            known::RESTART_WITH_NEW_ADDRESSES => Self::RestartWithNewAddresses(value),
            known::USER_INITIATED_ABORT => Self::UserInitiatedAbort(value),
            known::PROTOCOL_VIOLATION => Self::ProtocolViolation(value),
            known::DELETE_LAST_ADDRESS => Self::DeleteLastAddress(value),
            known::RESOURCE_SHORTAGE => Self::ResourceShortage(value),
            known::DELETE_SOURCE_ADDRESS => Self::DeleteSourceAddress(value),
            known::ILLEGAL_ASCONF_ACK => exactly::<0>(value).map(|_| Self::IllegalAsconfAck)?,
            known::NO_AUTHORIZATION => Self::NoAuthorization(value),
            known::UNSUPPORTED_HMAC_IDENTIFIER => {
                Self::UnsupportedHmacIdentifier { hmac_id: u16::from_be_bytes(exactly(value)?) }
            }
            _ => Self::Unknown { code, bytes: value },
        })
    }
}

fn exactly<const N: usize>(value: &[u8]) -> Result<[u8; N], ParameterErrorKind> {
    <[u8; N]>::try_from(value).map_err(|_| ParameterErrorKind::WrongLength)
}

/// A list that says how many items it has.
fn counted_list(value: &[u8]) -> Result<List<'_, u16>, ParameterErrorKind> {
    let count: [u8; COUNT_LEN] = array(value);
    let list = value.get(COUNT_LEN..).and_then(List::from_wire).ok_or(ParameterErrorKind::WrongLength)?;
    if usize::try_from(u32::from_be_bytes(count)) == Ok(list.len()) {
        Ok(list)
    } else {
        Err(ParameterErrorKind::WrongLength)
    }
}

impl EmitTlv for Cause<'_> {
    fn code(&self) -> u16 {
        use cause_code as known;
        match self {
            Self::InvalidStreamIdentifier(_) => known::INVALID_STREAM_IDENTIFIER,
            Self::MissingMandatoryParameter(_) => known::MISSING_MANDATORY_PARAMETER,
            Self::StaleCookie { .. } => known::STALE_COOKIE,
            Self::OutOfResource => known::OUT_OF_RESOURCE,
            Self::UnresolvableAddress(_) => known::UNRESOLVABLE_ADDRESS,
            Self::UnrecognizedChunkType(_) => known::UNRECOGNIZED_CHUNK_TYPE,
            Self::InvalidMandatoryParameter => known::INVALID_MANDATORY_PARAMETER,
            Self::UnrecognizedParameters(_) => known::UNRECOGNIZED_PARAMETERS,
            Self::NoUserData { .. } => known::NO_USER_DATA,
            Self::CookieReceivedWhileShuttingDown => known::COOKIE_RECEIVED_WHILE_SHUTTING_DOWN,
            Self::RestartWithNewAddresses(_) => known::RESTART_WITH_NEW_ADDRESSES,
            Self::UserInitiatedAbort(_) => known::USER_INITIATED_ABORT,
            Self::ProtocolViolation(_) => known::PROTOCOL_VIOLATION,
            Self::DeleteLastAddress(_) => known::DELETE_LAST_ADDRESS,
            Self::ResourceShortage(_) => known::RESOURCE_SHORTAGE,
            Self::DeleteSourceAddress(_) => known::DELETE_SOURCE_ADDRESS,
            Self::IllegalAsconfAck => known::ILLEGAL_ASCONF_ACK,
            Self::NoAuthorization(_) => known::NO_AUTHORIZATION,
            Self::UnsupportedHmacIdentifier { .. } => known::UNSUPPORTED_HMAC_IDENTIFIER,
            Self::Unknown { code, .. } => *code,
        }
    }

    fn value_len(&self) -> usize {
        match self {
            Self::OutOfResource
            | Self::InvalidMandatoryParameter
            | Self::CookieReceivedWhileShuttingDown
            | Self::IllegalAsconfAck => 0,
            Self::UnsupportedHmacIdentifier { .. } => 2,
            Self::InvalidStreamIdentifier(_) | Self::StaleCookie { .. } | Self::NoUserData { .. } => 4,
            Self::MissingMandatoryParameter(types) => COUNT_LEN + types.wire_len(),
            Self::UnresolvableAddress(bytes)
            | Self::UnrecognizedChunkType(bytes)
            | Self::UnrecognizedParameters(bytes)
            | Self::RestartWithNewAddresses(bytes)
            | Self::UserInitiatedAbort(bytes)
            | Self::ProtocolViolation(bytes)
            | Self::DeleteLastAddress(bytes)
            | Self::ResourceShortage(bytes)
            | Self::DeleteSourceAddress(bytes)
            | Self::NoAuthorization(bytes)
            | Self::Unknown { bytes, .. } => bytes.len(),
        }
    }

    fn emit_value(&self, out: &mut Vec<u8>) {
        match self {
            Self::OutOfResource
            | Self::InvalidMandatoryParameter
            | Self::CookieReceivedWhileShuttingDown
            | Self::IllegalAsconfAck => {}
            Self::UnsupportedHmacIdentifier { hmac_id } => out.extend_from_slice(&hmac_id.to_be_bytes()),
            Self::InvalidStreamIdentifier(stream) => {
                let [s0, s1] = stream.0.to_be_bytes();
                out.extend_from_slice(&[s0, s1, 0, 0]);
            }
            Self::StaleCookie { microseconds: number } | Self::NoUserData { tsn: Tsn(number) } => {
                out.extend_from_slice(&number.to_be_bytes());
            }
            Self::MissingMandatoryParameter(types) => {
                let count = u32::try_from(types.len()).unwrap_or(u32::MAX);
                out.extend_from_slice(&count.to_be_bytes());
                types.emit(out);
            }
            Self::UnresolvableAddress(bytes)
            | Self::UnrecognizedChunkType(bytes)
            | Self::UnrecognizedParameters(bytes)
            | Self::RestartWithNewAddresses(bytes)
            | Self::UserInitiatedAbort(bytes)
            | Self::ProtocolViolation(bytes)
            | Self::DeleteLastAddress(bytes)
            | Self::ResourceShortage(bytes)
            | Self::DeleteSourceAddress(bytes)
            | Self::NoAuthorization(bytes)
            | Self::Unknown { bytes, .. } => out.extend_from_slice(bytes),
        }
    }
}

/// Appends causes one after the other, the padding of the last excluded: what an
/// [`ErrorCauseIndication`](crate::ErrorCauseIndication) wraps.
pub fn encode_causes(causes: &[Cause<'_>], out: &mut Vec<u8>) {
    let end = out.len() + tlv::list_len(causes);
    tlv::emit_list(causes, out);
    out.truncate(end);
}

#[cfg(test)]
#[path = "cause_tests.rs"]
mod tests;
