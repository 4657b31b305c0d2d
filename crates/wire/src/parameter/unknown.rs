//! A parameter of a type this crate does not know (RFC 9260 §3.2.1).

use crate::parameter::RawParameter;
use crate::tlv::TLV_HEADER_LEN;
use crate::unknown::UnknownAction;

/// A parameter that is not recognised. Nothing of it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownParameter<'a> {
    /// The type number.
    pub parameter_type: u16,
    /// The parameter, header included and padding excluded, as "Unrecognized Parameter" quotes it
    /// (RFC 9260 §3.2.2).
    pub raw: &'a [u8],
}

impl<'a> UnknownParameter<'a> {
    pub(super) fn decode(raw: &RawParameter<'a>) -> Self {
        Self { parameter_type: raw.parameter_type(), raw: raw.bytes() }
    }

    /// What the sender wants done with a parameter that is not recognised.
    #[must_use]
    pub const fn action(&self) -> UnknownAction {
        let [high, _] = self.parameter_type.to_be_bytes();
        UnknownAction::from_high_bits(high)
    }

    pub(super) fn value(&self) -> &'a [u8] {
        self.raw.get(TLV_HEADER_LEN..).unwrap_or_default()
    }
}
