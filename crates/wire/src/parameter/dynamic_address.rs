//! Parameters of dynamic address reconfiguration (RFC 5061 §4.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |     0xC001, 0xC002, 0xC004    |       Length = Variable       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                 ASCONF-Request Correlation ID                 |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Address Parameter                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//!
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |             0xC003            |       Length = Variable       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                 ASCONF-Response Correlation ID                |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                         Error Cause(s)                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::cause::Causes;
use crate::parameter::{ParameterErrorKind, RawParameter, parameter_type};
use crate::tlv::{self, TlvCursor};

const CORRELATION_ID_LEN: usize = 4;

/// The value of Add IP Address, Delete IP Address and Set Primary IP Address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressRequest {
    /// What the response names this request by.
    pub correlation_id: u32,
    /// The address; the unspecified address has a special meaning for each request (RFC 5061 §4.2.1, §4.2.2, §4.2.4).
    pub address: IpAddr,
}

impl AddressRequest {
    /// Exactly one address parameter must be inside and nothing else: a second one, or an address cut short, would
    /// leave the request ambiguous.
    pub(super) fn decode(raw: &RawParameter<'_>) -> Result<Self, ParameterErrorKind> {
        let (&correlation_id, wrapped) = raw.split::<CORRELATION_ID_LEN>()?;
        let mut cursor = TlvCursor::new(wrapped);
        let Some(Ok(inner)) = cursor.advance() else { return Err(ParameterErrorKind::MissingAddress) };
        if !cursor.rest().is_empty() {
            return Err(ParameterErrorKind::WrongLength);
        }
        let (&code, address) = inner.split_first_chunk::<2>().ok_or(ParameterErrorKind::MissingAddress)?;
        let address = address.get(2..).unwrap_or_default();
        let address = match u16::from_be_bytes(code) {
            parameter_type::IPV4_ADDRESS => {
                <[u8; 4]>::try_from(address).map(|octets| Ipv4Addr::from(octets).into())
            }
            parameter_type::IPV6_ADDRESS => {
                <[u8; 16]>::try_from(address).map(|octets| Ipv6Addr::from(octets).into())
            }
            _ => return Err(ParameterErrorKind::MissingAddress),
        };
        let address = address.map_err(|_| ParameterErrorKind::MissingAddress)?;
        Ok(Self { correlation_id: u32::from_be_bytes(correlation_id), address })
    }

    pub(super) fn value_len(&self) -> usize {
        CORRELATION_ID_LEN + tlv::item_len(&super::Parameter::from(self.address))
    }

    pub(super) fn emit_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.correlation_id.to_be_bytes());
        tlv::emit_item(&super::Parameter::from(self.address), out);
    }
}

/// A request that failed, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCauseIndication<'a> {
    /// The request.
    pub correlation_id: u32,
    /// Why it failed; to write some, encode them first ([`encode_causes`](crate::cause::encode_causes)).
    pub causes: Causes<'a>,
}

impl<'a> ErrorCauseIndication<'a> {
    pub(super) fn decode(raw: &RawParameter<'a>) -> Result<Self, ParameterErrorKind> {
        let (&correlation_id, causes) = raw.split::<CORRELATION_ID_LEN>()?;
        Ok(Self { correlation_id: u32::from_be_bytes(correlation_id), causes: Causes::from_wire(causes) })
    }

    pub(super) fn value_len(&self) -> usize {
        CORRELATION_ID_LEN + self.causes.as_bytes().len()
    }

    pub(super) fn emit_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.correlation_id.to_be_bytes());
        out.extend_from_slice(self.causes.as_bytes());
    }
}

#[cfg(test)]
#[path = "dynamic_address_tests.rs"]
mod tests;
