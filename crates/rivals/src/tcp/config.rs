use core::time::Duration;

use super::congestion::{NewCongestionControl, Reno};
use super::recovery::{NewRecovery, Sack};
use super::rto::RtoConfig;

/// What may be chosen about TCP.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// Bytes of data in a full segment; 1460 makes IPv4 packets of 1500 bytes.
    pub mss: u16,
    /// The initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// The receive window in bytes, at most 1 GiB. The application reads at once, so it stays open.
    pub receive_window: u32,
    /// Retransmission timeout.
    pub rto: RtoConfig,
    /// When data is acknowledged.
    pub delayed_ack: DelayedAck,
    /// Duplicate acknowledgements that make a loss (RFC 5681 §3.2: 3).
    pub duplicate_threshold: u32,
    /// How losses are repaired.
    pub recovery: NewRecovery,
    /// How the window moves.
    pub congestion: NewCongestionControl,
    /// Connections at a time that others may open, at most.
    pub accepted_max: usize,
}

/// When a receiver acknowledges data that came in order (RFC 5681 §4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayedAck {
    /// After so many segments; 1 acknowledges each.
    pub segments: u32,
    /// After so much time at the latest (RFC 9293 §3.8.6.3: less than 0.5 s).
    pub after: Duration,
}

impl Default for TcpConfig {
    /// SACK and Reno with the values of the RFCs, and a window of 1 MiB.
    fn default() -> Self {
        Self {
            mss: 1460,
            initial_window: 10,
            receive_window: 1 << 20,
            rto: RtoConfig::default(),
            delayed_ack: DelayedAck { segments: 2, after: Duration::from_millis(200) },
            duplicate_threshold: 3,
            recovery: Sack::boxed,
            congestion: Reno::boxed,
            accepted_max: 256,
        }
    }
}

impl TcpConfig {
    /// The smallest window scale that can express the receive window (RFC 7323 §2.2).
    pub(crate) fn window_scale(&self) -> u8 {
        (0..14).find(|shift| self.receive_window >> shift <= u32::from(u16::MAX)).unwrap_or(14)
    }
}
