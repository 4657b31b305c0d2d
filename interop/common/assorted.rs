//! The content that peers exchange when their stacks do not tell how a message was sent: every size that matters from 1 byte to 256 KiB, ordered
//! messages on even streams, unordered ones on odd streams, on all of them bytes that no other message has.
//!
//! Message `n` of stream `s` has the size `SIZES[(n + s) mod 16]` and the output of SplitMix64 from the seed `s << 32 ^ n`, eight bytes a word,
//! little endian; the payload protocol identifier is one of WebRTC's, which are all that some stacks know. `n` counts from 0 on each stream and in each direction.
//! `interop/pion/content.go` is the same in Go.

use std::collections::BTreeMap;

/// Around what fits in one packet of 1,280 and of 1,500 bytes, around 64 KiB, and what WebRTC promises to carry.
pub const SIZES: [usize; 16] =
    [1, 3, 4, 5, 100, 1000, 1163, 1164, 1200, 1452, 4096, 16384, 65535, 65536, 100_000, 262_144];

/// Whether messages of a stream are sent unordered.
pub const fn is_unordered(stream: u16) -> bool {
    stream % 2 == 1
}

/// The payload protocol identifier of all messages of a stream.
pub fn ppid(stream: u16) -> u32 {
    [53, 51, 57, 56][usize::from(stream % 4)]
}

/// Message number `n` of a stream.
pub fn payload(n: u64, stream: u16) -> Vec<u8> {
    let size = SIZES[((n + u64::from(stream)) % 16) as usize];
    let mut bytes = Vec::with_capacity(size + 8);
    let mut state = u64::from(stream) << 32 ^ n;
    while bytes.len() < size {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(word ^ word >> 31).to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[derive(Debug, Default, Clone)]
struct OfStream {
    messages: u64,
    /// Sums of the hashes of unordered messages: of what came, and of as many as should have come.
    received: u64,
    expected: u64,
}

/// What has arrived.
#[derive(Debug, Default, Clone)]
pub struct Totals {
    /// Messages on all streams.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages with the wrong content, place or payload protocol identifier.
    pub bad: u64,
    streams: BTreeMap<u16, OfStream>,
}

impl Totals {
    /// Judges one message. What arrives unordered is judged by `ok`, when all of it is there.
    pub fn add(&mut self, stream: u16, of_ppid: u32, data: &[u8]) {
        let of = self.streams.entry(stream).or_default();
        let expected = payload(of.messages, stream);
        let mut good = of_ppid == ppid(stream);
        if is_unordered(stream) {
            of.received = of.received.wrapping_add(hash(data));
            of.expected = of.expected.wrapping_add(hash(&expected));
        } else {
            good &= data == expected;
        }
        of.messages += 1;
        self.messages += 1;
        self.bytes += data.len() as u64;
        self.bad += u64::from(!good);
    }

    /// Whether everything that arrived is what had to arrive.
    pub fn ok(&self) -> bool {
        self.bad == 0 && self.streams.values().all(|of| of.received == of.expected)
    }

    /// Streams on which something arrived.
    pub fn streams_seen(&self) -> usize {
        self.streams.len()
    }
}
