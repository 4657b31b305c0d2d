use crate::ReceivedPower;

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
    /// Antennas of gain 1 at one height in metres, without a system loss, of which one transmits with so many watts.
    pub const fn plain(transmit_power: f64, height: f64) -> Self {
        let (transmit_height, receive_height) = (height, height);
        Self {
            transmit_power,
            transmit_gain: 1.0,
            receive_gain: 1.0,
            transmit_height,
            receive_height,
            loss: 1.0,
        }
    }

    /// What is received at a distance in metres; at the edge of coverage, this is L2-TH.
    pub fn received(&self, distance: f64) -> ReceivedPower {
        let gains = self.transmit_gain * self.receive_gain;
        let heights = self.transmit_height * self.transmit_height * self.receive_height * self.receive_height;
        let square = distance * distance;
        ReceivedPower::from_watts(self.transmit_power * gains * heights / (square * square * self.loss))
    }
}

#[cfg(test)]
#[path = "propagation_tests.rs"]
mod tests;
