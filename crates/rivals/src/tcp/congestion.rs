//! How large the congestion window is.

mod cubic;
mod hystart;
mod reno;

use core::fmt;
use core::time::Duration;

use whimbrel_machine::Instant;

pub use self::cubic::Cubic;
pub use self::reno::Reno;

/// Makes the controller of a new connection from its MSS and its initial window, both in bytes.
pub type NewCongestionControl = fn(mss: u64, initial_window: u64) -> Box<dyn CongestionControl>;

/// A congestion controller. Windows are in bytes.
pub trait CongestionControl: fmt::Debug + Send {
    /// cwnd.
    fn window(&self) -> u64;
    /// An acknowledgement moved the cumulative point by `bytes` outside of loss recovery while the window was the limit.
    fn on_acknowledged(&mut self, now: Instant, bytes: u64, srtt: Duration);
    /// Segments were lost, and `flight` bytes are outstanding: the beginning of a recovery.
    fn on_loss(&mut self, now: Instant, flight: u64);
    /// The retransmission timer has expired with `flight` bytes outstanding. `repeated`: for the second time or more in a
    /// row for the same segment, where ssthresh stays as it is (RFC 5681 §3.1).
    fn on_timeout(&mut self, now: Instant, flight: u64, repeated: bool);
    /// A recovery has ended with `flight` bytes outstanding, after which a full window might leave as one burst.
    fn on_deflation(&mut self, flight: u64);

    /// The last reduction was for nothing: the window is again what it was before it, or what it has become since if that is more.
    fn on_undo(&mut self);

    /// A round trip was measured with an acknowledgement, before which `acknowledged` bytes of the stream lie; it has been sent up to `end`.
    fn on_measurement(&mut self, _now: Instant, _rtt: Duration, _acknowledged: u64, _end: u64) {}

    /// Whether the window grows as in slow start.
    fn is_in_slow_start(&self) -> bool;

    /// Ends slow start with the window as it is.
    fn end_slow_start(&mut self);
}

/// cwnd and ssthresh with what all controllers do alike: slow start and the response to a timeout (RFC 5681 §3.1).
#[derive(Debug)]
struct Windows {
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Both before the last reduction.
    before: (u64, u64),
}

impl Windows {
    const fn new(mss: u64, initial_window: u64) -> Self {
        Self { mss, cwnd: initial_window, ssthresh: u64::MAX, before: (0, 0) }
    }

    /// Grows in slow start, and says whether that is all.
    fn slow_start(&mut self, bytes: u64) -> bool {
        let slow = self.is_slow();
        if slow {
            self.cwnd += bytes.min(self.mss);
        }
        slow
    }

    const fn is_slow(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    const fn end_slow_start(&mut self) {
        self.ssthresh = self.cwnd;
    }

    fn undo(&mut self) {
        let (cwnd, ssthresh) = core::mem::take(&mut self.before);
        (self.cwnd, self.ssthresh) = (self.cwnd.max(cwnd), self.ssthresh.max(ssthresh));
    }

    /// The window after a loss, at least two segments (RFC 5681 equation 4).
    fn reduce_to(&mut self, bytes: u64) {
        self.before = (self.cwnd, self.ssthresh);
        self.ssthresh = bytes.max(2 * self.mss);
        self.cwnd = self.ssthresh;
    }

    /// The loss window of one segment (RFC 5681 §3.1).
    const fn collapse(&mut self) {
        self.cwnd = self.mss;
    }

    /// RFC 6582 §3.2 step 3, option 1: no burst when a recovery ends with little in flight.
    fn deflate(&mut self, flight: u64) {
        self.cwnd = self.ssthresh.min(flight.max(self.mss) + self.mss);
    }
}
