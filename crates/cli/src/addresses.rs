//! Addresses on the command line: `IP`, `IP:PORT`, `[IPv6]:PORT`, `IPv6%LINK`, or a host name, several separated by commas.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::str::FromStr;

use anyhow::Context;

use crate::exit::Failure;

/// The UDP port of SCTP inside UDP (RFC 6951).
pub(crate) const UDP_PORT: u16 = whimbrel::SCTP_OVER_UDP_PORT;

/// One address as typed. The port is the UDP encapsulation port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    host: Host,
    port: Option<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Host {
    Ip(IpAddr),
    /// An IPv6 address and the number of the link it belongs to (RFC 4007 §11).
    Scoped(Ipv6Addr, u32),
    Name(String),
    /// All addresses of this host.
    Any,
}

impl Address {
    /// A name with neither a domain nor a port that is not this host's: what a paired host is called.
    pub(crate) fn bare_name(&self) -> Option<&str> {
        let Host::Name(name) = &self.host else { return None };
        let own = rustix::system::uname();
        let ours = name == "localhost" || own.nodename().to_bytes() == name.as_bytes();
        (self.port.is_none() && !ours && !name.contains('.')).then_some(name)
    }

    /// The same with this port, if none was typed.
    pub(crate) fn with_usual_port(self, port: u16) -> Self {
        Self { port: self.port.or(Some(port)), ..self }
    }
}

/// As it may be typed: the same place is the same text, however it was written.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = match &self.host {
            Host::Ip(ip) => ip.to_string(),
            Host::Scoped(ip, link) => format!("{ip}%{}", link_name(*link)),
            Host::Name(name) => name.to_ascii_lowercase(),
            Host::Any => "any".into(),
        };
        match self.port {
            None | Some(UDP_PORT) => f.write_str(&host),
            Some(port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Some(port) => write!(f, "{host}:{port}"),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(ip) = text.parse::<IpAddr>() {
            refuse_compatible(ip, text)?;
            return Ok(Self { host: Host::Ip(ip.to_canonical()), port: None });
        }
        if let Ok(address) = text.parse::<SocketAddrV4>() {
            return Ok(Self { host: Host::Ip((*address.ip()).into()), port: Some(address.port()) });
        }
        let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            // Brackets are for what has colons of its own.
            Some((inner, _)) if !inner.contains(':') => return Err(EXPECTED.into()),
            Some((inner, "")) => (inner, None),
            Some((inner, rest)) => (inner, Some(rest.strip_prefix(':').ok_or(EXPECTED)?)),
            None if text.contains('%') => (text, None),
            None => text.rsplit_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
        };
        let port = match port {
            Some(port) => Some(port.parse().map_err(|_| format!("{port:?} is not a UDP port (0 to 65535)"))?),
            None => None,
        };
        if let Some((ip, link)) = name.split_once('%') {
            let ip = ip.parse().map_err(|_| EXPECTED)?;
            return Ok(Self { host: Host::Scoped(ip, link_number(link)?), port });
        }
        if let Ok(ip) = name.parse::<Ipv6Addr>() {
            return Ok(Self { host: Host::Ip(ip.to_canonical()), port });
        }
        if name == "any" {
            return Ok(Self { host: Host::Any, port });
        }
        let plausible = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
            && !name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if !plausible {
            return Err(EXPECTED.into());
        }
        Ok(Self { host: Host::Name(name.to_owned()), port })
    }
}

/// Nobody has an address that begins with 96 zeros, but for `::` and `::1` (RFC 4291 §2.5.5.1): what looks like one is an
/// address with its port, and without the brackets that tell them apart.
fn refuse_compatible(ip: IpAddr, text: &str) -> Result<(), String> {
    let IpAddr::V6(ip) = ip else { return Ok(()) };
    if ip.is_unspecified() || ip.is_loopback() || ip.octets()[..12] != [0; 12] {
        return Ok(());
    }
    let meant = text.rsplit_once(':').and_then(|(address, port)| {
        let address = if address == ":" { "::" } else { address };
        Some((address.parse::<Ipv6Addr>().ok()?, port.parse::<u16>().ok()?))
    });
    Err(match meant {
        Some((address, port)) => format!("an IPv6 address with a port is written [{address}]:{port}"),
        None => "nobody has such an address".into(),
    })
}

const EXPECTED: &str = "expected IP, IP:UDPPORT, [IPv6]:UDPPORT or a host name";

/// A link by its number or its interface's name.
fn link_number(text: &str) -> Result<u32, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let all = if_addrs::get_if_addrs().map_err(|error| error.to_string())?;
    let found = all.iter().filter(|interface| interface.name == text).find_map(|interface| interface.index);
    found.ok_or_else(|| {
        format!("no interface {text:?} with an address is here; `ip address` shows those there are")
    })
}

/// What a link is called, which it is still when its number is another; the number if nothing has it now.
fn link_name(number: u32) -> String {
    let all = if_addrs::get_if_addrs().unwrap_or_default();
    let found = all.into_iter().find(|interface| interface.index == Some(number));
    found.map_or_else(|| number.to_string(), |interface| interface.name)
}

/// An address of the peer, as an option's value.
pub(crate) fn of_peer(text: &str) -> Result<Address, String> {
    let address: Address = text.parse()?;
    if address.port == Some(0) {
        return Err(format!("UDP port 0 cannot be sent to; leave it out for port {UDP_PORT}"));
    }
    match &address.host {
        Host::Any => Err("this names this host's own addresses; name the peer's, or its host".into()),
        Host::Ip(ip) if ip.is_unspecified() => {
            Err("this stands for this host's own addresses; name the peer's, or its host".into())
        }
        Host::Ip(IpAddr::V6(ip)) if ip.is_unicast_link_local() => Err(format!(
            "a link-local address needs its link: {ip}%eth0, if that is the interface towards the peer"
        )),
        _ => of_host(address),
    }
}

/// An address of this host, as an option's value.
pub(crate) fn of_ours(text: &str) -> Result<Address, String> {
    of_host(text.parse()?)
}

fn of_host(address: Address) -> Result<Address, String> {
    let group = match &address.host {
        Host::Ip(IpAddr::V4(ip)) => ip.is_multicast() || ip.is_broadcast(),
        Host::Ip(IpAddr::V6(ip)) | Host::Scoped(ip, _) => ip.is_multicast(),
        Host::Name(_) | Host::Any => false,
    };
    if group {
        return Err("this is a group's address; SCTP connects two hosts, so name one of a host's own".into());
    }
    Ok(address)
}

/// Addresses, names resolved to all theirs.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// Each once, in the order in which they were named.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Why some names have none.
    pub(crate) unknown: Vec<anyhow::Error>,
}

/// The addresses that there are.
///
/// # Errors
/// None of the names can be resolved.
pub(crate) async fn resolve(addresses: &[Address]) -> anyhow::Result<Resolved> {
    let mut out = Vec::new();
    let mut unknown = Vec::new();
    for address in addresses {
        let port = address.port.unwrap_or(UDP_PORT);
        match &address.host {
            Host::Ip(ip) => out.push(SocketAddr::new(*ip, port)),
            Host::Scoped(ip, link) => out.push(SocketAddrV6::new(*ip, port, 0, *link).into()),
            Host::Any => anyhow::bail!("`any` means this host's own addresses; name the peer's"),
            Host::Name(name) => {
                let found = tokio::net::lookup_host((name.as_str(), port)).await;
                match found.with_context(|| unknown_name(name)) {
                    Ok(found) => out.extend(found),
                    Err(error) => unknown.push(error),
                }
            }
        }
    }
    match unknown.pop() {
        Some(error) if out.is_empty() => Err(error),
        last => {
            Ok(Resolved { addresses: each_once(out), unknown: unknown.into_iter().chain(last).collect() })
        }
    }
}

/// A name without a domain may be a slip for that of a paired host.
fn unknown_name(name: &str) -> String {
    let nor =
        if name.contains('.') { "" } else { ", nor is it the name of a paired host (`whimbrel peers`)" };
    format!("cannot find the address of {name}{nor}")
}

fn each_once(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let mut out: Vec<SocketAddr> = Vec::new();
    for address in addresses {
        if !out.contains(&address) {
            out.push(address);
        }
    }
    out
}

/// Stands for every address of its family that the host has or gets.
const WILDCARDS: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

/// The local addresses to bind as typed, wildcards among them for `any`; `any` if none are typed. On a host that has
/// nothing but itself, `any` includes that.
pub(crate) async fn local(addresses: &[Address], default_port: u16) -> Result<Vec<SocketAddr>, Failure> {
    let port = addresses.iter().find_map(|address| address.port).unwrap_or(default_port);
    if addresses.iter().any(|address| address.port.is_some_and(|other| other != port)) {
        let text = "one endpoint has one UDP port: give the same port to every local address";
        return Err(Failure::Usage(text.into()));
    }
    let mut out: Vec<IpAddr> = Vec::new();
    for address in addresses {
        match address.host {
            Host::Any => out.extend(WILDCARDS),
            _ => {
                let found = resolve(core::slice::from_ref(address)).await?;
                out.extend(found.addresses.iter().map(SocketAddr::ip));
            }
        }
    }
    if addresses.is_empty() {
        out.extend(WILDCARDS);
    }
    if out.iter().any(IpAddr::is_unspecified) {
        out.extend(of_this_host()?.into_iter().filter(IpAddr::is_loopback));
    }
    Ok(with_port(out, port))
}

/// The local addresses to connect from when none are named: the one the system would use towards each destination
/// first, then any other, now or later, so that there is somewhere to move to.
pub(crate) fn towards(remote: &[SocketAddr]) -> anyhow::Result<Vec<SocketAddr>> {
    let mut out: Vec<IpAddr> = Vec::new();
    for &address in remote {
        let any = WILDCARDS[usize::from(address.is_ipv6())];
        // Nothing is sent: connecting a UDP socket only asks the routing table.
        let routed = std::net::UdpSocket::bind((any, 0))
            .and_then(|socket| socket.connect(address).and_then(|()| socket.local_addr()));
        out.extend(routed.ok().map(|local| local.ip()));
    }
    // Of both IP versions: the receiver may have addresses of the other, too, and this host only those tomorrow.
    if remote.iter().any(|address| !address.ip().is_loopback()) {
        out.extend(WILDCARDS);
    }
    if out.is_empty() {
        anyhow::bail!("no route to any of the peer's addresses; is the network up?");
    }
    Ok(with_port(out, 0))
}

/// The same addresses, and any port that is free.
pub(crate) fn on_any_port(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    addresses.iter().map(|address| SocketAddr::new(address.ip(), 0)).collect()
}

/// Each address once, with the port.
fn with_port(ips: Vec<IpAddr>, port: u16) -> Vec<SocketAddr> {
    each_once(ips.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
}

/// Whether this host has any address but those to talk to itself.
pub(crate) fn has_network() -> bool {
    // Where the system does not say, what follows will find out.
    let all = if_addrs::get_if_addrs();
    all.map_or(true, |all| all.iter().any(|one| !one.is_loopback() && !one.is_link_local()))
}

/// Addresses of this host that others can reach: no loopback (unless there is nothing else), no link-local.
pub(crate) fn of_this_host() -> anyhow::Result<Vec<IpAddr>> {
    let interfaces = if_addrs::get_if_addrs().context("cannot list this host's addresses")?;
    let (loopback, others): (Vec<IpAddr>, Vec<IpAddr>) = interfaces
        .iter()
        .map(if_addrs::Interface::ip)
        .filter(|ip| match ip {
            IpAddr::V4(ip) => !ip.is_link_local(),
            IpAddr::V6(ip) => !ip.is_unicast_link_local(),
        })
        .partition(IpAddr::is_loopback);
    Ok(if others.is_empty() { loopback } else { others })
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;
