//! Walking the parameters of a chunk.

use core::fmt;

use crate::list::{List, WireItem};
use crate::parameter::Parameter;
use crate::tlv::{BadLength, TLV_HEADER_LEN, TlvCursor};

/// The parameters of a chunk, in order.
///
/// A parameter whose length is usable but whose value is malformed is reported and the walk goes on behind it; one
/// whose length is unusable is reported and is the last item.
#[derive(Clone, Copy)]
pub struct Parameters<'a>(TlvCursor<'a>);

impl<'a> Parameters<'a> {
    /// No parameters.
    pub const EMPTY: Self = Self(TlvCursor::new(&[]));

    /// The parameters these bytes hold. The padding of the last one may be missing (RFC 9260 §3.2).
    #[must_use]
    pub const fn from_wire(bytes: &'a [u8]) -> Self {
        Self(TlvCursor::new(bytes))
    }

    /// The bytes not walked yet.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0.rest()
    }

    /// The next parameter without looking into it.
    ///
    /// # Errors
    /// [`ParameterError`] of kind [`ParameterErrorKind::BadLength`] if its length is unusable; there is no next one
    /// then.
    pub fn next_raw(&mut self) -> Option<Result<RawParameter<'a>, ParameterError>> {
        Some(match self.0.advance()? {
            Ok(bytes) => Ok(RawParameter { bytes }),
            Err(BadLength(raw)) => {
                let parameter_type = raw.first_chunk().map_or(0, |&code| u16::from_be_bytes(code));
                Err(ParameterError { kind: ParameterErrorKind::BadLength, parameter_type })
            }
        })
    }
}

impl<'a> Iterator for Parameters<'a> {
    type Item = Result<Parameter<'a>, ParameterError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_raw()?.and_then(|raw| raw.decode()))
    }
}

impl core::iter::FusedIterator for Parameters<'_> {}

impl PartialEq for Parameters<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Parameters<'_> {}

impl fmt::Debug for Parameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

/// A parameter of usable length, not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawParameter<'a> {
    // At least TLV_HEADER_LEN bytes: only `Parameters` makes these.
    bytes: &'a [u8],
}

impl<'a> RawParameter<'a> {
    /// The type number.
    #[must_use]
    pub fn parameter_type(&self) -> u16 {
        self.bytes.first_chunk().map_or(0, |&code| u16::from_be_bytes(code))
    }

    /// The parameter, header included and padding excluded: what reports and error causes quote.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The parameter without its header.
    #[must_use]
    pub fn value(&self) -> &'a [u8] {
        self.bytes.get(TLV_HEADER_LEN..).unwrap_or_default()
    }

    /// Reads the parameter.
    ///
    /// # Errors
    /// [`ParameterError`] if the value is malformed.
    pub fn decode(&self) -> Result<Parameter<'a>, ParameterError> {
        Parameter::decode(self).map_err(|kind| ParameterError { kind, parameter_type: self.parameter_type() })
    }

    /// The value, if it is exactly `N` bytes long.
    pub(super) fn exactly<const N: usize>(&self) -> Result<[u8; N], ParameterErrorKind> {
        <[u8; N]>::try_from(self.value()).map_err(|_| ParameterErrorKind::WrongLength)
    }

    pub(super) fn exactly_u32(&self) -> Result<u32, ParameterErrorKind> {
        self.exactly().map(u32::from_be_bytes)
    }

    /// The first `N` bytes of the value and the rest of it.
    pub(super) fn split<const N: usize>(&self) -> Result<(&'a [u8; N], &'a [u8]), ParameterErrorKind> {
        self.value().split_first_chunk::<N>().ok_or(ParameterErrorKind::WrongLength)
    }

    pub(super) fn list<T: WireItem>(&self, bytes: &'a [u8]) -> Result<List<'a, T>, ParameterErrorKind> {
        List::from_wire(bytes).ok_or(ParameterErrorKind::WrongLength)
    }
}

/// A parameter or cause that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParameterError {
    /// What is wrong.
    pub kind: ParameterErrorKind,
    /// The parameter type or cause code it claims, zero if even that is cut off.
    pub parameter_type: u16,
}

/// What is wrong with a parameter or cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterErrorKind {
    /// The length field is below four or points beyond the chunk. The walk ends here.
    BadLength,
    /// Not a length its type can have.
    WrongLength,
    /// It must wrap an IPv4 or IPv6 Address parameter and does not.
    MissingAddress,
}

impl fmt::Display for ParameterErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadLength => "unusable length field",
            Self::WrongLength => "wrong length for its type",
            Self::MissingAddress => "no address inside",
        })
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter or cause {:#06x}: {}", self.parameter_type, self.kind)
    }
}

impl core::error::Error for ParameterError {}

#[cfg(test)]
#[path = "parameters_tests.rs"]
mod tests;
