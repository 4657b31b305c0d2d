use core::time::Duration;

use whimbrel_machine::Instant;

use super::windows::{SLOW_START_LIMIT, Windows};
use super::{Acked, CongestionControl, ControllerFactory, NewPath, smoothed};

/// β of RFC 9438 §4.6 is BETA / 10.
const BETA: usize = 7;
/// Windows that grow by parts of a byte are kept in units of 2⁻¹⁶ bytes.
const FRACTION_BITS: u32 = 16;
/// Longer epochs, in µs, change nothing: the cubic function is beyond every window long before.
const LONGEST_US: i128 = 10_000_000_000;

/// CUBIC (RFC 9438): after a loss the window comes back to what it was along a cubic function of time, rests there, and then looks for
/// more, ever faster. On long paths it is there long before Reno would be, and on short ones it is no slower.
///
/// Sizes are bytes, not segments. All arithmetic is in integers, so that a run is the same on every machine. Where the RFC leaves room:
///
/// - Windows shrink to 4 packets at least, as RFC 9260 §7.2.3 has it, and the window that is reduced is cwnd, as there: it only grows when it
///   is in full use (RFC 9438 §4.6 would take the flight size).
/// - Time in which the window is not in full use is no part of the epoch (RFC 9438 §4.2, RFC 9438 §5.8), nor is Fast Recovery: the epoch begins after it.
/// - A window that was installed, restored after a loss that was none (RFC 9438 §4.9) or decayed while idle begins an epoch of its own.
/// - C is 0.4 (RFC 9438 §5.1).
#[derive(Clone, Debug)]
pub struct Cubic {
    windows: Windows,
    /// W_max in bytes; 0 if no loss has shown one since the last timeout.
    w_max: usize,
    /// cwnd when it was last reduced: cwnd_prior.
    prior: usize,
    epoch: Option<Epoch>,
    /// Smoothed.
    round_trip: Option<Duration>,
    /// Growth that does not make a byte yet, in 2⁻¹⁶ bytes.
    fraction: u128,
}

/// Makes [`Cubic`] controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubicParameters {
    /// L of RFC 9260 §7.2.1: slow start grows by at most this many full chunks per SACK; at least 1.
    pub slow_start_limit: u32,
}

impl Default for CubicParameters {
    /// What hosts that move have.
    fn default() -> Self {
        Self { slow_start_limit: SLOW_START_LIMIT }
    }
}

impl ControllerFactory for CubicParameters {
    fn controller(&self, path: &NewPath) -> Box<dyn CongestionControl> {
        Box::new(Cubic::new(path, *self))
    }

    fn validate(&self) -> Result<(), &'static str> {
        Windows::validate(self.slow_start_limit)
    }
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it would have begun if the window had been in full use ever since.
    start: Instant,
    /// When something was last acknowledged.
    last: Instant,
    /// K, µs.
    k_us: u64,
    /// The plateau in bytes.
    w_max: usize,
    /// What Reno's window would be (RFC 9438 §4.3), in 2⁻¹⁶ bytes.
    w_est: u128,
}

impl Epoch {
    fn new(now: Instant, cwnd: usize, w_max: usize, mss: usize) -> Self {
        let w_max = w_max.max(cwnd);
        let w_est = (cwnd as u128) << FRACTION_BITS;
        Self { start: now, last: now, k_us: k_us(w_max - cwnd, mss), w_max, w_est }
    }

    /// W_cubic in bytes, `time` after the beginning (RFC 9438 §4.2, Figure 1).
    fn w_cubic(&self, time: Duration, mss: usize) -> usize {
        let time = i128::try_from(time.as_micros()).unwrap_or(i128::MAX).min(LONGEST_US);
        let distance = time - i128::from(self.k_us);
        // 0.4 segments/s³ are 2·mss / 5·10¹⁸ bytes/µs³.
        let grown = distance.pow(3) * 2 * mss as i128 / 5_000_000_000_000_000_000;
        usize::try_from((self.w_max as i128 + grown).max(0)).unwrap_or(usize::MAX)
    }

    /// RFC 9438 §4.3, Figure 4: α is 3·(1 − β)/(1 + β) = 9/17 until the window is again what it was, and then 1.
    fn grow_estimate(&mut self, acked: usize, cwnd: usize, prior: usize, mss: usize) {
        let (numerator, denominator) =
            if self.w_est < (prior as u128) << FRACTION_BITS { (9, 17) } else { (1, 1) };
        let grown =
            ((acked as u128 * mss as u128 * numerator) << FRACTION_BITS) / (denominator * cwnd as u128);
        self.w_est = self.w_est.saturating_add(grown);
    }
}

/// K in µs: how long the window takes to come back by `lack` bytes (RFC 9438 §4.2, Figure 2).
fn k_us(lack: usize, mss: usize) -> u64 {
    // The cube root of (lack / mss) / 0.4 s³, in µs.
    cube_root(lack as u128 * 5_000_000_000_000_000_000 / (2 * mss.max(1) as u128))
}

/// The largest integer whose cube is no more than `x`: Newton's method from above.
fn cube_root(x: u128) -> u64 {
    if x == 0 {
        return 0;
    }
    let mut root = 1_u128 << (128 - x.leading_zeros()).div_ceil(3);
    loop {
        let next = (2 * root + x / (root * root)) / 3;
        if next >= root {
            return u64::try_from(root).unwrap_or(u64::MAX);
        }
        root = next;
    }
}

impl Cubic {
    /// The controller of a new path.
    pub fn new(path: &NewPath, parameters: CubicParameters) -> Self {
        let windows = Windows::new(path, parameters.slow_start_limit);
        Self { windows, w_max: 0, prior: 0, epoch: None, round_trip: None, fraction: 0 }
    }

    /// RFC 9438 §4.2 to RFC 9438 §4.5.
    fn avoid_congestion(&mut self, acked: &Acked, fully_utilised: bool) {
        let (cwnd, mss, w_max) = (self.windows.cwnd, self.windows.pmdcs(), self.w_max);
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(acked.now, cwnd, w_max, mss));
        let since = acked.now.saturating_since(core::mem::replace(&mut epoch.last, acked.now));
        if !fully_utilised {
            epoch.start += since;
            return;
        }
        epoch.grow_estimate(acked.bytes, cwnd, self.prior, mss);
        let time = acked.now.saturating_since(epoch.start);
        let w_est = (epoch.w_est >> FRACTION_BITS) as usize;
        if epoch.w_cubic(time, mss) < w_est {
            self.windows.grow(w_est.saturating_sub(cwnd));
            return;
        }
        let ahead = time.saturating_add(self.round_trip.unwrap_or_default());
        let target = epoch.w_cubic(ahead, mss).clamp(cwnd, cwnd + cwnd / 2);
        let grown = (((target - cwnd) as u128 * acked.bytes as u128) << FRACTION_BITS) / cwnd as u128;
        self.fraction += grown;
        self.windows.grow((self.fraction >> FRACTION_BITS) as usize);
        self.fraction &= (1 << FRACTION_BITS) - 1;
    }

    fn forget_epoch(&mut self) {
        self.epoch = None;
        self.fraction = 0;
    }

    /// Multiplicative decrease (RFC 9438 §4.6) and fast convergence (RFC 9438 §4.7): returns what is left.
    fn reduce(&mut self) -> usize {
        let cwnd = self.windows.cwnd;
        // A flow that has less than it had makes room for those that came.
        self.w_max = if cwnd < self.w_max { cwnd / 20 * (10 + BETA) } else { cwnd };
        self.prior = cwnd;
        self.forget_epoch();
        cwnd / 10 * BETA
    }
}

impl CongestionControl for Cubic {
    fn cwnd(&self) -> usize {
        self.windows.cwnd
    }

    fn ssthresh(&self) -> usize {
        self.windows.ssthresh
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.windows.used();
        if let Some(rtt) = acked.rtt {
            self.round_trip = Some(smoothed(self.round_trip, rtt));
        }
        if !acked.grows || acked.in_fast_recovery {
            return;
        }
        let fully_utilised = self.windows.is_fully_utilised(acked.flight_size_before);
        if !self.windows.is_in_slow_start() {
            self.avoid_congestion(acked, fully_utilised);
        } else if fully_utilised {
            self.windows.grow_in_slow_start(acked.bytes);
        }
    }

    fn on_fast_retransmit(&mut self) {
        let left = self.reduce();
        self.windows.on_loss(left);
    }

    fn on_timeout(&mut self) {
        let left = self.reduce();
        // RFC 9438 §4.8: the next epoch begins on its plateau.
        self.w_max = 0;
        self.windows.on_timeout(left);
    }

    fn on_idle_period(&mut self) {
        if self.windows.on_idle_period() {
            self.forget_epoch();
        }
    }

    fn on_packet_size(&mut self, pmdcs: usize) {
        self.windows.on_packet_size(pmdcs);
        // K and the plateau were reckoned in packets of another size.
        self.forget_epoch();
    }

    fn install(&mut self, cwnd: usize, ssthresh: usize) {
        self.windows.install(cwnd, ssthresh);
        (self.w_max, self.prior) = (0, 0);
        self.forget_epoch();
    }

    fn most_per_sack(&self) -> usize {
        self.windows.most_per_sack()
    }
}

#[cfg(test)]
#[path = "cubic_tests.rs"]
mod tests;
