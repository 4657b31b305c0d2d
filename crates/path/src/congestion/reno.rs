use super::{Acked, CongestionControl, ControllerFactory, LARGEST_WINDOW, NewPath};

/// Congestion control exactly as RFC 9260 §7.2 has it: slow start, congestion avoidance by counting acknowledged
/// bytes, half the window on a fast retransmit, one packet on a timeout.
///
/// Where the RFC leaves room:
///
/// - *Fully utilised* (§7.2.1, §7.2.2: "cwnd or more bytes outstanding") means here that no further full packet
///   would have fitted: flight size + PMDCS > cwnd. §6.1 B lets a sender overbook by up to PMDCS − 1 bytes but does
///   not oblige it, and a sender that waits for room, or whose last packet is short because the next message does
///   not fit beside it, rests just below cwnd although it is limited by nothing else.
/// - Neither phase grows during Fast Recovery. §7.2.1 demands it of slow start; congestion avoidance follows,
///   which is more conservative than §7.2.2 and so allowed by §7.2.
/// - A SACK need not advance the Cumulative TSN Ack Point to open the window: RFC 9260 dropped that condition of
///   RFC 4960.
/// - Chunks reported as duplicates are not counted in partial_bytes_acked, for their sizes are no longer known. This
///   only slows growth.
/// - A path on which nothing was ever sent keeps its initial window. The idle rule of §7.2.1 is about windows that
///   were learnt and have become old; applying it to a standby path would set its ssthresh to the initial window
///   and take slow start away from the path a failover is about to need. For the same reason ssthresh is only
///   touched when cwnd really shrinks, and idleness never raises cwnd, as max(cwnd/2, 4·PMDCS) would after a timeout.
#[derive(Clone, Debug)]
pub struct Reno {
    path: NewPath,
    parameters: RenoParameters,
    cwnd: usize,
    ssthresh: usize,
    partial_bytes_acked: usize,
    use_so_far: Use,
}

/// Makes [`Reno`] controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RenoParameters {
    /// L of RFC 9260 §7.2.1: slow start grows by at most this many full chunks per SACK; at least 1.
    pub slow_start_limit: u32,
}

impl ControllerFactory for RenoParameters {
    fn controller(&self, path: &NewPath) -> Box<dyn CongestionControl> {
        Box::new(Reno::new(path, *self))
    }

    fn validate(&self) -> Result<(), &'static str> {
        if self.slow_start_limit >= 1 {
            Ok(())
        } else {
            Err("slow start must grow by at least one packet per SACK")
        }
    }
}

/// How far the idle rule has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// The window is the initial one.
    Never,
    /// DATA was sent since the last adjustment for idleness.
    Active,
    /// ssthresh has kept the window from before the idle time.
    Idle,
}

impl Reno {
    /// The controller of a new path.
    pub fn new(path: &NewPath, parameters: RenoParameters) -> Self {
        Self {
            path: *path,
            parameters,
            cwnd: path.initial_cwnd(),
            ssthresh: path.ssthresh.unwrap_or(LARGEST_WINDOW).min(LARGEST_WINDOW),
            partial_bytes_acked: 0,
            use_so_far: Use::Never,
        }
    }

    /// What slow start grows by at most for one SACK (RFC 9260 §7.2.1: L full chunks).
    pub(super) fn most_per_sack(&self) -> usize {
        self.path.pmdcs.saturating_mul(self.parameters.slow_start_limit as usize)
    }

    fn grow(&mut self, bytes: usize) {
        self.cwnd = self.cwnd.saturating_add(bytes).min(LARGEST_WINDOW);
    }

    /// RFC 9260 §7.2.2.
    fn avoid_congestion(&mut self, acked: &Acked, fully_utilised: bool) {
        self.partial_bytes_acked = self.partial_bytes_acked.saturating_add(acked.bytes);
        if self.partial_bytes_acked < self.cwnd {
            return;
        }
        if fully_utilised {
            self.partial_bytes_acked -= self.cwnd;
            self.grow(self.path.pmdcs);
        } else {
            self.partial_bytes_acked = self.cwnd;
        }
    }

    /// RFC 9260 §7.2.3: what a loss leaves.
    fn after_loss(&self) -> usize {
        (self.cwnd / 2).max(4 * self.path.pmdcs)
    }
}

impl CongestionControl for Reno {
    fn cwnd(&self) -> usize {
        self.cwnd
    }

    fn ssthresh(&self) -> usize {
        self.ssthresh
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.use_so_far = Use::Active;
        if !acked.in_fast_recovery {
            let fully_utilised = acked.flight_size_before.saturating_add(self.path.pmdcs) > self.cwnd;
            if self.cwnd > self.ssthresh {
                self.avoid_congestion(acked, fully_utilised);
            } else if fully_utilised {
                self.grow(acked.bytes.min(self.most_per_sack()));
            }
        }
        if acked.all_acknowledged {
            self.partial_bytes_acked = 0;
        }
    }

    fn on_fast_retransmit(&mut self) {
        self.use_so_far = Use::Active;
        self.ssthresh = self.after_loss();
        self.cwnd = self.ssthresh;
        self.partial_bytes_acked = 0;
    }

    fn on_timeout(&mut self) {
        self.use_so_far = Use::Active;
        self.ssthresh = self.after_loss();
        self.cwnd = self.path.pmdcs;
        self.partial_bytes_acked = 0;
    }

    fn on_idle_period(&mut self) {
        let decayed = (self.cwnd / 2).max(4 * self.path.pmdcs);
        if self.use_so_far == Use::Never || decayed >= self.cwnd {
            return;
        }
        if self.use_so_far == Use::Active {
            self.ssthresh = self.cwnd;
            self.use_so_far = Use::Idle;
        }
        self.cwnd = decayed;
    }

    fn on_packet_size(&mut self, pmdcs: usize) {
        self.path.pmdcs = pmdcs;
        if self.use_so_far == Use::Never {
            self.cwnd = self.path.initial_cwnd();
        }
        self.cwnd = self.cwnd.max(pmdcs);
    }

    fn install(&mut self, cwnd: usize, ssthresh: usize) {
        self.use_so_far = Use::Active;
        self.cwnd = cwnd.clamp(self.path.pmdcs, LARGEST_WINDOW);
        self.ssthresh = ssthresh.min(LARGEST_WINDOW);
        self.partial_bytes_acked = 0;
    }
}

#[cfg(test)]
#[path = "reno_tests.rs"]
mod tests;
