use core::time::Duration;

use whimbrel_machine::Instant;

use super::hystart::HyStart;
use super::{CongestionControl, Windows};

/// C of RFC 9438 §4.1, in segments per second cubed.
const C: f64 = 0.4;
/// β of RFC 9438 §4.6.
const BETA: f64 = 0.7;

/// CUBIC (RFC 9438). Windows in its formulas are in segments. Only operations that IEEE 754 defines to the
/// last bit are used, so that a run is the same on every machine.
#[derive(Debug)]
pub struct Cubic {
    windows: Windows,
    /// The window before the last reduction.
    w_max: f64,
    epoch: Option<Epoch>,
    /// Growth that does not make a byte yet.
    fraction: f64,
}

/// A stage of congestion avoidance.
#[derive(Debug)]
struct Epoch {
    start: Instant,
    k_s: f64,
    /// The window Reno would have (RFC 9438 §4.3).
    w_est: f64,
}

impl Cubic {
    /// A controller in slow start.
    pub fn boxed(mss: u64, initial_window: u64) -> Box<dyn CongestionControl> {
        Box::new(Self::new(mss, initial_window))
    }

    /// The same with HyStart, as Linux has it.
    pub fn with_hystart(mss: u64, initial_window: u64) -> Box<dyn CongestionControl> {
        Box::new(HyStart::around(mss, Self::new(mss, initial_window)))
    }

    const fn new(mss: u64, initial_window: u64) -> Self {
        Self { windows: Windows::new(mss, initial_window), w_max: 0.0, epoch: None, fraction: 0.0 }
    }

    fn segments(&self) -> f64 {
        self.windows.cwnd as f64 / self.windows.mss as f64
    }

    fn reduce(&mut self, flight: u64) {
        let window = self.segments();
        // Fast convergence (RFC 9438 §4.7).
        self.w_max = if window < self.w_max { window * (1.0 + BETA) / 2.0 } else { window };
        self.epoch = None;
        self.fraction = 0.0;
        self.windows.reduce_to((flight as f64 * BETA) as u64);
    }
}

impl CongestionControl for Cubic {
    fn window(&self) -> u64 {
        self.windows.cwnd
    }

    fn on_acknowledged(&mut self, now: Instant, bytes: u64, srtt: Duration) {
        if self.windows.slow_start(bytes) {
            return;
        }
        let (window, w_max) = (self.segments(), self.w_max.max(self.segments()));
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            k_s: cube_root((w_max - window) / C),
            w_est: window,
        });
        let acknowledged = bytes as f64 / self.windows.mss as f64;
        // α of RFC 9438 §4.3: after w_est has reached the old maximum it grows as Reno does.
        let alpha = if epoch.w_est < w_max { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        epoch.w_est += alpha * acknowledged / window;
        let cubic = |t: f64| C * (t - epoch.k_s) * (t - epoch.k_s) * (t - epoch.k_s) + w_max;
        let t = (now - epoch.start).as_secs_f64();
        let target = if cubic(t) < epoch.w_est {
            epoch.w_est
        } else {
            let target = cubic(t + srtt.as_secs_f64()).clamp(window, 1.5 * window);
            window + (target - window) / window * acknowledged
        };
        self.fraction += (target - window).max(0.0) * self.windows.mss as f64;
        self.windows.cwnd += self.fraction as u64;
        self.fraction -= (self.fraction as u64) as f64;
    }

    fn on_loss(&mut self, _now: Instant, flight: u64) {
        self.reduce(flight);
    }

    fn on_timeout(&mut self, _now: Instant, flight: u64, repeated: bool) {
        if !repeated {
            self.reduce(flight);
        }
        self.windows.collapse();
    }

    fn on_deflation(&mut self, flight: u64) {
        self.windows.deflate(flight);
    }

    fn on_undo(&mut self) {
        self.windows.undo();
    }

    fn is_in_slow_start(&self) -> bool {
        self.windows.is_slow()
    }

    fn end_slow_start(&mut self) {
        self.windows.end_slow_start();
    }
}

/// Newton's method from above, which falls monotonically until rounding stops it.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut root = x.max(1.0);
    loop {
        let next = (2.0 * root + x / (root * root)) / 3.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
#[path = "cubic_tests.rs"]
mod tests;
