use std::collections::BTreeMap;

use core::net::IpAddr;
use core::num::NonZeroU32;

use whimbrel_machine::{Cost, InterfaceProperties};

/// An address of an interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceAddress {
    /// The address.
    pub ip: IpAddr,
    /// Somebody named this very address, so it is used even if it is a loopback or link-local one.
    pub asked_for: bool,
}

/// How much the system likes a route: default routes before others, then by metric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RouteRank {
    /// Leads to a part of the network only.
    pub specific: bool,
    /// The system's metric, lower is better.
    pub metric: u32,
}

/// What is known of one interface. `None` is what nobody has said.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Interface {
    /// The system's number for it.
    pub index: Option<NonZeroU32>,
    /// Switched on, and with a carrier (RFC 2863: operational status).
    pub up: Option<bool>,
    /// Addresses that can be used, in the order of the system. IPv6 addresses appear here when duplicate address detection
    /// (RFC 4862 §5.4) is done with them.
    pub addresses: Vec<InterfaceAddress>,
    /// The best of its IPv4 routes beyond its own subnet, if it has any: then what leaves from its addresses can leave
    /// through it.
    pub way_out_v4: Option<RouteRank>,
    /// The same for IPv6.
    pub way_out_v6: Option<RouteRank>,
    /// Everything else.
    pub properties: InterfaceProperties,
}

impl Interface {
    /// Whether it can carry anything: up, as far as anybody has said.
    pub fn is_up(&self) -> bool {
        self.up != Some(false)
    }

    /// Whether it is there at all, and not only talked about.
    pub fn is_present(&self) -> bool {
        self.up == Some(true) || (self.is_up() && !self.addresses.is_empty())
    }

    /// Whether anybody has said what it is like, and not only what is wished of it (rank, cost).
    pub fn is_known(&self) -> bool {
        let InterfaceProperties { rank, cost, .. } = self.properties;
        let wished = InterfaceProperties { rank, cost, ..InterfaceProperties::default() };
        *self != Self { properties: wished, ..Self::default() }
    }

    /// The interface's own way beyond its subnet for what leaves from this address.
    pub(crate) fn way_out(&self, ip: IpAddr) -> Option<RouteRank> {
        if ip.is_ipv4() { self.way_out_v4 } else { self.way_out_v6 }
    }

    /// How good its claim is to an address that others have, too; the lesser is the better one: that of an interface that is up, that the user likes more,
    /// that costs nothing, and by which the system would rather leave.
    pub(crate) fn claim(&self, ip: IpAddr) -> impl Ord + Copy + use<> {
        let InterfaceProperties { rank, cost, .. } = self.properties;
        let way_out = self.way_out(ip);
        (!self.is_up(), rank.unwrap_or(u8::MAX), cost == Some(Cost::Metered), way_out.is_none(), way_out)
    }

    /// Adds what another source says, which has the last word.
    fn merge(&mut self, other: &Self) {
        self.index = self.index.or(other.index);
        self.up = match (self.up, other.up) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
        for address in &other.addresses {
            match self.addresses.iter_mut().find(|own| own.ip == address.ip) {
                Some(own) => own.asked_for |= address.asked_for,
                None => self.addresses.push(*address),
            }
        }
        self.way_out_v4 = self.way_out_v4.into_iter().chain(other.way_out_v4).min();
        self.way_out_v6 = self.way_out_v6.into_iter().chain(other.way_out_v6).min();
        self.properties.merge(&other.properties);
    }
}

/// All interfaces by name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Interfaces(pub BTreeMap<String, Interface>);

impl Interfaces {
    /// Interfaces of one source, at most; further ones are left out.
    pub const MAX: usize = 256;

    /// What all sources say together, the last of them having the last word.
    pub(crate) fn merged<'a>(sources: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut merged = Self::default();
        for source in sources {
            for (name, interface) in &source.0 {
                merged.0.entry(name.clone()).or_default().merge(interface);
            }
        }
        merged
    }

    /// The interface that has an address: the one with the best claim to it if there are several.
    pub fn with_address(&self, ip: IpAddr) -> Option<(&str, &Interface)> {
        let holders = self.0.iter().filter(|(_, own)| own.addresses.iter().any(|a| a.ip == ip));
        let (name, holder) = holders.min_by_key(|(_, own)| own.claim(ip))?;
        Some((name, holder))
    }

    /// Each address with the name of the interface that it counts on, as [`Interfaces::with_address`] has it.
    pub(crate) fn holders(&self) -> BTreeMap<IpAddr, &str> {
        let mut best = BTreeMap::new();
        for (name, interface) in &self.0 {
            for address in &interface.addresses {
                let claim = interface.claim(address.ip);
                let (known, holder) = best.entry(address.ip).or_insert((claim, &name[..]));
                if claim < *known {
                    (*known, *holder) = (claim, name);
                }
            }
        }
        best.into_iter().map(|(ip, (_, holder))| (ip, holder)).collect()
    }

    /// Interfaces that have an address which counts on another one though they are up: the name, the address and the other one's name.
    pub(crate) fn unused(&self) -> Vec<(&str, IpAddr, &str)> {
        let holders = self.holders();
        let up = self.0.iter().filter(|(_, interface)| interface.is_present());
        let addresses = up.flat_map(|(name, own)| own.addresses.iter().map(move |a| (&name[..], a.ip)));
        let counts_elsewhere = |(name, ip)| (holders[&ip] != name).then(|| (name, ip, holders[&ip]));
        addresses.filter_map(counts_elsewhere).collect()
    }
}

#[cfg(test)]
#[path = "interface_tests.rs"]
mod tests;
