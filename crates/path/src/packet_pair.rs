//! The capacity of a path by packet pairs, measured at the sender alone (b08 section 4.2.2.1): answers to two large packets that have left one
//! behind the other come as far apart as the bottleneck needs for one of them.

use core::time::Duration;

use whimbrel_machine::Instant;

use crate::Estimate;

/// What has come back of a train of six packets: two small ones, two large ones, two small ones.
///
/// A train says nothing if one of its packets or answers is lost, if answers come out of order, or if answers to the large ones are no
/// farther apart than those to either small pair: then something else than the size of the packets has made the distance, be it a way back that is
/// too slow, a host that answers in batches, or other traffic. What is left assumes that no other packet has come between.
#[derive(Clone, Debug)]
pub struct PacketTrain {
    /// Bytes of a large packet, IP header included.
    large: usize,
    /// When the answers came, in their order.
    answers: [Instant; Self::PACKETS],
    answered: usize,
    overtaken: bool,
}

/// What a train has told so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrainNews {
    /// Answers are missing.
    Waiting,
    /// It says nothing: answers are out of order, or not as far apart as they should be.
    Invalid,
    /// The capacity, in bit/s of IP packets.
    Capacity(u64),
}

impl PacketTrain {
    /// Packets of a train.
    pub const PACKETS: usize = 6;

    /// A train that leaves now, with large packets of so many bytes, IP header included.
    pub fn new(large: usize) -> Self {
        Self { large, answers: [Instant::ZERO; Self::PACKETS], answered: 0, overtaken: false }
    }

    /// Whether packet `index`, counted from 0, is a large one.
    pub const fn is_large(index: usize) -> bool {
        matches!(index, 2 | 3)
    }

    /// Packet `index` has been answered. An answer that comes twice is one out of order.
    pub fn on_answer(&mut self, now: Instant, index: usize) -> TrainNews {
        self.overtaken |= index != self.answered;
        let Some(answer) = self.answers.get_mut(index).filter(|_| !self.overtaken) else {
            return TrainNews::Invalid;
        };
        *answer = now;
        self.answered += 1;
        if self.answered < Self::PACKETS { TrainNews::Waiting } else { self.judge() }
    }

    fn judge(&self) -> TrainNews {
        let gap = |second: usize| self.answers[second].saturating_since(self.answers[second - 1]);
        let large = gap(3);
        if large <= gap(1) || large <= gap(5) {
            return TrainNews::Invalid;
        }
        capacity(self.large, large).map_or(TrainNews::Invalid, TrainNews::Capacity)
    }
}

/// Ĉ = P / δ.
fn capacity(bytes: usize, gap: Duration) -> Option<u64> {
    let rate = (bytes as u128 * 8 * 1_000_000_000).checked_div(gap.as_nanos())?;
    u64::try_from(rate).ok()
}

/// The capacity of a path, from what trains have told: the median of the last few, so that one whose packets were driven apart, or together, by other
/// traffic changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    /// The last first.
    samples: [u64; Self::KEPT],
    known: usize,
    at: Option<Instant>,
    trains: u64,
}

impl Capacity {
    const KEPT: usize = 5;

    /// A train leaves.
    pub fn on_train(&mut self) {
        self.trains += 1;
    }

    /// A train has told of so many bit/s.
    pub fn on_sample(&mut self, now: Instant, rate: u64) {
        self.samples.rotate_right(1);
        self.samples[0] = rate;
        self.known = Self::KEPT.min(self.known + 1);
        self.at = Some(now);
    }

    /// Trains so far, whatever they have told.
    pub const fn trains(&self) -> u64 {
        self.trains
    }

    /// What is known; `None` if no train was valid. Of an even number of samples the lesser of the two in the middle.
    pub fn estimate(&self) -> Option<Estimate> {
        let mut sorted = self.samples;
        let known = &mut sorted[..self.known];
        known.sort_unstable();
        let middle = known.len().checked_sub(1)? / 2;
        Some(Estimate { rate: known[middle], at: self.at? })
    }
}

#[cfg(test)]
#[path = "packet_pair_tests.rs"]
mod tests;
