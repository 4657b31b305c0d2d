use std::collections::VecDeque;

use whimbrel_machine::{Ecn, Route};

/// Bytes of the headers of an IPv4 packet.
const IPV4_HEADER: u64 = 20;

/// Packets that wait for a terminal, in the order in which they came, up to so many bytes.
#[derive(Debug)]
pub(super) struct HoldingBuffer {
    limit: u64,
    bytes: u64,
    packets: VecDeque<Held>,
    /// Packets for which there was no room.
    pub(super) dropped: u64,
}

/// A packet that waits.
#[derive(Debug)]
pub(super) struct Held {
    /// By which it goes on.
    pub(super) route: Route,
    pub(super) ecn: Ecn,
    pub(super) bytes: Vec<u8>,
}

impl HoldingBuffer {
    /// Room for IP packets of so many bytes together.
    pub(super) const fn new(limit: u64) -> Self {
        Self { limit, bytes: 0, packets: VecDeque::new(), dropped: 0 }
    }

    /// Keeps a packet if there is room; whatever came before it keeps its place.
    pub(super) fn hold(&mut self, route: Route, ecn: Ecn, bytes: &[u8]) {
        let size = IPV4_HEADER + bytes.len() as u64;
        if self.bytes + size > self.limit {
            self.dropped += 1;
            return;
        }
        self.bytes += size;
        self.packets.push_back(Held { route, ecn, bytes: bytes.to_vec() });
    }

    /// What has come first, and its size with an IP header, in bytes.
    pub(super) fn release(&mut self) -> Option<(Held, u64)> {
        let held = self.packets.pop_front()?;
        let size = IPV4_HEADER + held.bytes.len() as u64;
        self.bytes -= size;
        Some((held, size))
    }

    /// Packets that wait.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Bytes that wait.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
