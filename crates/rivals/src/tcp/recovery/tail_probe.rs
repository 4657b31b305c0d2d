//! The tail loss probe (RFC 8985 §7): what nobody acknowledges is asked for before the retransmission timer expires.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::SenderState;
use crate::tcp::scoreboard::{Acknowledged, Scoreboard};

/// Before the first measurement (RFC 8985 §7.2).
const PTO_INITIAL: Duration = Duration::from_secs(1);
/// TLP.max_ack_delay: a receiver may wait for a second segment for so long. Linux has the same.
const ACK_DELAY_MAX: Duration = Duration::from_millis(200);
/// Two ticks of Linux's timers at 1000 Hz (`TCP_TIMEOUT_MIN`).
const SLACK: Duration = Duration::from_millis(2);

/// The probes of a connection.
#[derive(Debug)]
pub(super) struct TailProbe {
    /// PTO expires.
    due: Option<Instant>,
    /// The probe that is not acknowledged yet.
    sent: Option<Probe>,
    /// The round trip has been measured since the last probe.
    measured: bool,
    /// The next segment sent is a probe.
    sending: bool,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    /// TLP.end_seq.
    end: u64,
    /// TLP.is_retrans.
    again: bool,
    /// Bytes outstanding as it was sent.
    flight: u64,
}

impl Default for TailProbe {
    fn default() -> Self {
        Self { due: None, sent: None, measured: true, sending: false }
    }
}

impl TailProbe {
    /// When a probe is due.
    pub(super) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// A recovery begins (RFC 8985 §7.1).
    pub(super) const fn stop(&mut self) {
        (self.due, self.sent, self.sending) = (None, None, false);
    }

    /// The round trip was measured.
    pub(super) const fn on_measurement(&mut self) {
        self.measured = true;
    }

    /// New data has been sent, or acknowledged (RFC 8985 §7.2).
    pub(super) fn schedule(&mut self, mss: u64, board: &Scoreboard, state: &SenderState) {
        if board.flight() == 0 || board.sacked() > 0 {
            self.due = None;
            return;
        }
        let slack = if board.flight() <= mss { ACK_DELAY_MAX } else { SLACK };
        let interval = state.srtt.map_or(PTO_INITIAL, |srtt| srtt * 2 + slack);
        let due = state.now + interval;
        self.due = Some(state.timer.map_or(due, |timer| due.min(timer)));
    }

    /// PTO has expired: whether a probe is to be sent (RFC 8985 §7.3).
    pub(super) const fn on_time(&mut self) -> bool {
        self.due = None;
        self.sending = self.sent.is_none() && self.measured;
        self.sending
    }

    /// A segment was sent that ends at `end`; says whether it is the probe.
    pub(super) fn on_sent(&mut self, end: u64, again: bool, board: &Scoreboard) -> bool {
        let probe = core::mem::take(&mut self.sending);
        if probe {
            self.sent = Some(Probe { end, again, flight: board.flight() });
            self.measured = false;
        }
        probe
    }

    /// Whether what is reported to have come twice is the probe.
    pub(super) fn is_doubled(&self, right: u64) -> bool {
        self.sent.is_some_and(|probe| probe.again && probe.end == right)
    }

    /// An acknowledgement has come; what was outstanding, if it says that the probe has repaired a loss (RFC 8985 §7.4.2).
    pub(super) fn on_acknowledged(&mut self, board: &Scoreboard, acknowledged: &Acknowledged) -> Option<u64> {
        let probe = self.sent.filter(|probe| board.acknowledged() >= probe.end)?;
        let doubled = acknowledged.duplicated.is_some_and(|(_, right)| right == probe.end);
        let bare = acknowledged.duplicate && acknowledged.sacked == 0;
        let beyond = board.acknowledged() > probe.end;
        if !probe.again || doubled || bare || beyond {
            self.sent = None;
        }
        (probe.again && !doubled && beyond).then_some(probe.flight)
    }
}

#[cfg(test)]
#[path = "tail_probe_tests.rs"]
mod tests;
