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

/// The two-ray ground reflection model of radio propagation (c04 formula 1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TwoRayGround {
    /// P_t: transmit power, W.
    pub transmit_power: f64,
    /// G_t: gain of the transmitting antenna.
    pub transmit_gain: f64,
    /// G_r: gain of the receiving antenna.
    pub receive_gain: f64,
    /// h_t: height of the transmitting antenna, m.
    pub transmit_height: f64,
    /// h_r: height of the receiving antenna, m.
    pub receive_height: f64,
    /// L: system loss, 1 for none.
    pub loss: f64,
}

impl TwoRayGround {
    /// What is received at a distance in metres; at the edge of coverage, this is L2-TH.
    pub fn received(&self, distance: f64) -> ReceivedPower {
        let gains = self.transmit_gain * self.receive_gain;
        let heights = self.transmit_height * self.transmit_height * self.receive_height * self.receive_height;
        let square = distance * distance;
        ReceivedPower::from_watts(self.transmit_power * gains * heights / (square * square * self.loss))
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
