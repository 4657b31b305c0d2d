use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use whimbrel_wire::Packet;

const ENHANCED_PACKET: u32 = 6;
const OPTION_COMMENT: u16 = 1;
const OPTION_FLAGS: u16 = 2;

/// A capture or a trace kept in memory, which can be read while it is written.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A packet of a capture, to a reader who knows pcapng and nothing of the world.
#[derive(Debug)]
pub struct Captured {
    /// With its IP header.
    pub bytes: Vec<u8>,
    /// It came in at the end where the capture was taken.
    pub inbound: bool,
    /// What the capture says about it.
    pub comments: Vec<String>,
}

impl Memory {
    /// What was written.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    /// What was written, if it is text.
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    /// All packets of a capture, in their order.
    pub fn packets(&self) -> Vec<Captured> {
        let file = self.bytes();
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
                packets.push(Captured::read(&block[28..28 + length], options));
            }
        }
        packets
    }

    /// The chunk types of every SCTP packet captured over IPv4 and UDP, in order.
    pub fn sctp_packets(&self) -> Vec<Vec<u8>> {
        let chunk_types = |captured: Captured| {
            let packet = Packet::parse(&captured.bytes[28..]).unwrap();
            packet.chunks().map(|chunk| chunk.unwrap().chunk_type()).collect()
        };
        self.packets().into_iter().map(chunk_types).collect()
    }
}

impl Captured {
    fn read(bytes: &[u8], mut options: &[u8]) -> Self {
        let mut packet = Self { bytes: bytes.to_vec(), inbound: false, comments: Vec::new() };
        while let [code, code_high, length, length_high, rest @ ..] = options {
            let length = usize::from(u16::from_le_bytes([*length, *length_high]));
            match u16::from_le_bytes([*code, *code_high]) {
                OPTION_COMMENT => packet.comments.push(String::from_utf8(rest[..length].to_vec()).unwrap()),
                OPTION_FLAGS => packet.inbound = rest[0] & 3 == 1,
                _ => {}
            }
            options = &rest[length.next_multiple_of(4)..];
        }
        packet
    }
}
