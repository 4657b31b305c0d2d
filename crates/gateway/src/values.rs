//! What the file of a gateway is made of: ranges of addresses, amounts with units, masks.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// Addresses from the first to the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range(pub IpAddr, pub IpAddr);

/// A number with a decimal or binary unit, as `20M` or `64Ki`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Amount(pub u64);

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

pub(crate) fn same_network(one: IpAddr, other: IpAddr, prefix_length: u8) -> bool {
    let bits = if one.is_ipv4() { 32 } else { 128 };
    one.is_ipv4() == other.is_ipv4()
        && number(one).checked_shr(bits - u32::from(prefix_length.min(bits as u8)))
            == number(other).checked_shr(bits - u32::from(prefix_length.min(bits as u8)))
}

/// The mask of so many bits, of the family of `like`.
pub(crate) fn netmask(like: IpAddr, prefix_length: u8) -> IpAddr {
    let prefix = u32::from(prefix_length);
    match like {
        IpAddr::V4(_) => IpAddr::V4(u32::MAX.checked_shl(32 - prefix.min(32)).unwrap_or(0).into()),
        IpAddr::V6(_) => IpAddr::V6(u128::MAX.checked_shl(128 - prefix.min(128)).unwrap_or(0).into()),
    }
}

/// The bits of a mask; `None` if it is none.
pub(crate) fn prefix_length(mask: IpAddr) -> Option<u8> {
    let (ones, rest) = match mask {
        IpAddr::V4(mask) => (
            mask.to_bits().leading_ones(),
            u128::from(mask.to_bits().checked_shl(mask.to_bits().leading_ones()).unwrap_or(0)),
        ),
        IpAddr::V6(mask) => (
            mask.to_bits().leading_ones(),
            mask.to_bits().checked_shl(mask.to_bits().leading_ones()).unwrap_or(0),
        ),
    };
    (rest == 0).then(|| u8::try_from(ones).ok()).flatten()
}

impl Range {
    pub(crate) fn count(&self) -> u128 {
        number(self.1).saturating_sub(number(self.0)).saturating_add(1)
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.0.is_ipv4() && (number(self.0)..=number(self.1)).contains(&number(address))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = IpAddr> + use<> {
        let v4 = self.0.is_ipv4();
        (number(self.0)..=number(self.1)).map(move |number| {
            if v4 { IpAddr::V4((number as u32).into()) } else { IpAddr::V6(number.into()) }
        })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == self.1 { write!(f, "{}", self.0) } else { write!(f, "{}-{}", self.0, self.1) }
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let address = |text: &str| {
            let text = text.trim();
            text.parse::<IpAddr>().map_err(|_| format!("{text:?} is not an IP address"))
        };
        let range = Self(address(first)?, address(last)?);
        if range.0.is_ipv4() != range.1.is_ipv4() || number(range.0) > number(range.1) {
            return Err(format!("{text:?} is no range: give the first and the last address"));
        }
        Ok(range)
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, u64); 6] = [
            ("Ki", 1 << 10),
            ("Mi", 1 << 20),
            ("Gi", 1 << 30),
            ("k", 1000),
            ("M", 1_000_000),
            ("G", 1_000_000_000),
        ];
        let unit = UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
        let (digits, unit) = unit.unwrap_or((text, 1));
        let amount = digits.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        amount.map(Self).ok_or_else(|| format!("{text:?} is no amount: give a number such as 20M or 64Ki"))
    }
}

pub(crate) fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(
    deserializer: D,
) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer)
    }
}

/// As a text with a unit, or as a plain number.
impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "an amount: a number, or a text such as \"20M\" or \"64Ki\"")]
        enum Either {
            Number(u64),
            Text(String),
        }
        match Either::deserialize(deserializer)? {
            Either::Number(number) => Ok(Self(number)),
            Either::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}
