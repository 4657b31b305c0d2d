//! How much leaves while a window is reduced: proportional rate reduction (RFC 9937).

/// The window in the course of a recovery. It lets out such a share of what is delivered that the pipe has come down to ssthresh when all that was
/// outstanding at the beginning has arrived, and lets the pipe grow to ssthresh again where losses have taken it below. All sizes are bytes.
#[derive(Debug)]
pub(super) struct RateReduction {
    mss: u64,
    /// RecoverFS: what was outstanding at the beginning; not 0.
    before: u64,
    /// prr_delivered and prr_out, since the beginning.
    delivered: u64,
    out: u64,
    window: u64,
}

impl RateReduction {
    /// A recovery begins, with `before` bytes outstanding before the acknowledgement that it begins with.
    pub(super) fn new(mss: u64, before: u64) -> Self {
        Self { mss, before: before.max(1), delivered: 0, out: 0, window: 0 }
    }

    /// cwnd.
    pub(super) const fn window(&self) -> u64 {
        self.window
    }

    /// An acknowledgement has delivered so much, and `pipe` bytes are in the network. `safe`: the cumulative point has advanced and nothing more was
    /// found to be lost (SafeACK).
    pub(super) fn on_delivered(&mut self, delivered: u64, pipe: u64, ssthresh: u64, safe: bool) {
        self.delivered += delivered;
        let allowance = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let share = u64::try_from(share.div_ceil(u128::from(self.before))).unwrap_or(u64::MAX);
            share.saturating_sub(self.out)
        } else {
            let conserved = self.delivered.saturating_sub(self.out).max(delivered);
            let faster = if safe { self.mss } else { 0 };
            (conserved + faster).min(ssthresh - pipe)
        };
        // The first retransmission leaves at once.
        let allowance = if self.out == 0 { allowance.max(self.mss) } else { allowance };
        self.window = pipe + allowance;
    }

    /// A segment was sent.
    pub(super) const fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}

#[cfg(test)]
#[path = "rate_reduction_tests.rs"]
mod tests;
