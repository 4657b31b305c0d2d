//! How much leaves while a window is reduced (Proportional Rate Reduction, RFC 9937).

/// Lets out so much of what is delivered in Fast Recovery that the flight size comes down to the reduced window in the course of one round trip,
/// instead of nothing for half of it and then as much as is delivered. All sizes are bytes of DATA chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateReduction {
    /// The flight size as Fast Recovery began: RecoverFS; not 0.
    before: usize,
    /// What has been delivered since: prr_delivered.
    delivered: usize,
    /// What has left since: prr_out.
    out: usize,
}

impl RateReduction {
    /// Fast Recovery begins with so much in flight, what is lost included.
    pub fn new(flight: usize) -> Self {
        Self { before: flight.max(1), delivered: 0, out: 0 }
    }

    /// How much may leave now, with `flight` bytes on their way and a window of `ssthresh` bytes to come down to: so much has been `delivered`
    /// since this was last asked. `safe`: the Cumulative TSN Ack Point has advanced and nothing more has been lost, so that the window
    /// may be filled again as in slow start (PRR-SSRB), by one packet of `packet` bytes more than what is delivered; else by that alone (PRR-CRB).
    pub fn allowance(
        &mut self,
        delivered: usize,
        safe: bool,
        flight: usize,
        ssthresh: usize,
        packet: usize,
    ) -> usize {
        self.delivered = self.delivered.saturating_add(delivered);
        if flight > ssthresh {
            let share = (self.delivered as u128 * ssthresh as u128).div_ceil(self.before as u128);
            return usize::try_from(share).unwrap_or(usize::MAX).saturating_sub(self.out);
        }
        let conserved = self.delivered.saturating_sub(self.out).max(delivered);
        let filled = if safe { conserved.saturating_add(packet) } else { conserved };
        // Where nothing is on its way nothing will be delivered, and no timer runs.
        let filled = if flight == 0 { filled.max(packet) } else { filled };
        filled.min(ssthresh - flight)
    }

    /// So much has left.
    pub fn on_sent(&mut self, bytes: usize) {
        self.out = self.out.saturating_add(bytes);
    }
}

#[cfg(test)]
#[path = "rate_reduction_tests.rs"]
mod tests;
