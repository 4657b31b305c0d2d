use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

/// What IPv4 addresses are called in a network that has IPv6 alone and translates (NAT64, RFC 6146): these bits, then the address
/// (RFC 6052 §2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Nat64Prefix {
    /// Zero behind the prefix.
    bits: u128,
    length: Length,
}

/// The lengths there are (RFC 6052 §2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Length {
    Bits32 = 32,
    Bits40 = 40,
    Bits48 = 48,
    Bits56 = 56,
    Bits64 = 64,
    Bits96 = 96,
}

/// A prefix that no translator can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotANat64Prefix;

impl Nat64Prefix {
    /// Every length that a prefix can have, in bits.
    pub const LENGTHS: [u8; 6] = [32, 40, 48, 56, 64, 96];

    /// The one that is the same everywhere, for addresses that are global (RFC 6052 §2.1, §3.1).
    pub const WELL_KNOWN: Self =
        Self { bits: Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0).to_bits(), length: Length::Bits96 };

    /// Bits 64 to 71 are zero in all that a translator is asked for (RFC 6052 §2.2).
    const ZERO_OCTET: u128 = 0xff << 56;

    /// The first `length` bits of `address`.
    ///
    /// # Errors
    /// There is no such length, or bits 64 to 71 are not zero (RFC 6052 §2.2).
    pub fn new(address: Ipv6Addr, length: u8) -> Result<Self, NotANat64Prefix> {
        let length = match length {
            32 => Length::Bits32,
            40 => Length::Bits40,
            48 => Length::Bits48,
            56 => Length::Bits56,
            64 => Length::Bits64,
            96 => Length::Bits96,
            _ => return Err(NotANat64Prefix),
        };
        let bits = address.to_bits() & length.mask();
        if bits & Self::ZERO_OCTET == 0 { Ok(Self { bits, length }) } else { Err(NotANat64Prefix) }
    }

    /// The prefix as an address.
    pub const fn address(self) -> Ipv6Addr {
        Ipv6Addr::from_bits(self.bits)
    }

    /// How many bits it has.
    pub const fn length(self) -> u8 {
        self.length as u8
    }

    /// What an IPv4 address is called.
    pub fn synthesise(self, address: Ipv4Addr) -> Ipv6Addr {
        // As if there were no zero octet, and then what is behind it moves on.
        let plain = u128::from(address.to_bits()) << (96 - u32::from(self.length()));
        let embedded = match self.length {
            Length::Bits96 => plain,
            _ => (plain >> 64 << 64) | ((plain & u128::from(u64::MAX)) >> 8),
        };
        Ipv6Addr::from_bits(self.bits | embedded)
    }

    /// The IPv4 address that is called so. What stands behind it means nothing (RFC 6052 §2.2).
    pub fn extract(self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        let bits = address.to_bits();
        if bits & self.length.mask() != self.bits || bits & Self::ZERO_OCTET != 0 {
            return None;
        }
        let plain = match self.length {
            Length::Bits96 => bits,
            _ => (bits >> 64 << 64) | ((bits & u128::from(u64::MAX)) << 8),
        };
        Some(Ipv4Addr::from_bits((plain >> (96 - u32::from(self.length()))) as u32))
    }
}

impl Length {
    const fn mask(self) -> u128 {
        u128::MAX << (128 - self as u32)
    }
}

impl fmt::Display for Nat64Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address(), self.length())
    }
}

impl FromStr for Nat64Prefix {
    type Err = NotANat64Prefix;

    fn from_str(text: &str) -> Result<Self, NotANat64Prefix> {
        let (address, length) = text.split_once('/').ok_or(NotANat64Prefix)?;
        let address: Ipv6Addr = address.parse().map_err(|_| NotANat64Prefix)?;
        let prefix = Self::new(address, length.parse().map_err(|_| NotANat64Prefix)?)?;
        // Bits behind the prefix are a slip of the pen.
        if prefix.address() == address { Ok(prefix) } else { Err(NotANat64Prefix) }
    }
}

impl fmt::Display for NotANat64Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a NAT64 prefix is an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits, such as 2001:db8:64::/96",
        )
    }
}

impl core::error::Error for NotANat64Prefix {}

#[cfg(test)]
#[path = "nat64_prefix_tests.rs"]
mod tests;
