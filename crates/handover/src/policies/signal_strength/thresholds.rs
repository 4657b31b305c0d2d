use whimbrel_machine::ReceivedPower;

use super::Level;

/// The two thresholds that make levels of signal strengths (c04 section 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thresholds {
    /// L2-TH: the least with which anything can be received.
    pub reception: ReceivedPower,
    /// Primary-TH: below this the primary path is replaced.
    pub primary: ReceivedPower,
}

impl Thresholds {
    /// Which level this is (c04 Table 1).
    pub fn level(&self, power: ReceivedPower) -> Level {
        if power < self.reception {
            Level::None
        } else if power < self.primary {
            Level::Weak
        } else {
            Level::Strong
        }
    }
}

/// The least Primary-TH with which Set-Primary reaches the peer before coverage ends (c04 formula 2): the strength `moved` metres
/// inside a coverage of `range` metres, where `moved` is how far the mobile node gets while Set-Primary travels.
pub fn primary_threshold(reception: ReceivedPower, range: f64, moved: f64) -> ReceivedPower {
    let ratio = (range - moved) / range;
    let square = ratio * ratio;
    ReceivedPower::from_watts(reception.watts() / (square * square))
}

#[cfg(test)]
#[path = "thresholds_tests.rs"]
mod tests;
