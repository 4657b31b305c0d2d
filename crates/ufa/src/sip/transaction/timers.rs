use core::time::Duration;

/// The times of RFC 3261 §17.1.1.1 and Table 4, for UDP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timers {
    /// T1: a guess of the round trip.
    pub t1: Duration,
    /// T2: the longest time between two copies of what is not INVITE.
    pub t2: Duration,
    /// T4: how long a message may stay in the network.
    pub t4: Duration,
}

impl Default for Timers {
    fn default() -> Self {
        Self { t1: Duration::from_millis(500), t2: Duration::from_secs(4), t4: Duration::from_secs(5) }
    }
}

impl Timers {
    /// Timers B, F, H, J, L and M: how long an end waits for another.
    pub const fn patience(&self) -> Duration {
        self.t1.saturating_mul(64)
    }

    /// Timer D: how long a final response that is no 2xx may come again.
    pub fn lull(&self) -> Duration {
        self.patience().max(Duration::from_secs(32))
    }
}
