//! XXH64, because the trace hash must be the same on every machine and in every version, and must cost little.

const PRIMES: [u64; 5] = [
    0x9e37_79b1_85eb_ca87,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x85eb_ca77_c2b2_ae63,
    0x27d4_eb2f_1656_67c5,
];

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// XXH64 of `bytes` under `seed`.
pub(crate) fn xxh64(seed: u64, bytes: &[u8]) -> u64 {
    let (mut hash, rest) = stripes(seed, bytes);
    hash = hash.wrapping_add(bytes.len() as u64);
    let mut words = rest.chunks_exact(8);
    for chunk in &mut words {
        hash ^= round(0, word(chunk));
        hash = hash.rotate_left(27).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
    }
    let mut rest = words.remainder();
    if let Some((half, tail)) = rest.split_first_chunk::<4>() {
        hash ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(PRIMES[0]);
        hash = hash.rotate_left(23).wrapping_mul(PRIMES[1]).wrapping_add(PRIMES[2]);
        rest = tail;
    }
    for &byte in rest {
        hash ^= u64::from(byte).wrapping_mul(PRIMES[4]);
        hash = hash.rotate_left(11).wrapping_mul(PRIMES[0]);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(PRIMES[1]);
    hash = (hash ^ (hash >> 29)).wrapping_mul(PRIMES[2]);
    hash ^ (hash >> 32)
}

fn stripes(seed: u64, bytes: &[u8]) -> (u64, &[u8]) {
    if bytes.len() < 32 {
        return (seed.wrapping_add(PRIMES[4]), bytes);
    }
    let mut lanes = [
        seed.wrapping_add(PRIMES[0]).wrapping_add(PRIMES[1]),
        seed.wrapping_add(PRIMES[1]),
        seed,
        seed.wrapping_sub(PRIMES[0]),
    ];
    let mut stripes = bytes.chunks_exact(32);
    for stripe in &mut stripes {
        for (lane, chunk) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
            *lane = round(*lane, word(chunk));
        }
    }
    let mut hash = lanes[0]
        .rotate_left(1)
        .wrapping_add(lanes[1].rotate_left(7))
        .wrapping_add(lanes[2].rotate_left(12))
        .wrapping_add(lanes[3].rotate_left(18));
    for lane in lanes {
        hash = (hash ^ round(0, lane)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
    }
    (hash, stripes.remainder())
}

/// The running fingerprint of everything a world has done.
#[derive(Debug, Default)]
pub(crate) struct TraceHash(u64);

impl TraceHash {
    /// Takes in a few numbers.
    pub(crate) fn numbers(&mut self, numbers: &[u64]) {
        self.0 = numbers.iter().fold(self.0, |hash, &number| round(hash, number).wrapping_add(PRIMES[3]));
    }

    /// Takes in bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0 = xxh64(self.0, bytes);
    }

    pub(crate) const fn value(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
