//! Checksums that machines leave to the network interface, as hosts do with checksum offload: captures show packets as they are
//! beyond it.
use whimbrel_machine::IpProtocol;

use crate::headers::{fold, sum};

const IPV4_WITHOUT_OPTIONS: u8 = 0x45;

/// Completes the checksums of what IP carries between two addresses, whose words add up to `addresses`.
pub(crate) fn complete(protocol: IpProtocol, addresses: u64, payload: &mut [u8]) {
    match protocol {
        IpProtocol::Tcp => complete_tcp(addresses, payload),
        IpProtocol::Ipv4 => complete_ipv4(payload),
        IpProtocol::Sctp | IpProtocol::Simplified(_) => {}
    }
}

/// Adds the pseudo-header (RFC 9293 §3.1) to a checksum that has been made without it, by difference (RFC 1624 §3). So the checksum of a
/// segment in which bits were flipped on the way remains wrong.
fn complete_tcp(addresses: u64, segment: &mut [u8]) {
    let pseudo_header = addresses + u64::from(IpProtocol::Tcp.number()) + segment.len() as u64;
    if let Some([high, low]) = segment.get_mut(16..18) {
        let without = u16::from_be_bytes([*high, *low]);
        [*high, *low] = (!fold(u64::from(!without) + pseudo_header)).to_be_bytes();
    }
}

/// Fills in the header's checksum if nobody has, and completes what is inside.
fn complete_ipv4(packet: &mut [u8]) {
    let Some((header, inside)) = packet.split_first_chunk_mut::<20>() else { return };
    if header[0] != IPV4_WITHOUT_OPTIONS {
        return;
    }
    if header[10..12] == [0; 2] {
        let checksum = !fold(sum(0, header));
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
    if header[9] == IpProtocol::Tcp.number() {
        complete_tcp(sum(0, &header[12..]), inside);
    }
}

#[cfg(test)]
#[path = "offload_tests.rs"]
mod tests;
