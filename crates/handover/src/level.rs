/// Two thresholds instead of one, so that a value that wavers around either changes nothing (b08 section 4.2.1: an
/// aggressive and a conservative one).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hysteresis<T> {
    /// Below this it is low.
    pub low_below: T,
    /// At or above this it is high.
    pub high_from: T,
}

impl<T: PartialOrd> Hysteresis<T> {
    /// Whether it is high, given whether it was.
    pub fn is_high(&self, was_high: bool, value: &T) -> bool {
        if was_high { *value >= self.low_below } else { *value >= self.high_from }
    }
}

#[cfg(test)]
#[path = "level_tests.rs"]
mod tests;
