//! How much a path loses.

/// The share of packets that are lost on a path, smoothed: each packet that has arrived or is lost counts for a 64th of what is known.
///
/// Unlike [`Quality`](crate::Quality), which looks for paths that are too bad to be used, it compares paths that are in use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct LossRate {
    /// In 2⁻³² of all packets.
    share: u32,
}

/// Packets that a packet counts for one of.
const WEIGHT: u32 = 64;
/// As many packets at once leave next to nothing of what was known before.
const MOST: u32 = 16 * WEIGHT;

impl LossRate {
    /// So many packets have arrived.
    pub fn on_arrived(&mut self, packets: u32) {
        for _ in 0..packets.min(MOST) {
            self.share -= self.share.div_ceil(WEIGHT);
        }
    }

    /// So many packets are lost.
    pub fn on_lost(&mut self, packets: u32) {
        for _ in 0..packets.min(MOST) {
            self.share += (u32::MAX - self.share) / WEIGHT;
        }
    }

    /// The share of packets that are lost, in millionths.
    pub fn per_million(self) -> u32 {
        ((u64::from(self.share) * 1_000_000) >> 32) as u32
    }
}

#[cfg(test)]
#[path = "loss_rate_tests.rs"]
mod tests;
