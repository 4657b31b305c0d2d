use core::time::Duration;

use crate::{LinkConfig, QueueLimit};

/// Links of everyday life, as starting points. The figures are round ones, not measurements of a product.
impl LinkConfig {
    /// One direction of a good Wi-Fi link at home: 50 Mbit/s, 5 ms, a little jitter, 100 ms of buffer.
    pub fn wifi() -> Self {
        Self {
            rate_bps: Some(50_000_000),
            queue: QueueLimit::bytes(625_000),
            delay: Duration::from_millis(5),
            jitter: Duration::from_millis(1),
            ..Self::default()
        }
    }

    /// From the network to a phone over LTE: 20 Mbit/s, 30 ms, more jitter, 200 ms of buffer.
    pub fn lte_down() -> Self {
        Self {
            rate_bps: Some(20_000_000),
            queue: QueueLimit::bytes(500_000),
            delay: Duration::from_millis(30),
            jitter: Duration::from_millis(5),
            ..Self::default()
        }
    }

    /// From a phone to the network over LTE: like [`LinkConfig::lte_down`] at 10 Mbit/s.
    pub fn lte_up() -> Self {
        Self { rate_bps: Some(10_000_000), queue: QueueLimit::bytes(250_000), ..Self::lte_down() }
    }

    /// One direction of a wired link: 1 Gbit/s, 1 ms, a megabyte of buffer.
    pub fn wired() -> Self {
        Self {
            rate_bps: Some(1_000_000_000),
            queue: QueueLimit::bytes(1_000_000),
            frame_overhead: 38,
            delay: Duration::from_millis(1),
            ..Self::default()
        }
    }
}
