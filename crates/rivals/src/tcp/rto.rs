use core::time::Duration;

/// Retransmission timeout parameters (RFC 6298).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoConfig {
    /// Before the first measurement (RFC 6298 §2.1: 1 s; RFC 2988: 3 s).
    pub initial: Duration,
    /// The least value (RFC 6298 §2.4: 1 s; many stacks: 200 ms).
    pub min: Duration,
    /// The greatest value (RFC 6298 §2.5: at least 60 s).
    pub max: Duration,
    /// Clock granularity, G.
    pub granularity: Duration,
}

impl Default for RtoConfig {
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(1),
            min: Duration::from_secs(1),
            max: Duration::from_secs(60),
            granularity: Duration::from_millis(1),
        }
    }
}

/// The retransmission timeout of a connection (RFC 6298).
#[derive(Debug)]
pub(crate) struct Rto {
    config: RtoConfig,
    /// SRTT and RTTVAR.
    smoothed: Option<(Duration, Duration)>,
    value: Duration,
}

impl Rto {
    pub(crate) const fn new(config: RtoConfig) -> Self {
        Self { config, smoothed: None, value: config.initial }
    }

    /// A round-trip time was measured, on a segment that was sent once (RFC 6298 §3).
    pub(crate) fn on_measurement(&mut self, rtt: Duration) {
        let (srtt, rttvar) = match self.smoothed {
            None => (rtt, rtt / 2),
            Some((srtt, rttvar)) => ((srtt * 7 + rtt) / 8, (rttvar * 3 + srtt.abs_diff(rtt)) / 4),
        };
        self.smoothed = Some((srtt, rttvar));
        let value = srtt + (rttvar * 4).max(self.config.granularity);
        self.value = value.clamp(self.config.min, self.config.max);
    }

    /// The timer has expired (RFC 6298 §5.5). The value stays until the next measurement, as §5.7 has it.
    pub(crate) fn back_off(&mut self) {
        self.value = (self.value * 2).min(self.config.max);
    }

    pub(crate) const fn value(&self) -> Duration {
        self.value
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.smoothed.map(|(srtt, _)| srtt)
    }
}

#[cfg(test)]
#[path = "rto_tests.rs"]
mod tests;
