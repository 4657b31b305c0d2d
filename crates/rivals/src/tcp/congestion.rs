//! How large the congestion window is.

mod cubic;
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
}

/// cwnd and ssthresh with what all controllers do alike: slow start and the response to a timeout (RFC 5681 §3.1).
#[derive(Debug)]
struct Windows {
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
}

impl Windows {
    const fn new(mss: u64, initial_window: u64) -> Self {
        Self { mss, cwnd: initial_window, ssthresh: u64::MAX }
    }

    /// Grows in slow start, and says whether that is all.
    fn slow_start(&mut self, bytes: u64) -> bool {
        let slow = self.cwnd < self.ssthresh;
        if slow {
            self.cwnd += bytes.min(self.mss);
        }
        slow
    }

    /// The window after a loss, at least two segments (RFC 5681 equation 4).
    fn reduce_to(&mut self, bytes: u64) {
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
