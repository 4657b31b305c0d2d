//! Addresses on the command line: `IP`, `IP:PORT`, `[IPv6]:PORT`, or a host name, several separated by commas.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use anyhow::Context;

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
    Name(String),
    /// All addresses of this host.
    Any,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(ip) = text.parse() {
            return Ok(Self { host: Host::Ip(ip), port: None });
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self { host: Host::Ip(address.ip()), port: Some(address.port()) });
        }
        if let Some(ip) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            && let Ok(ip) = ip.parse::<Ipv6Addr>()
        {
            return Ok(Self { host: Host::Ip(ip.into()), port: None });
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => {
                let port = port.parse().map_err(|_| format!("{port:?} is not a UDP port (0 to 65535)"))?;
                (name, Some(port))
            }
            None => (text, None),
        };
        if name == "any" {
            return Ok(Self { host: Host::Any, port });
        }
        let plausible = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
            && !name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if !plausible {
            return Err("expected IP, IP:UDPPORT, [IPv6]:UDPPORT or a host name".into());
        }
        Ok(Self { host: Host::Name(name.to_owned()), port })
    }
}

/// The peer's addresses, names resolved to all theirs.
pub(crate) async fn resolve(addresses: &[Address]) -> anyhow::Result<Vec<SocketAddr>> {
    let mut out = Vec::new();
    for address in addresses {
        let port = address.port.unwrap_or(UDP_PORT);
        match &address.host {
            Host::Ip(ip) => out.push(SocketAddr::new(*ip, port)),
            Host::Any => anyhow::bail!("`any` means this host's own addresses; name the peer's"),
            Host::Name(name) => {
                let found = tokio::net::lookup_host((name.as_str(), port)).await;
                out.extend(found.with_context(|| format!("cannot find the address of {name}"))?);
            }
        }
    }
    let mut seen = Vec::new();
    out.retain(|address| {
        !seen.contains(address) && {
            seen.push(*address);
            true
        }
    });
    Ok(out)
}

/// Stands for every address of its family that the host has or gets.
const WILDCARDS: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

/// The local addresses to bind as typed, wildcards among them for `any`; `any` if none are typed. On a host that has
/// nothing but itself, `any` includes that.
pub(crate) async fn local(addresses: &[Address], default_port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    let port = addresses.iter().find_map(|address| address.port).unwrap_or(default_port);
    if addresses.iter().any(|address| address.port.is_some_and(|other| other != port)) {
        anyhow::bail!("one endpoint has one UDP port: give the same port to every local address");
    }
    let mut out: Vec<IpAddr> = Vec::new();
    for address in addresses {
        match address.host {
            Host::Any => out.extend(WILDCARDS),
            _ => out.extend(resolve(core::slice::from_ref(address)).await?.iter().map(SocketAddr::ip)),
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

/// Each address once, with the port.
fn with_port(ips: Vec<IpAddr>, port: u16) -> Vec<SocketAddr> {
    let mut out: Vec<SocketAddr> = Vec::new();
    for ip in ips {
        let address = SocketAddr::new(ip, port);
        if !out.contains(&address) {
            out.push(address);
        }
    }
    out
}

/// Addresses of this host that others can reach: no loopback (unless there is nothing else), no link-local.
fn of_this_host() -> anyhow::Result<Vec<IpAddr>> {
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
