use core::time::Duration;

use whimbrel_machine::Instant;

use super::{CongestionControl, Windows};

/// The standard controller (RFC 5681): one segment more per round trip, half of the flight size after a loss.
#[derive(Debug)]
pub struct Reno {
    windows: Windows,
    /// Bytes acknowledged since the window last grew in congestion avoidance.
    acknowledged: u64,
}

impl Reno {
    /// A controller in slow start.
    pub fn boxed(mss: u64, initial_window: u64) -> Box<dyn CongestionControl> {
        Box::new(Self { windows: Windows::new(mss, initial_window), acknowledged: 0 })
    }
}

impl CongestionControl for Reno {
    fn window(&self) -> u64 {
        self.windows.cwnd
    }

    /// Congestion avoidance counts bytes, as RFC 5681 §3.1 recommends, so delayed acknowledgements do not slow it down.
    fn on_acknowledged(&mut self, _now: Instant, bytes: u64, _srtt: Duration) {
        if self.windows.slow_start(bytes) {
            return;
        }
        self.acknowledged += bytes;
        if self.acknowledged >= self.windows.cwnd {
            self.acknowledged -= self.windows.cwnd;
            self.windows.cwnd += self.windows.mss;
        }
    }

    fn on_loss(&mut self, _now: Instant, flight: u64) {
        self.windows.reduce_to(flight / 2);
        self.acknowledged = 0;
    }

    fn on_timeout(&mut self, now: Instant, flight: u64, repeated: bool) {
        if !repeated {
            self.on_loss(now, flight);
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
