//! Captures as a reader sees them who knows pcapng and the Internet's headers, and nothing of the world.
#![allow(dead_code, reason = "each test file uses its part")]

use core::net::Ipv4Addr;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

const ENHANCED_PACKET: u32 = 6;
const OPTION_COMMENT: u16 = 1;

/// Memory that can be read while a world writes to it.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A packet of a capture.
#[derive(Debug)]
pub(crate) struct Packet {
    /// With its IP header.
    pub(crate) bytes: Vec<u8>,
    /// It came in at the end where the capture was taken.
    pub(crate) inbound: bool,
    pub(crate) comments: Vec<String>,
}

impl Shared {
    /// All packets, in their order.
    pub(crate) fn packets(&self) -> Vec<Packet> {
        let file = self.0.lock().unwrap();
        let u32_at = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut rest = &file[..];
        let mut packets = Vec::new();
        while !rest.is_empty() {
            let (block, next) = rest.split_at(u32_at(rest, 4) as usize);
            rest = next;
            if u32_at(block, 0) == ENHANCED_PACKET {
                let length = u32_at(block, 20) as usize;
                assert_eq!(u32_at(block, 24) as usize, length, "captured whole");
                let options = &block[28 + length.next_multiple_of(4)..block.len() - 4];
                packets.push(packet(&block[28..28 + length], options));
            }
        }
        packets
    }
}

fn packet(bytes: &[u8], mut options: &[u8]) -> Packet {
    let mut packet = Packet { bytes: bytes.to_vec(), inbound: false, comments: Vec::new() };
    while let [code, code_high, length, length_high, rest @ ..] = options {
        let length = usize::from(u16::from_le_bytes([*length, *length_high]));
        match u16::from_le_bytes([*code, *code_high]) {
            OPTION_COMMENT => packet.comments.push(String::from_utf8(rest[..length].to_vec()).unwrap()),
            2 => packet.inbound = rest[0] & 3 == 1,
            _ => {}
        }
        options = &rest[length.next_multiple_of(4)..];
    }
    packet
}

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
