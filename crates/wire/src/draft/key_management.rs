//! The DTLS Key Management parameter of INIT and INIT ACK (chunk draft §4.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Parameter Type = 0x8006    |       Parameter Length        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                          Tie Breaker                          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |Reserved |R|S|C| DTLS KMId #1  | DTLS KMId #2  |      ...      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::PARAMETER_KEY_MANAGEMENT;
use crate::parameter::{Parameter, UnknownParameter};

/// Bytes before the methods: parameter header, tie breaker and roles.
const FIXED_LEN: usize = 9;

const CLIENT: u8 = 1;
const SERVER: u8 = 2;
const RESTART: u8 = 4;

/// Which parts one side can take in the exchange of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRoles {
    /// It can begin (C bit).
    pub client: bool,
    /// It can answer (S bit).
    pub server: bool,
}

/// What one side says about the keys of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyManagement<'a> {
    /// Decides who is the server where both sides can be either.
    pub tie_breaker: u32,
    /// The parts that the sender can take.
    pub roles: KeyRoles,
    /// Whether the sender keeps keys for a restart (R bit).
    pub restart: bool,
    /// Identifiers of methods in the sender's order of preference; at least one.
    pub methods: &'a [u8],
}

impl<'a> KeyManagement<'a> {
    /// The parameter as it is sent, without padding: both sides make their keys of these bytes (key draft §5.2).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let [t0, t1] = PARAMETER_KEY_MANAGEMENT.to_be_bytes();
        let length = u16::try_from(FIXED_LEN + self.methods.len()).unwrap_or(u16::MAX);
        let [l0, l1] = length.to_be_bytes();
        let [b0, b1, b2, b3] = self.tie_breaker.to_be_bytes();
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let roles =
            bit(self.roles.client, CLIENT) | bit(self.roles.server, SERVER) | bit(self.restart, RESTART);
        let mut bytes = vec![t0, t1, l0, l1, b0, b1, b2, b3, roles];
        bytes.extend_from_slice(self.methods);
        bytes
    }

    /// Reads the parameter from its bytes, without padding; `None` if it is another one, or lists no method.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[t0, t1, _, _, b0, b1, b2, b3, roles], methods) = bytes.split_first_chunk::<FIXED_LEN>()?;
        let known = u16::from_be_bytes([t0, t1]) == PARAMETER_KEY_MANAGEMENT && !methods.is_empty();
        known.then_some(Self {
            tie_breaker: u32::from_be_bytes([b0, b1, b2, b3]),
            roles: KeyRoles { client: roles & CLIENT != 0, server: roles & SERVER != 0 },
            restart: roles & RESTART != 0,
            methods,
        })
    }

    /// The parameter to send, of what [`Self::to_bytes`] has made.
    #[must_use]
    pub const fn parameter(bytes: &'a [u8]) -> Parameter<'a> {
        Parameter::Unknown(UnknownParameter { parameter_type: PARAMETER_KEY_MANAGEMENT, raw: bytes })
    }
}

#[cfg(test)]
#[path = "key_management_tests.rs"]
mod tests;
