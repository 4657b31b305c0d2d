//! The JSON lines of fact files and fact sockets.

use core::net::IpAddr;

use serde::Deserialize;

use super::{
    Cost, Interface, InterfaceAddress, InterfaceKind, InterfaceProperties, Interfaces, Nat64Prefix,
    ReceivedPower,
};

/// Bytes in a line, at most.
pub(super) const LINE_BYTES_MAX: usize = 4096;

/// Addresses of one interface, at most.
const ADDRESSES_MAX: usize = 32;

/// Bytes in an interface's name, at most: more than any system allows.
const NAME_BYTES_MAX: usize = 32;

/// Stronger than any transmitter next door, and weaker than thermal noise in 1 Hz: no receiver reports more or less.
const SIGNAL_RANGE_DBM: core::ops::RangeInclusive<f64> = -180.0..=60.0;

/// Why a line of link facts was not taken; nothing in it counts then.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{reason}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct LineError {
    /// Which line of the file, counted from 1; `None` for sockets.
    pub line: Option<u64>,
    /// What is wrong with it.
    pub reason: String,
}

/// One line as written.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Line {
    interface: String,
    #[serde(default)]
    gone: bool,
    kind: Option<Kind>,
    up: Option<bool>,
    addresses: Option<Vec<IpAddr>>,
    signal_dbm: Option<f64>,
    metered: Option<bool>,
    bits_per_second: Option<u64>,
    rank: Option<u8>,
    going_down: Option<bool>,
    #[serde(default)]
    handover_complete: bool,
    #[serde(default)]
    selected: bool,
    nat64: Option<Nat64>,
}

/// How a network translates, as lines say it.
#[derive(Clone, Copy, Debug)]
enum Nat64 {
    None,
    Prefix(Nat64Prefix),
}

impl Nat64 {
    fn prefix(self) -> Option<Nat64Prefix> {
        match self {
            Self::None => None,
            Self::Prefix(prefix) => Some(prefix),
        }
    }
}

impl<'de> Deserialize<'de> for Nat64 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "none" => Ok(Self::None),
            prefix => prefix.parse().map(Self::Prefix).map_err(serde::de::Error::custom),
        }
    }
}

/// Kinds of interfaces as lines name them.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Ethernet,
    Wifi,
    Cellular,
    Tunnel,
    Loopback,
}

impl From<Kind> for InterfaceKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Ethernet => Self::Wired,
            Kind::Wifi => Self::WirelessLan,
            Kind::Cellular => Self::Cellular,
            Kind::Tunnel => Self::Tunnel,
            Kind::Loopback => Self::Loopback,
        }
    }
}

/// Takes one line into what is known. Empty lines say nothing.
pub(super) fn apply(known: &mut Interfaces, line: &[u8]) -> Result<(), String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("longer than {LINE_BYTES_MAX} bytes"));
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(());
    }
    let line: Line = serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string().replace(" at line 1 column ", " at column ");
        let hint = if error.is_data() {
            ""
        } else {
            r#"; expected an object like {"interface": "wlan0", "up": true}"#
        };
        format!("{text}{hint}")
    })?;
    line.check()?;
    if line.gone {
        known.0.remove(&line.interface);
        return Ok(());
    }
    if !known.0.contains_key(&line.interface) && known.0.len() >= Interfaces::MAX {
        return Err(format!("more than {} interfaces", Interfaces::MAX));
    }
    line.apply(known);
    Ok(())
}

impl Line {
    fn check(&self) -> Result<(), String> {
        let name = &self.interface;
        let allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'/';
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(allowed) {
            return Err(format!(
                "{name:?} is not an interface's name (1 to {NAME_BYTES_MAX} ASCII characters, no spaces, no slash)"
            ));
        }
        if let Some(signal) = self.signal_dbm
            && !SIGNAL_RANGE_DBM.contains(&signal)
        {
            return Err(format!(
                "a signal of {signal} dBm is impossible; received power lies between -180 and 60"
            ));
        }
        let addresses = self.addresses.as_deref().unwrap_or_default();
        if addresses.len() > ADDRESSES_MAX {
            return Err(format!("more than {ADDRESSES_MAX} addresses on one interface"));
        }
        match addresses.iter().find(|ip| ip.is_unspecified() || ip.is_multicast()) {
            Some(ip) => Err(format!("{ip} is not the address of a host")),
            None => Ok(()),
        }
    }

    fn apply(self, known: &mut Interfaces) {
        let (properties, nat64) = (self.properties(), self.nat64);
        let interface: &mut Interface = known.0.entry(self.interface).or_default();
        interface.up = self.up.or(interface.up);
        interface.properties.going_down &= self.going_down.unwrap_or(true);
        if let Some(Nat64::None) = nat64 {
            interface.properties.nat64 = None;
        }
        interface.properties.merge(&properties);
        if let Some(addresses) = self.addresses {
            interface.addresses =
                addresses.into_iter().map(|ip| InterfaceAddress { ip, asked_for: true }).collect();
        }
    }

    /// What this line alone says.
    fn properties(&self) -> InterfaceProperties {
        let going_down = self.going_down == Some(true);
        InterfaceProperties {
            kind: self.kind.map(InterfaceKind::from),
            signal: self.signal_dbm.map(ReceivedPower::from_dbm),
            rate: self.bits_per_second,
            cost: self.metered.map(|metered| if metered { Cost::Metered } else { Cost::Flat }),
            rank: self.rank,
            going_down,
            warnings: going_down.into(),
            handovers: self.handover_complete.into(),
            orders: self.selected.into(),
            nat64: self.nat64.and_then(Nat64::prefix),
        }
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
