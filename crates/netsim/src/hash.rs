//! The trace hash: the same on every machine and in every version, and cheap beside all else that happens to a packet.
//!
//! Bytes go in as their length and their CRC-32 (that of Ethernet and zip), which crc32fast computes with what the processor has;
//! numbers go in one after the other by a round of XXH64. It is no defence against somebody who looks for collisions. By accident
//! a packet that differs is taken for the same once in 2³² times, and the packets after it would have to differ as luckily.
//! SCTP's own checksum has another polynomial, so a packet does not contain what it is told from others by.

const MULTIPLIER: [u64; 2] = [0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f];
/// So that a zero changes the hash, too.
const ADDEND: u64 = 0x85eb_ca77_c2b2_ae63;

/// The running fingerprint of everything a world has done.
#[derive(Debug)]
pub(crate) enum TraceHash {
    /// So far.
    Kept(u64),
    /// Nobody wants it.
    Forgone,
}

impl TraceHash {
    /// Takes in a few numbers.
    pub(crate) fn numbers(&mut self, numbers: &[u64]) {
        if let Self::Kept(hash) = self {
            *hash = numbers.iter().fold(*hash, |hash, &number| {
                let mixed = hash.wrapping_add(number.wrapping_mul(MULTIPLIER[1])).rotate_left(31);
                mixed.wrapping_mul(MULTIPLIER[0]).wrapping_add(ADDEND)
            });
        }
    }

    /// Takes in bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if let Self::Kept(_) = self {
            self.numbers(&[(bytes.len() as u64) << 32 | u64::from(crc32fast::hash(bytes))]);
        }
    }

    /// 0 if it is not kept.
    pub(crate) const fn value(&self) -> u64 {
        match self {
            Self::Kept(hash) => *hash,
            Self::Forgone => 0,
        }
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
