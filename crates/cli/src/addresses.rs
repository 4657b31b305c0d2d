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

/// The local addresses to bind for `listen`; all of the host's if it is empty or a wildcard.
pub(crate) async fn local(addresses: &[Address], default_port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    let port = addresses.iter().find_map(|address| address.port).unwrap_or(default_port);
    let mut out = Vec::new();
    let all = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let typed: Vec<IpAddr> = match addresses {
        [] => all.to_vec(),
        typed => resolve(typed).await?.iter().map(SocketAddr::ip).collect(),
    };
    for ip in typed {
        if ip.is_unspecified() {
            out.extend(of_this_host()?.into_iter().filter(|own| own.is_ipv4() == ip.is_ipv4()));
        } else {
            out.push(ip);
        }
    }
    let mut seen = Vec::new();
    out.retain(|ip| {
        !seen.contains(ip) && {
            seen.push(*ip);
            true
        }
    });
    if out.is_empty() {
        anyhow::bail!("this host has no usable address; name one");
    }
    for address in addresses {
        if address.port.is_some_and(|other| other != port) {
            anyhow::bail!("one endpoint has one UDP port: give the same port to every local address");
        }
    }
    Ok(out.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
}

/// The local addresses to connect from when none are named: the one the system would use towards each destination
/// first, then the host's others of the same families, so that there is somewhere to move to.
pub(crate) fn towards(remote: &[SocketAddr]) -> anyhow::Result<Vec<SocketAddr>> {
    let mut out: Vec<IpAddr> = Vec::new();
    let mut add = |ip: IpAddr| {
        if !out.contains(&ip) {
            out.push(ip);
        }
    };
    for &address in remote {
        let any: IpAddr =
            if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        // Nothing is sent: connecting a UDP socket only asks the routing table.
        let routed = std::net::UdpSocket::bind((any, 0))
            .and_then(|socket| socket.connect(address).and_then(|()| socket.local_addr()));
        if let Ok(local) = routed {
            add(local.ip());
        }
    }
    if remote.iter().any(|address| !address.ip().is_loopback()) {
        for ip in of_this_host()? {
            if remote.iter().any(|address| address.is_ipv4() == ip.is_ipv4()) {
                add(ip);
            }
        }
    }
    if out.is_empty() {
        anyhow::bail!("no route to any of the peer's addresses; is the network up?");
    }
    Ok(out.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect())
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
