use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};

/// The one secret a run starts from; every random decision descends from it by name.
///
/// Two streams with different names (or indices) are independent, and adding a new consumer does not disturb the
/// draws of the others, so a trace stays comparable between versions.
#[derive(Clone)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A seed from 32 bytes, for real use taken from the operating system.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A seed for a simulation: a small number that can be printed and typed again.
    pub fn from_u64(number: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Self(bytes)
    }

    /// The random stream called `name`, number `index`.
    pub fn stream(&self, name: &str, index: u64) -> Rng {
        let mut inner = ChaCha8Rng::from_seed(self.0);
        inner.set_stream(fnv1a(name, index));
        Rng(inner)
    }

    /// An independent seed for a part that has streams of its own, such as host `index`.
    pub fn child(&self, name: &str, index: u64) -> Self {
        let mut bytes = [0; 32];
        self.stream(name, index).fill(&mut bytes);
        Self(bytes)
    }
}

impl core::fmt::Debug for Seed {
    /// Does not show the secret.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// Stream identifiers only need to differ, not to be secret: the key is the seed.
fn fnv1a(name: &str, index: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes().chain(index.to_le_bytes()) {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

/// One random stream. A cryptographic generator (ChaCha8), because verification tags, initial TSNs and heartbeat
/// nonces drawn from it must not be guessable from earlier ones (RFC 9260 §5.3.1, §8.3).
#[derive(Clone)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// 32 uniform bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Fills `out` with uniform bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }

    /// Uniform in `0..bound`; zero if `bound` is zero. The bias is below 2⁻⁶⁴·bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `[0, 1)`, with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with probability `p` (0 never, 1 always).
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniform in `[0, max)`.
    pub fn duration_below(&mut self, max: Duration) -> Duration {
        Duration::from_nanos(self.below(max.as_nanos().min(u128::from(u64::MAX)) as u64))
    }
}

impl core::fmt::Debug for Rng {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Rng(..)")
    }
}

#[cfg(test)]
#[path = "rng_tests.rs"]
mod tests;
