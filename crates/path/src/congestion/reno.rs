use super::windows::{SLOW_START_LIMIT, Windows};
use super::{Acked, CongestionControl, ControllerFactory, NewPath};

/// Congestion control exactly as RFC 9260 §7.2 has it: slow start, congestion avoidance by counting acknowledged
/// bytes, half the window on a fast retransmit, one packet on a timeout.
///
/// Where the RFC leaves room:
///
/// - What a fully utilised window is, and which windows decay when idle: `congestion/windows.rs` says it for all controllers that
///   have slow start.
/// - Neither phase grows during Fast Recovery. §7.2.1 demands it of slow start; congestion avoidance follows,
///   which is more conservative than §7.2.2 and so allowed by §7.2.
/// - A SACK need not advance the Cumulative TSN Ack Point to open the window: RFC 9260 dropped that condition of
///   RFC 4960.
/// - Chunks reported as duplicates are not counted in partial_bytes_acked, for their sizes are no longer known. This
///   only slows growth.
#[derive(Clone, Debug)]
pub struct Reno {
    windows: Windows,
    partial_bytes_acked: usize,
}

/// Makes [`Reno`] controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RenoParameters {
    /// L of RFC 9260 §7.2.1: slow start grows by at most this many full chunks per SACK; at least 1.
    pub slow_start_limit: u32,
}

impl Default for RenoParameters {
    /// What hosts that move have.
    fn default() -> Self {
        Self { slow_start_limit: SLOW_START_LIMIT }
    }
}

impl ControllerFactory for RenoParameters {
    fn controller(&self, path: &NewPath) -> Box<dyn CongestionControl> {
        Box::new(Reno::new(path, *self))
    }

    fn validate(&self) -> Result<(), &'static str> {
        Windows::validate(self.slow_start_limit)
    }
}

impl Reno {
    /// The controller of a new path.
    pub fn new(path: &NewPath, parameters: RenoParameters) -> Self {
        Self { windows: Windows::new(path, parameters.slow_start_limit), partial_bytes_acked: 0 }
    }

    /// RFC 9260 §7.2.2.
    fn avoid_congestion(&mut self, acked: &Acked, fully_utilised: bool) {
        let cwnd = self.windows.cwnd;
        self.partial_bytes_acked = self.partial_bytes_acked.saturating_add(acked.bytes);
        if self.partial_bytes_acked < cwnd {
            return;
        }
        if fully_utilised {
            self.partial_bytes_acked -= cwnd;
            self.windows.grow(self.windows.pmdcs());
        } else {
            self.partial_bytes_acked = cwnd;
        }
    }
}

impl CongestionControl for Reno {
    fn cwnd(&self) -> usize {
        self.windows.cwnd
    }

    fn ssthresh(&self) -> usize {
        self.windows.ssthresh
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.windows.used();
        if acked.grows && !acked.in_fast_recovery {
            let fully_utilised = self.windows.is_fully_utilised(acked.flight_size_before);
            if !self.windows.is_in_slow_start() {
                self.avoid_congestion(acked, fully_utilised);
            } else if fully_utilised {
                self.windows.grow_in_slow_start(acked.bytes);
            }
        }
        if acked.all_acknowledged {
            self.partial_bytes_acked = 0;
        }
    }

    fn on_fast_retransmit(&mut self) {
        self.windows.on_loss(self.windows.cwnd / 2);
        self.partial_bytes_acked = 0;
    }

    fn on_timeout(&mut self) {
        self.windows.on_timeout(self.windows.cwnd / 2);
        self.partial_bytes_acked = 0;
    }

    fn on_idle_period(&mut self) {
        self.windows.on_idle_period();
    }

    fn on_packet_size(&mut self, pmdcs: usize) {
        self.windows.on_packet_size(pmdcs);
    }

    fn install(&mut self, cwnd: usize, ssthresh: usize) {
        self.windows.install(cwnd, ssthresh);
        self.partial_bytes_acked = 0;
    }

    fn most_per_sack(&self) -> usize {
        self.windows.most_per_sack()
    }
}

#[cfg(test)]
#[path = "reno_tests.rs"]
mod tests;
