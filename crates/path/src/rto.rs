//! The retransmission timeout of one path (RFC 9260 §6.3).

use core::time::Duration;

/// Retransmission timeout parameters (RFC 9260 §6.3.1, §16).
#[derive(Clone, Debug)]
pub struct RtoConfig {
    /// RTO.Initial.
    pub initial: Duration,
    /// RTO.Min.
    pub min: Duration,
    /// RTO.Max.
    pub max: Duration,
    /// G, the clock granularity of RFC 9260 §6.3.1: RTTVAR never falls below it. Timers here are exact to the nanosecond; a
    /// coarser G keeps the RTO of a path with a steady round-trip time that far above it, as a coarse clock does.
    pub granularity: Duration,
    /// What becomes of the first measurement when there is a second.
    pub first: FirstMeasurement,
}

impl RtoConfig {
    /// The defaults of RFC 9260 §16.
    pub fn rfc() -> Self {
        Self {
            initial: Duration::from_secs(1),
            min: Duration::from_secs(1),
            max: Duration::from_secs(60),
            granularity: Duration::from_nanos(1),
            first: FirstMeasurement::Smoothed,
        }
    }
}

/// What the first round trip that is measured on a path counts once there is a second one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FirstMeasurement {
    /// It is smoothed with the others (RFC 9260 §6.3.1 C3).
    #[default]
    Smoothed,
    /// It is forgotten if the second is shorter by more than a quarter, which is the first then (C2): the first packet may have waited for a
    /// link-layer address to be found, or for a radio to wake, which takes a round trip or more. With C3 the RTO of a path that is seldom measured
    /// would be several times too long for minutes.
    Superseded,
}

/// Longer measurements are cut to this (36 years), which keeps every sum below inside 64 bits.
const LONGEST: u64 = 1 << 60;

/// SRTT, RTTVAR and RTO of one path.
///
/// It does not know which acknowledgements may be measured. That is up to whoever calls
/// [`on_measurement`](Self::on_measurement): nothing retransmitted (Karn's rule, C5), at most one measurement per
/// round trip (C4).
#[derive(Clone, Debug)]
pub struct Rto {
    smoothed: Option<Smoothed>,
    current: u64,
    initial: u64,
    min: u64,
    max: u64,
    granularity: u64,
    first: FirstMeasurement,
    /// Whether `smoothed` is of a single measurement.
    single: bool,
    /// The next measurement counts as the first.
    anew: bool,
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Smoothed {
    srtt: u64,
    rttvar: u64,
}

impl Rto {
    /// RTO.Initial until something is measured (C1). Expects a valid `config`: min ≤ initial ≤ max.
    pub fn new(config: &RtoConfig) -> Self {
        let initial = nanos(config.initial);
        Self {
            smoothed: None,
            current: initial,
            initial,
            min: nanos(config.min),
            max: nanos(config.max),
            granularity: nanos(config.granularity),
            first: config.first,
            single: false,
            anew: false,
        }
    }

    /// Takes in a round-trip time (C2, C3). Ends any backing off, as the result replaces the RTO.
    pub fn on_measurement(&mut self, rtt: Duration) {
        let rtt = nanos(rtt);
        let superseded = self.first == FirstMeasurement::Superseded && self.single;
        let anew = core::mem::take(&mut self.anew);
        let kept = self.smoothed.filter(|first| !anew && (!superseded || rtt >= first.srtt / 4 * 3));
        self.single = kept.is_none();
        let (srtt, rttvar) = match kept {
            None => (rtt, rtt / 2),
            // RTO.Alpha is 1/8 and RTO.Beta 1/4 (§16); RTTVAR is updated with the old SRTT.
            Some(Smoothed { srtt, rttvar }) => ((7 * srtt + rtt) / 8, (3 * rttvar + srtt.abs_diff(rtt)) / 4),
        };
        let smoothed = Smoothed { srtt, rttvar: rttvar.max(self.granularity) };
        self.smoothed = Some(smoothed);
        self.current = self.computed(smoothed);
    }

    /// The path works again after an outage. What was measured last may have lain with a host that was suspended for all that time, and the path may
    /// be another one: the next measurement counts as the first (C2).
    pub fn on_return(&mut self) {
        self.anew = true;
    }

    /// From now on these stand for RTO.Min and RTO.Max. What is backed off stays so.
    pub fn set_bounds(&mut self, min: Duration, max: Duration) {
        let computes = self.smoothed.is_some() && !self.is_backed_off();
        (self.min, self.max) = (nanos(min), nanos(max));
        let timeout = if computes { nanos(self.without_back_off()) } else { self.current };
        self.current = timeout.max(self.min).min(self.max);
    }

    /// Takes over a timeout known by other means, kept within RTO.Min and RTO.Max; the next measurement replaces it.
    pub fn install(&mut self, rto: Duration) {
        self.current = nanos(rto).clamp(self.min, self.max);
    }

    /// Doubles the RTO, up to RTO.Max (RFC 9260 §6.3.3 E2).
    pub fn back_off(&mut self) {
        self.current = (self.current * 2).min(self.max);
    }

    /// Whether a timeout has doubled it since the last measurement.
    pub fn is_backed_off(&self) -> bool {
        self.current() > self.without_back_off()
    }

    /// Ends any backing off: what the timeouts told holds no more.
    pub fn forget_back_off(&mut self) {
        self.current = self.smoothed.map_or(self.initial, |smoothed| self.computed(smoothed));
    }

    /// The timeout to use now, backing off included.
    #[inline]
    pub fn current(&self) -> Duration {
        Duration::from_nanos(self.current)
    }

    /// The timeout as it would be without any backing off.
    pub fn without_back_off(&self) -> Duration {
        Duration::from_nanos(self.smoothed.map_or(self.initial, |smoothed| self.computed(smoothed)))
    }

    /// The smoothed round-trip time, if anything was measured.
    pub fn srtt(&self) -> Option<Duration> {
        self.smoothed.map(|smoothed| Duration::from_nanos(smoothed.srtt))
    }

    /// Two smoothed round trips (RFC 8985 §7.2), or as much as round trips vary (C3) if that is more; `None` before anything is measured.
    pub fn probe_timeout(&self) -> Option<Duration> {
        let Smoothed { srtt, rttvar } = self.smoothed?;
        Some(Duration::from_nanos((2 * srtt).max(srtt + 4 * rttvar)))
    }

    /// When an answer is overdue, after the sending (RFC 9002 §6.2.1): a round trip, be it the smoothed or the `latest` one, and as much as
    /// round trips vary, or `granularity` if that is more; `None` before anything is measured.
    pub fn overdue(&self, latest: Duration, granularity: Duration) -> Option<Duration> {
        let Smoothed { srtt, rttvar } = self.smoothed?;
        Some(Duration::from_nanos(srtt.max(nanos(latest)) + (4 * rttvar).max(nanos(granularity))))
    }

    /// Longer than almost every round trip: C3 without the bounds of C6 and C7; `None` before anything is measured.
    pub fn long_round_trip(&self) -> Option<Duration> {
        let Smoothed { srtt, rttvar } = self.smoothed?;
        Some(Duration::from_nanos(srtt + 4 * rttvar))
    }

    /// C3 with the bounds of C6 and C7.
    fn computed(&self, smoothed: Smoothed) -> u64 {
        (smoothed.srtt + 4 * smoothed.rttvar).max(self.min).min(self.max)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(LONGEST).min(LONGEST)
}

#[cfg(test)]
#[path = "rto_tests.rs"]
mod tests;
