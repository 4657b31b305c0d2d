//! Parameters: the optional and variable-length part of control chunks (RFC 9260 §3.2.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |        Parameter Type         |       Parameter Length        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                                                               \
//! /                        Parameter Value                        /
//! \                                                               \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! A type means the same in every chunk, so one enum serves them all; whether a parameter may appear where it does
//! is for the layer above. Parameters inside parameters stay bytes: nothing here recurses.

mod dynamic_address;
mod parameters;
mod re_config;
mod unknown;

pub use dynamic_address::{AddressRequest, ErrorCauseIndication};
pub use parameters::{ParameterError, ParameterErrorKind, Parameters, RawParameter};
pub use re_config::{AddStreamsRequest, IncomingSsnResetRequest, OutgoingSsnResetRequest, ReConfigResponse};
pub use unknown::UnknownParameter;

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::list::List;
use crate::tlv::EmitTlv;

/// Parameter type numbers.
pub mod parameter_type {
    /// RFC 9260 §3.3.5.
    pub const HEARTBEAT_INFO: u16 = 1;
    /// RFC 9260 §3.3.2.1.1.
    pub const IPV4_ADDRESS: u16 = 5;
    /// RFC 9260 §3.3.2.1.2.
    pub const IPV6_ADDRESS: u16 = 6;
    /// RFC 9260 §3.3.3.1.1.
    pub const STATE_COOKIE: u16 = 7;
    /// RFC 9260 §3.3.3.1.2.
    pub const UNRECOGNIZED_PARAMETER: u16 = 8;
    /// RFC 9260 §3.3.2.1.3.
    pub const COOKIE_PRESERVATIVE: u16 = 9;
    /// RFC 9260 §3.3.2.1.4.
    pub const HOST_NAME: u16 = 11;
    /// RFC 9260 §3.3.2.1.5.
    pub const SUPPORTED_ADDRESS_TYPES: u16 = 12;
    /// RFC 6525 §4.1.
    pub const OUTGOING_SSN_RESET_REQUEST: u16 = 13;
    /// RFC 6525 §4.2.
    pub const INCOMING_SSN_RESET_REQUEST: u16 = 14;
    /// RFC 6525 §4.3.
    pub const SSN_TSN_RESET_REQUEST: u16 = 15;
    /// RFC 6525 §4.4.
    pub const RE_CONFIG_RESPONSE: u16 = 16;
    /// RFC 6525 §4.5.
    pub const ADD_OUTGOING_STREAMS_REQUEST: u16 = 17;
    /// RFC 6525 §4.6.
    pub const ADD_INCOMING_STREAMS_REQUEST: u16 = 18;
    /// RFC 4960 appendix A; reserved by RFC 9260 §3.3.2.
    pub const ECN_CAPABLE: u16 = 0x8000;
    /// RFC 9653 §4.
    pub const ZERO_CHECKSUM_ACCEPTABLE: u16 = 0x8001;
    /// RFC 4895 §3.1.
    pub const RANDOM: u16 = 0x8002;
    /// RFC 4895 §3.2.
    pub const CHUNKS: u16 = 0x8003;
    /// RFC 4895 §3.3.
    pub const HMAC_ALGORITHMS: u16 = 0x8004;
    /// RFC 4820 §4.
    pub const PADDING: u16 = 0x8005;
    /// RFC 5061 §4.2.7.
    pub const SUPPORTED_EXTENSIONS: u16 = 0x8008;
    /// RFC 3758 §3.1.
    pub const FORWARD_TSN_SUPPORTED: u16 = 0xc000;
    /// RFC 5061 §4.2.1.
    pub const ADD_IP_ADDRESS: u16 = 0xc001;
    /// RFC 5061 §4.2.2.
    pub const DELETE_IP_ADDRESS: u16 = 0xc002;
    /// RFC 5061 §4.2.3.
    pub const ERROR_CAUSE_INDICATION: u16 = 0xc003;
    /// RFC 5061 §4.2.4.
    pub const SET_PRIMARY_ADDRESS: u16 = 0xc004;
    /// RFC 5061 §4.2.5.
    pub const SUCCESS_INDICATION: u16 = 0xc005;
    /// RFC 5061 §4.2.6.
    pub const ADAPTATION_LAYER_INDICATION: u16 = 0xc006;
}

/// A parameter, read or to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// Opaque to all but the sender of the HEARTBEAT (RFC 9260 §3.3.5).
    HeartbeatInfo(&'a [u8]),
    /// An address of the sender (RFC 9260 §3.3.2.1.1).
    Ipv4Address(Ipv4Addr),
    /// An address of the sender (RFC 9260 §3.3.2.1.2).
    Ipv6Address(Ipv6Addr),
    /// What COOKIE ECHO returns (RFC 9260 §3.3.3.1.1).
    StateCookie(&'a [u8]),
    /// A parameter of the INIT, header included, that the sender of the INIT ACK did not recognise
    /// (RFC 9260 §3.3.3.1.2).
    UnrecognizedParameter(&'a [u8]),
    /// By how many milliseconds the State Cookie should live longer (RFC 9260 §3.3.2.1.3).
    CookiePreservative(u32),
    /// Deprecated: answered with ABORT (RFC 9260 §3.3.2.1.4). The terminating zero is part of it.
    HostName(&'a [u8]),
    /// Parameter types of the addresses the sender can use (RFC 9260 §3.3.2.1.5).
    SupportedAddressTypes(List<'a, u16>),
    /// The sender understands ECNE and CWR (RFC 4960 appendix A).
    EcnCapable,
    /// The sender understands FORWARD TSN (RFC 3758 §3.1).
    ForwardTsnSupported,
    /// Chunk types of the extensions the sender supports (RFC 5061 §4.2.7).
    SupportedExtensions(&'a [u8]),
    /// The sender's random number for the association's keys (RFC 4895 §3.1).
    Random(&'a [u8]),
    /// Chunk types the sender only accepts authenticated (RFC 4895 §3.2).
    Chunks(&'a [u8]),
    /// HMAC identifiers in the sender's order of preference (RFC 4895 §3.3).
    HmacAlgorithms(List<'a, u16>),
    /// Add an address to the association (RFC 5061 §4.2.1).
    AddIpAddress(AddressRequest),
    /// Delete an address from the association (RFC 5061 §4.2.2).
    DeleteIpAddress(AddressRequest),
    /// Make an address of the sender the primary destination (RFC 5061 §4.2.4).
    SetPrimaryAddress(AddressRequest),
    /// A request failed (RFC 5061 §4.2.3).
    ErrorCauseIndication(ErrorCauseIndication<'a>),
    /// A request succeeded; the value is its correlation id (RFC 5061 §4.2.5).
    SuccessIndication(u32),
    /// A code point for the upper layer (RFC 5061 §4.2.6).
    AdaptationLayerIndication(u32),
    /// Reset streams of the sender (RFC 6525 §4.1).
    OutgoingSsnResetRequest(OutgoingSsnResetRequest<'a>),
    /// Asks the peer to reset its streams (RFC 6525 §4.2).
    IncomingSsnResetRequest(IncomingSsnResetRequest<'a>),
    /// Reset TSNs and all streams; the value is the request sequence number (RFC 6525 §4.3).
    SsnTsnResetRequest(u32),
    /// Answers a request (RFC 6525 §4.4).
    ReConfigResponse(ReConfigResponse),
    /// Add streams from the sender (RFC 6525 §4.5).
    AddOutgoingStreamsRequest(AddStreamsRequest),
    /// Asks the peer to add streams (RFC 6525 §4.6).
    AddIncomingStreamsRequest(AddStreamsRequest),
    /// The sender accepts packets with a zero checksum that this error detection method protects (RFC 9653 §4).
    ZeroChecksumAcceptable(u32),
    /// Bytes without meaning (RFC 4820 §4).
    Padding(&'a [u8]),
    /// Anything else.
    Unknown(UnknownParameter<'a>),
}

impl From<IpAddr> for Parameter<'_> {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::Ipv4Address(address),
            IpAddr::V6(address) => Self::Ipv6Address(address),
        }
    }
}

type Decoded<'a> = Result<Parameter<'a>, ParameterErrorKind>;

impl<'a> Parameter<'a> {
    /// The address in an IPv4 or IPv6 Address parameter.
    #[must_use]
    pub const fn address(&self) -> Option<IpAddr> {
        match *self {
            Self::Ipv4Address(address) => Some(IpAddr::V4(address)),
            Self::Ipv6Address(address) => Some(IpAddr::V6(address)),
            _ => None,
        }
    }

    /// The parameter type number.
    #[must_use]
    pub fn parameter_type(&self) -> u16 {
        self.code()
    }

    /// The bytes of the parameter as it is sent, padding excluded: what error causes quote.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let end = out.len() + crate::tlv::item_len(self);
        crate::tlv::emit_item(self, out);
        out.truncate(end);
    }

    fn decode(raw: &RawParameter<'a>) -> Decoded<'a> {
        use parameter_type as code;
        let value = raw.value();
        Ok(match raw.parameter_type() {
            code::HEARTBEAT_INFO => Self::HeartbeatInfo(value),
            code::IPV4_ADDRESS => Self::Ipv4Address(Ipv4Addr::from(raw.exactly::<4>()?)),
            code::IPV6_ADDRESS => Self::Ipv6Address(Ipv6Addr::from(raw.exactly::<16>()?)),
            code::STATE_COOKIE => Self::StateCookie(value),
            code::UNRECOGNIZED_PARAMETER => Self::UnrecognizedParameter(value),
            code::COOKIE_PRESERVATIVE => Self::CookiePreservative(raw.exactly_u32()?),
            code::HOST_NAME => Self::HostName(value),
            code::SUPPORTED_ADDRESS_TYPES => Self::SupportedAddressTypes(raw.list(value)?),
            _ => return Self::decode_extension(raw),
        })
    }

    fn decode_extension(raw: &RawParameter<'a>) -> Decoded<'a> {
        use parameter_type as code;
        let value = raw.value();
        Ok(match raw.parameter_type() {
            code::OUTGOING_SSN_RESET_REQUEST => {
                Self::OutgoingSsnResetRequest(OutgoingSsnResetRequest::decode(raw)?)
            }
            code::INCOMING_SSN_RESET_REQUEST => {
                Self::IncomingSsnResetRequest(IncomingSsnResetRequest::decode(raw)?)
            }
            code::SSN_TSN_RESET_REQUEST => Self::SsnTsnResetRequest(raw.exactly_u32()?),
            code::RE_CONFIG_RESPONSE => Self::ReConfigResponse(ReConfigResponse::decode(raw)?),
            code::ADD_OUTGOING_STREAMS_REQUEST => {
                Self::AddOutgoingStreamsRequest(AddStreamsRequest::decode(raw)?)
            }
            code::ADD_INCOMING_STREAMS_REQUEST => {
                Self::AddIncomingStreamsRequest(AddStreamsRequest::decode(raw)?)
            }
            code::ECN_CAPABLE => raw.exactly::<0>().map(|_| Self::EcnCapable)?,
            code::ZERO_CHECKSUM_ACCEPTABLE => Self::ZeroChecksumAcceptable(raw.exactly_u32()?),
            code::RANDOM => Self::Random(value),
            code::CHUNKS => Self::Chunks(value),
            code::HMAC_ALGORITHMS => Self::HmacAlgorithms(raw.list(value)?),
            code::PADDING => Self::Padding(value),
            code::SUPPORTED_EXTENSIONS => Self::SupportedExtensions(value),
            code::FORWARD_TSN_SUPPORTED => raw.exactly::<0>().map(|_| Self::ForwardTsnSupported)?,
            code::ADD_IP_ADDRESS => Self::AddIpAddress(AddressRequest::decode(raw)?),
            code::DELETE_IP_ADDRESS => Self::DeleteIpAddress(AddressRequest::decode(raw)?),
            code::ERROR_CAUSE_INDICATION => Self::ErrorCauseIndication(ErrorCauseIndication::decode(raw)?),
            code::SET_PRIMARY_ADDRESS => Self::SetPrimaryAddress(AddressRequest::decode(raw)?),
            code::SUCCESS_INDICATION => Self::SuccessIndication(raw.exactly_u32()?),
            code::ADAPTATION_LAYER_INDICATION => Self::AdaptationLayerIndication(raw.exactly_u32()?),
            _ => Self::Unknown(UnknownParameter::decode(raw)),
        })
    }
}

impl EmitTlv for Parameter<'_> {
    fn code(&self) -> u16 {
        use parameter_type as code;
        match self {
            Self::HeartbeatInfo(_) => code::HEARTBEAT_INFO,
            Self::Ipv4Address(_) => code::IPV4_ADDRESS,
            Self::Ipv6Address(_) => code::IPV6_ADDRESS,
            Self::StateCookie(_) => code::STATE_COOKIE,
            Self::UnrecognizedParameter(_) => code::UNRECOGNIZED_PARAMETER,
            Self::CookiePreservative(_) => code::COOKIE_PRESERVATIVE,
            Self::HostName(_) => code::HOST_NAME,
            Self::SupportedAddressTypes(_) => code::SUPPORTED_ADDRESS_TYPES,
            Self::EcnCapable => code::ECN_CAPABLE,
            Self::ForwardTsnSupported => code::FORWARD_TSN_SUPPORTED,
            Self::SupportedExtensions(_) => code::SUPPORTED_EXTENSIONS,
            Self::Random(_) => code::RANDOM,
            Self::Chunks(_) => code::CHUNKS,
            Self::HmacAlgorithms(_) => code::HMAC_ALGORITHMS,
            Self::AddIpAddress(_) => code::ADD_IP_ADDRESS,
            Self::DeleteIpAddress(_) => code::DELETE_IP_ADDRESS,
            Self::SetPrimaryAddress(_) => code::SET_PRIMARY_ADDRESS,
            Self::ErrorCauseIndication(_) => code::ERROR_CAUSE_INDICATION,
            Self::SuccessIndication(_) => code::SUCCESS_INDICATION,
            Self::AdaptationLayerIndication(_) => code::ADAPTATION_LAYER_INDICATION,
            Self::OutgoingSsnResetRequest(_) => code::OUTGOING_SSN_RESET_REQUEST,
            Self::IncomingSsnResetRequest(_) => code::INCOMING_SSN_RESET_REQUEST,
            Self::SsnTsnResetRequest(_) => code::SSN_TSN_RESET_REQUEST,
            Self::ReConfigResponse(_) => code::RE_CONFIG_RESPONSE,
            Self::AddOutgoingStreamsRequest(_) => code::ADD_OUTGOING_STREAMS_REQUEST,
            Self::AddIncomingStreamsRequest(_) => code::ADD_INCOMING_STREAMS_REQUEST,
            Self::ZeroChecksumAcceptable(_) => code::ZERO_CHECKSUM_ACCEPTABLE,
            Self::Padding(_) => code::PADDING,
            Self::Unknown(unknown) => unknown.parameter_type,
        }
    }

    fn value_len(&self) -> usize {
        match self {
            Self::HeartbeatInfo(bytes)
            | Self::StateCookie(bytes)
            | Self::UnrecognizedParameter(bytes)
            | Self::HostName(bytes)
            | Self::SupportedExtensions(bytes)
            | Self::Random(bytes)
            | Self::Chunks(bytes)
            | Self::Padding(bytes) => bytes.len(),
            Self::Ipv4Address(_) => 4,
            Self::Ipv6Address(_) => 16,
            Self::CookiePreservative(_)
            | Self::SuccessIndication(_)
            | Self::AdaptationLayerIndication(_)
            | Self::SsnTsnResetRequest(_)
            | Self::ZeroChecksumAcceptable(_) => 4,
            Self::SupportedAddressTypes(list) | Self::HmacAlgorithms(list) => list.wire_len(),
            Self::EcnCapable | Self::ForwardTsnSupported => 0,
            Self::AddIpAddress(request)
            | Self::DeleteIpAddress(request)
            | Self::SetPrimaryAddress(request) => request.value_len(),
            Self::ErrorCauseIndication(indication) => indication.value_len(),
            Self::OutgoingSsnResetRequest(request) => request.value_len(),
            Self::IncomingSsnResetRequest(request) => request.value_len(),
            Self::ReConfigResponse(response) => response.value_len(),
            Self::AddOutgoingStreamsRequest(_) | Self::AddIncomingStreamsRequest(_) => {
                AddStreamsRequest::VALUE_LEN
            }
            Self::Unknown(unknown) => unknown.value().len(),
        }
    }

    fn emit_value(&self, out: &mut Vec<u8>) {
        match self {
            Self::HeartbeatInfo(bytes)
            | Self::StateCookie(bytes)
            | Self::UnrecognizedParameter(bytes)
            | Self::HostName(bytes)
            | Self::SupportedExtensions(bytes)
            | Self::Random(bytes)
            | Self::Chunks(bytes)
            | Self::Padding(bytes) => out.extend_from_slice(bytes),
            Self::Ipv4Address(address) => out.extend_from_slice(&address.octets()),
            Self::Ipv6Address(address) => out.extend_from_slice(&address.octets()),
            Self::CookiePreservative(number)
            | Self::SuccessIndication(number)
            | Self::AdaptationLayerIndication(number)
            | Self::SsnTsnResetRequest(number)
            | Self::ZeroChecksumAcceptable(number) => out.extend_from_slice(&number.to_be_bytes()),
            Self::SupportedAddressTypes(list) | Self::HmacAlgorithms(list) => list.emit(out),
            Self::EcnCapable | Self::ForwardTsnSupported => {}
            Self::AddIpAddress(request)
            | Self::DeleteIpAddress(request)
            | Self::SetPrimaryAddress(request) => {
                request.emit_value(out);
            }
            Self::ErrorCauseIndication(indication) => indication.emit_value(out),
            Self::OutgoingSsnResetRequest(request) => request.emit_value(out),
            Self::IncomingSsnResetRequest(request) => request.emit_value(out),
            Self::ReConfigResponse(response) => response.emit_value(out),
            Self::AddOutgoingStreamsRequest(request) | Self::AddIncomingStreamsRequest(request) => {
                request.emit_value(out);
            }
            Self::Unknown(unknown) => out.extend_from_slice(unknown.value()),
        }
    }
}

#[cfg(test)]
#[path = "parameter_tests.rs"]
mod tests;
