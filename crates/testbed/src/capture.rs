use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use whimbrel_wire::Packet;

/// A capture or a trace kept in memory.
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    /// What was written, if it is text.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The chunk types of every SCTP packet captured, in order.
    pub fn sctp_packets(&self) -> Vec<Vec<u8>> {
        let bytes = self.0.lock().unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (mut at, mut packets) = (0, Vec::new());
        while at + 12 <= bytes.len() {
            let (kind, len) = (word(at), word(at + 4));
            if kind == 6 {
                let (start, captured) = (at + 28, word(at + 20));
                // IPv4 and UDP headers come before the SCTP packet.
                let packet = Packet::parse(&bytes[start + 28..start + captured]).unwrap();
                packets.push(packet.chunks().map(|chunk| chunk.unwrap().chunk_type()).collect());
            }
            at += len;
        }
        packets
    }
}
