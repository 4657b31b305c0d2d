//! The file that sets a gateway up.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use whimbrel::secure::PublicKey;
use whimbrel_ufa::sip::{HardwareAddress, SipConfig, Timers, Transport};
use whimbrel_ufa::{Access, ClearSip, GatewayConfig, Order, Patience, Release, Resources};

use crate::plain_settings::{DigestAlgorithm, PlainSipSettings};
use crate::values::{Amount, Range, netmask, parsed, same_network};

/// Addresses that a gateway gives away, at most.
const ADDRESSES_MAX: usize = 4096;

/// Seconds between the questions of this crate's terminals.
pub(crate) const LEAST_SUPERVISION: u32 = 3;

/// For how long a neighbour that was heard keeps its address from being given away.
const HEARD: Duration = Duration::from_secs(60);

/// The whole file.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Where terminals, correspondents and other gateways reach it, on TCP port 5061: its address in its own network.
    pub address: IpAddr,
    /// Where its key is; `None` is where the user's is.
    pub key_file: Option<PathBuf>,
    /// How often a terminal is expected to ask whether it is there, in seconds; one that has asked nothing for four times as long is gone.
    #[serde(default = "supervision")]
    pub supervision: u32,
    /// Its own network.
    pub access: AccessSettings,
    /// What it has for terminals.
    pub resources: ResourceSettings,
    /// The gateways that terminals can go to, or come from.
    #[serde(default)]
    pub gateways: Vec<GatewaySettings>,
    /// Terminals and correspondents.
    #[serde(default)]
    pub hosts: Vec<HostSettings>,
    /// SIP in clear, for agents that are not Whimbrel's; `None` is that nobody is heard so.
    pub plain_sip: Option<PlainSipSettings>,
}

/// Its own network, as a terminal that comes is told of it.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AccessSettings {
    /// The interface that leads there.
    pub interface: String,
    /// Addresses that terminals are given: single ones, and ranges from the first to the last.
    pub addresses: Vec<Range>,
    /// Bits of an address that name the network.
    pub prefix_length: u8,
    /// The name of the network.
    #[serde(default)]
    pub essid: String,
    /// The radio channel.
    #[serde(default)]
    pub channel: u16,
    /// One way to a terminal, in milliseconds, without the time that sending takes.
    #[serde(default)]
    pub delay_ms: f64,
}

/// What it has for terminals.
#[derive(Deserialize, Clone, Copy, PartialEq, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResourceSettings {
    /// bit/s on the air.
    pub throughput: Amount,
    /// bit/s that one terminal is given at most.
    pub per_terminal: Amount,
    /// Bytes that can wait for terminals on their way, all together.
    pub buffer: Amount,
    /// Bytes that can wait for one, even where its bandwidth-delay product is less.
    pub least_buffer: Amount,
}

/// Another gateway.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct GatewaySettings {
    /// What it is called here.
    pub name: String,
    /// Where it is.
    pub address: IpAddr,
    /// By which it is known.
    #[serde(deserialize_with = "parsed")]
    pub key: PublicKey,
}

/// A terminal or a correspondent.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// What it is called here.
    pub name: String,
    /// By which it is known.
    #[serde(deserialize_with = "parsed")]
    pub key: PublicKey,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// It has another form.
    #[error("{}: {place}: {what}", path.display())]
    Form {
        /// Which file.
        path: PathBuf,
        /// The line and the column. What stands there is not shown, as it may be a password.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// What it says contradicts itself.
    #[error("{}: {}", path.display(), faults.join("; "))]
    Faults {
        /// Which file.
        path: PathBuf,
        /// All of it.
        faults: Vec<String>,
    },
}

const fn supervision() -> u32 {
    10
}

impl Settings {
    /// Those in a file.
    ///
    /// # Errors
    /// [`SettingsError`].
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let path = path.to_owned();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => return Err(SettingsError::Unreadable { path, error }),
        };
        let settings: Self = match toml::from_str(&text) {
            Ok(settings) => settings,
            Err(error) => {
                let (place, what) = (place(&text, error.span()), error.message().to_owned());
                return Err(SettingsError::Form { path, place, what });
            }
        };
        let faults = settings.faults();
        if faults.is_empty() { Ok(settings) } else { Err(SettingsError::Faults { path, faults }) }
    }

    /// All that contradicts itself, in sentences.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut unless = |fine: bool, fault: &dyn Fn() -> String| {
            if !fine {
                faults.push(fault());
            }
        };
        let bits = if self.address.is_ipv4() { 32 } else { 128 };
        let access = &self.access;
        unless((1..bits).contains(&access.prefix_length), &|| {
            format!("access.prefix-length: {} is not between 1 and {}", access.prefix_length, bits - 1)
        });
        unless(access.delay_ms.is_finite() && (0.0..=10_000.0).contains(&access.delay_ms), &|| {
            format!("access.delay-ms: {} is not between 0 and 10000", access.delay_ms)
        });
        unless(!access.addresses.is_empty(), &|| "access.addresses: there is none to give away".into());
        let count: u128 = access.addresses.iter().map(|range| range.count()).sum();
        unless(count <= ADDRESSES_MAX as u128, &|| {
            format!(
                "access.addresses: {count} are more than the {ADDRESSES_MAX} that a gateway can give away"
            )
        });
        for range in &access.addresses {
            let here = |address| same_network(address, self.address, access.prefix_length);
            unless(here(range.0) && here(range.1), &|| {
                format!(
                    "access.addresses: {range} is not in the network of {}/{}",
                    self.address, access.prefix_length
                )
            });
            unless(!range.contains(self.address), &|| {
                format!("access.addresses: {range} contains the gateway's own address {}", self.address)
            });
        }
        unless(self.resources.throughput.0 > 0, &|| {
            "resources.throughput: nothing is left for terminals".into()
        });
        unless(self.resources.least_buffer.0 <= self.resources.buffer.0, &|| {
            "resources.least-buffer: it is more than the whole buffer".into()
        });
        unless(self.resources.per_terminal.0 > 0, &|| {
            "resources.per-terminal: no terminal would get anything".into()
        });
        unless(self.supervision >= LEAST_SUPERVISION, &|| {
            format!("supervision: hosts ask every {LEAST_SUPERVISION} s, so that less than that is too short")
        });
        faults.extend(self.faults_of_others());
        faults
    }

    /// What contradicts itself in what is said of other gateways, and of hosts.
    fn faults_of_others(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut unless = |fine: bool, fault: &dyn Fn() -> String| {
            if !fine {
                faults.push(fault());
            }
        };
        let names =
            self.gateways.iter().map(|gateway| &gateway.name).chain(self.hosts.iter().map(|host| &host.name));
        let keys =
            self.gateways.iter().map(|gateway| gateway.key).chain(self.hosts.iter().map(|host| host.key));
        for name in names.clone() {
            let plain = !name.is_empty()
                && name.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
            unless(plain, &|| format!("{name:?} is no name: letters, digits, -, _ and . are"));
        }
        for name in twice(names) {
            unless(false, &|| format!("two entries are called {name}"));
        }
        for key in twice(keys) {
            unless(false, &|| format!("two entries have the key {key}"));
        }
        for other in self.gateways.iter().filter(|other| other.address.is_ipv4() != self.address.is_ipv4()) {
            unless(false, &|| {
                format!(
                    "gateways: {} has the address {}, and this one {}: hosts go from IPv4 to IPv4 and from IPv6 to IPv6",
                    other.name, other.address, self.address
                )
            });
        }
        let gateways: Vec<&str> = self.gateways.iter().map(|gateway| gateway.name.as_str()).collect();
        for fault in self.plain_sip.iter().flat_map(|plain| plain.faults(&gateways)) {
            unless(false, &|| fault.clone());
        }
        for address in twice(self.gateways.iter().map(|gateway| gateway.address).chain([self.address])) {
            unless(false, &|| format!("two gateways have the address {address}"));
        }
        faults
    }

    /// The parts other than gateways and hosts in which it differs from another one.
    pub(crate) fn differs(&self, other: &Self) -> Vec<&'static str> {
        let parts = [
            ("address", self.address == other.address),
            ("key-file", self.key_file == other.key_file),
            ("supervision", self.supervision == other.supervision),
            ("access", self.access == other.access),
            ("resources", self.resources == other.resources),
            ("plain-sip", self.ways_in_clear() == other.ways_in_clear()),
        ];
        parts.into_iter().filter_map(|(name, same)| (!same).then_some(name)).collect()
    }

    /// What is read once.
    fn ways_in_clear(&self) -> Option<(&[DigestAlgorithm], ClearSip)> {
        self.plain_sip.as_ref().map(|plain| (plain.digests.as_slice(), plain.machine()))
    }

    /// As the machine wants it.
    pub(crate) fn machine(&self, mac: HardwareAddress, key: PublicKey) -> GatewayConfig {
        let access = &self.access;
        let Amount(throughput) = self.resources.throughput;
        GatewayConfig {
            address: (self.address, Transport::Tls.port()).into(),
            access: Access {
                mac,
                essid: access.essid.clone(),
                channel: access.channel,
                netmask: netmask(self.address, access.prefix_length),
                addresses: access.addresses.iter().flat_map(|range| range.all()).collect(),
                delay: Duration::from_secs_f64(access.delay_ms / 1e3),
                key: Some(key.to_string()),
            },
            resources: Resources {
                throughput,
                per_terminal: self.resources.per_terminal.0,
                buffer: self.resources.buffer.0,
                least_buffer: self.resources.least_buffer.0,
            },
            order: Order::default(),
            release: Release::AtGrantedRate,
            patience: Patience { heard: HEARD, ..Patience::default() },
            sip: SipConfig {
                transport: Transport::Tls,
                besides: self.plain_sip.as_ref().map(|_| Transport::Udp),
                // UDP besides it has its own.
                timers: Timers::reliable(),
                supervision: Some(Duration::from_secs(self.supervision.into())),
            },
            clear: self.plain_sip.as_ref().map_or_else(ClearSip::default, PlainSipSettings::machine),
        }
    }
}

/// Where that is in a text, as editors count.
fn place(text: &str, span: Option<std::ops::Range<usize>>) -> String {
    let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {}, column {column}", before.matches('\n').count() + 1)
}

/// What is there more than once.
pub(crate) fn twice<T: Ord + Copy>(all: impl Iterator<Item = T>) -> Vec<T> {
    let (mut seen, mut again) = (BTreeSet::new(), BTreeSet::new());
    for one in all {
        if !seen.insert(one) {
            again.insert(one);
        }
    }
    again.into_iter().collect()
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
