//! What is in captures, to a reader who knows the headers of the Internet and nothing of the world.

use core::net::Ipv4Addr;

/// What is inside an IPv4 packet, whose header must be right: protocol, addresses, and the rest.
pub(crate) fn open_ipv4(packet: &[u8]) -> (u8, [Ipv4Addr; 2], &[u8]) {
    assert_eq!(packet[0], 0x45);
    assert_eq!(usize::from(u16::from_be_bytes([packet[2], packet[3]])), packet.len());
    assert_eq!(add_up(0, &packet[..20]), 0xffff, "the header's checksum");
    let address = |at: usize| Ipv4Addr::new(packet[at], packet[at + 1], packet[at + 2], packet[at + 3]);
    (packet[9], [address(12), address(16)], &packet[20..])
}

/// Whether a TCP segment's checksum is right between these addresses (RFC 9293 §3.1).
pub(crate) fn tcp_is_right(addresses: [Ipv4Addr; 2], segment: &[u8]) -> bool {
    let pseudo_header =
        addresses.iter().fold(6 + segment.len() as u64, |sum, address| sum_words(sum, &address.octets()));
    add_up(pseudo_header, segment) == 0xffff
}

fn sum_words(sum: u64, bytes: &[u8]) -> u64 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
    sum + bytes.chunks(2).map(word).sum::<u64>()
}

fn add_up(sum: u64, bytes: &[u8]) -> u64 {
    let mut sum = sum_words(sum, bytes);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}
