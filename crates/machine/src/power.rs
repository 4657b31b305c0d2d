use core::fmt;

/// The strength of a received radio signal.
///
/// Kept in attowatts (10⁻¹⁸ W), so that it compares exactly and is the same on every machine: −120 dBm, below anything that
/// can be received, is a thousand of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ReceivedPower(u64);

impl ReceivedPower {
    /// No signal at all.
    pub const NONE: Self = Self(0);

    /// From attowatts.
    pub const fn from_attowatts(attowatts: u64) -> Self {
        Self(attowatts)
    }

    /// From watts; what is negative or not a number counts as no signal.
    pub fn from_watts(watts: f64) -> Self {
        // The cast saturates, and makes 0 of what is not a number.
        Self((watts * 1e18).round() as u64)
    }

    /// From decibels above one milliwatt, as drivers report it.
    pub fn from_dbm(dbm: f64) -> Self {
        Self::from_watts(1e-3 * 10_f64.powf(dbm / 10.0))
    }

    /// In attowatts.
    pub const fn attowatts(self) -> u64 {
        self.0
    }

    /// In watts.
    pub fn watts(self) -> f64 {
        self.0 as f64 / 1e18
    }

    /// In decibels above one milliwatt; minus infinity without a signal. For people: its last digits may differ between
    /// machines.
    pub fn dbm(self) -> f64 {
        10.0 * (self.watts() * 1e3).log10()
    }

    /// This many times as strong.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self::from_watts(self.watts() * factor)
    }
}

impl fmt::Display for ReceivedPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} dBm", self.dbm())
    }
}

impl fmt::Debug for ReceivedPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:e} W", self.watts())
    }
}

#[cfg(test)]
#[path = "power_tests.rs"]
mod tests;
