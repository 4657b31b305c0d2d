use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::{Ecn, IpProtocol, Route};

use crate::offload;

/// The longest payload a datagram can have in any framing: 65,535 less the IPv4 and UDP headers.
pub const MAX_PAYLOAD: usize = 65_535 - 20 - 8;

const PROTOCOL_UDP: u8 = 17;

/// The headers in front of a machine's datagram: IPv4 or IPv6, and UDP if either end has a UDP port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// IPv6 rather than IPv4.
    pub v6: bool,
    /// In UDP (RFC 6951) rather than directly on IP.
    pub udp: bool,
}

impl Framing {
    /// The framing of datagrams on `route`; `None` if its two addresses are of different families.
    pub const fn of(route: &Route) -> Option<Self> {
        let v6 = matches!(route.local.ip(), IpAddr::V6(_));
        if v6 != matches!(route.remote.ip(), IpAddr::V6(_)) {
            return None;
        }
        Some(Self { v6, udp: route.local.port() != 0 || route.remote.port() != 0 })
    }

    /// Bytes of the headers.
    pub const fn header_bytes(self) -> usize {
        (if self.v6 { 40 } else { 20 }) + if self.udp { 8 } else { 0 }
    }
}

const fn ecn_bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotCapable => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::CongestionExperienced => 3,
    }
}

/// Appends the IP packet that carries `payload` from `source` to `destination`, which is in UDP or else what `protocol` says.
/// Nothing if the families differ or the payload is too long to be a packet.
pub(crate) fn write_ip_packet(
    out: &mut Vec<u8>,
    source: SocketAddr,
    destination: SocketAddr,
    ecn: Ecn,
    protocol: IpProtocol,
    payload: &[u8],
) {
    let Some(framing) = Framing::of(&Route { local: source, remote: destination }) else { return };
    if payload.len() > MAX_PAYLOAD {
        return;
    }
    let number = if framing.udp { PROTOCOL_UDP } else { protocol.number() };
    match (source.ip(), destination.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let total = (framing.header_bytes() + payload.len()) as u16;
            let start = out.len();
            out.extend_from_slice(&[0x45, ecn_bits(ecn)]);
            out.extend_from_slice(&total.to_be_bytes());
            // Identification 0 and DF: an atomic datagram (RFC 6864 §4.1).
            out.extend_from_slice(&[0, 0, 0x40, 0, 64, number, 0, 0]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
            let checksum = !fold(sum(0, &out[start..]));
            out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let length = (framing.header_bytes() - 40 + payload.len()) as u16;
            out.extend_from_slice(&[0x60, ecn_bits(ecn) << 4, 0, 0]);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(&[number, 64]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
        }
        _ => return,
    }
    if framing.udp {
        write_udp_header(out, source, destination, payload);
    }
    let start = out.len();
    out.extend_from_slice(payload);
    if !framing.udp {
        let addresses = sum_address(sum_address(0, source.ip()), destination.ip());
        offload::complete(protocol, addresses, &mut out[start..]);
    }
}

fn write_udp_header(out: &mut Vec<u8>, source: SocketAddr, destination: SocketAddr, payload: &[u8]) {
    let length = (8 + payload.len()) as u16;
    let start = out.len();
    for field in [source.port(), destination.port(), length, 0] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    let mut total = u64::from(length) + u64::from(PROTOCOL_UDP);
    total = sum_address(sum_address(total, source.ip()), destination.ip());
    total = sum(sum(total, &out[start..]), payload);
    // Zero would mean "no checksum" (RFC 768).
    let checksum = match !fold(total) {
        0 => 0xffff,
        checksum => checksum,
    };
    out[start + 6..start + 8].copy_from_slice(&checksum.to_be_bytes());
}

fn sum_address(total: u64, address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => sum(total, &address.octets()),
        IpAddr::V6(address) => sum(total, &address.octets()),
    }
}

/// The Internet checksum's running sum (RFC 1071); `bytes` begin at an even offset.
pub(crate) fn sum(total: u64, bytes: &[u8]) -> u64 {
    let words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => u64::from(u16::from_be_bytes([high, low])),
        [high] => u64::from(high) << 8,
        _ => 0,
    });
    total + words.sum::<u64>()
}

pub(crate) const fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total >> 16) + (total & 0xffff);
    }
    total as u16
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
