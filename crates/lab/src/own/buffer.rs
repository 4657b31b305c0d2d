//! `buffer` of a network: how much waits at most.

use core::ops::RangeInclusive;

use serde::Deserialize;
use whimbrel_netsim::QueueLimit;

use super::limits::{MILLISECONDS, within};

const PACKETS: RangeInclusive<f64> = 1.0..=1e6;

/// Bytes that wait at least: two packets of full size.
const LEAST: f64 = 3000.0;

/// What waits in front of each direction at most; a queue per flow has as much for each.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(untagged, expecting = "buffer is a number of ms, or a table with packets")]
pub(super) enum BufferPlan {
    /// Milliseconds of traffic at the full rate.
    Time(f64),
    /// So many packets, however large they are.
    Packets(Packets),
}

#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Packets {
    packets: u32,
}

impl Default for BufferPlan {
    fn default() -> Self {
        Self::Time(100.0)
    }
}

impl BufferPlan {
    /// As links have it, at a rate in bit/s.
    pub(super) fn limit(self, rate: f64) -> QueueLimit {
        match self {
            Self::Time(milliseconds) => {
                QueueLimit::bytes((rate / 8.0 * milliseconds / 1e3).max(LEAST) as u64)
            }
            Self::Packets(Packets { packets }) => QueueLimit::packets(packets),
        }
    }

    /// Says what of it there cannot be; `place` is the network's.
    pub(super) fn check(self, place: &str) -> Result<(), String> {
        match self {
            Self::Time(milliseconds) => within(format!("{place}.buffer"), milliseconds, MILLISECONDS, " ms"),
            Self::Packets(Packets { packets }) => {
                within(format!("{place}.buffer.packets"), packets.into(), PACKETS, "")
            }
        }
    }
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
