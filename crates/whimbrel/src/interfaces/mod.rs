//! What this host's links are like, as it changes: which interfaces have a carrier and which addresses, how strong their
//! signal is, what they cost.
//!
//! Facts come from [`LinkSource`]s. [`system`] is the operating system's own; on Linux a second one of its own reads how
//! well Wi-Fi cards hear their access points (nl80211). How networks that have IPv6 alone call IPv4 addresses (NAT64) is heard from their
//! routers (RFC 8781), or asked of the resolver (RFC 7050). [`FactFile`] and [`FactSocket`] are for what only the user's own
//! programs know (a modem manager's signal strength, a plan's cost), and for tests. An endpoint is given further ones by
//! [`EndpointBuilder::link_source`](crate::EndpointBuilder::link_source) and merges what they say:
//!
//! - an interface is up if nobody says that it is down;
//! - it has the addresses that anybody says it has;
//! - of its [properties](InterfaceProperties), such as signal, rate, cost and kind, the source added last has the last word.
//!
//! # The lines of fact files and sockets
//!
//! One JSON object per line (per datagram for sockets). What a line does not mention stays as it was.
//!
//! ```text
//! {"interface": "wwan0", "kind": "cellular", "metered": true}
//! {"interface": "wwan0", "signal_dbm": -97.5}
//! {"interface": "wlan0", "up": false}
//! {"interface": "wlan0", "up": true, "addresses": ["192.0.2.7"], "bits_per_second": 54000000}
//! {"interface": "wlan0", "going_down": true}
//! {"interface": "wlan0", "gone": true}
//! {"interface": "wwan0", "rank": 0, "handover_complete": true, "selected": true}
//! {"interface": "wwan0", "nat64": "2001:db8:64::/96"}
//! ```

#[cfg(any(target_os = "linux", target_os = "android"))]
mod advertised_prefixes;
mod board;
mod complaints;
mod fact_file;
#[cfg(unix)]
mod fact_socket;
#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod fake_kernel;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod generic_netlink;
mod interface;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod kernel;
mod line;
#[cfg_attr(any(target_os = "linux", target_os = "android"), allow(dead_code, reason = "for other systems"))]
mod polling;
mod preferences;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod radio;
mod resolver_prefixes;
mod snapshot;
mod source;
mod synthesised_answers;

pub(crate) use board::Board;
pub use fact_file::FactFile;
#[cfg(unix)]
pub use fact_socket::FactSocket;
pub use interface::{Interface, InterfaceAddress, Interfaces, RouteRank};
pub use line::LineError;
pub use preferences::Preferences;
pub(crate) use snapshot::LinkWriter;
pub use source::{LinkSource, LinkSourceError, Publisher, Run};
pub use whimbrel_machine::{
    Cost, InterfaceKind, InterfaceProperties, Nat64Prefix, NotANat64Prefix, ReceivedPower,
};

/// The operating system's own word on links and addresses: rtnetlink on Linux, which tells of changes at once; elsewhere
/// the list of addresses, looked at twice a second.
pub fn system() -> Box<dyn LinkSource> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        Box::new(kernel::Kernel)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        Box::new(polling::Polling::default())
    }
}

/// The operating system's own word on the signal strength of its radios, where it can be had: nl80211 on Linux.
pub(crate) fn radios() -> Option<Box<dyn LinkSource>> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        Some(Box::new(radio::Radio))
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        None
    }
}

/// Whoever knows how networks that have IPv6 alone call IPv4 addresses (NAT64), the best informed last: the resolver (RFC 7050), and on
/// Linux routers (RFC 8781).
pub(crate) fn translators() -> Vec<Box<dyn LinkSource>> {
    let mut sources: Vec<Box<dyn LinkSource>> =
        vec![Box::<resolver_prefixes::ResolverPrefixes<resolver_prefixes::System>>::default()];
    #[cfg(any(target_os = "linux", target_os = "android"))]
    sources.push(Box::new(advertised_prefixes::AdvertisedPrefixes));
    sources
}
