//! How much a sender hands over ahead of what has arrived.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use whimbrel::Association;

/// Bytes that may always be under way.
const LEAST: u64 = 256 * 1024;
/// What has arrived in this time says how much may be under way.
const LATELY: Duration = Duration::from_secs(1);
/// How often to look where that is full.
const LOOK: Duration = Duration::from_millis(1);

/// A measurement that ends after a time still has to bring what was handed over by then. A send buffer takes 16 MiB at once, which a slow network
/// carries for minutes; no more than two seconds' worth is handed over. What slow start lets leave is less: twice what arrived within the last round
/// trip.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Bytes that had arrived at such a time, of the last second.
    arrived: VecDeque<(Instant, u64)>,
    /// Bytes that may be handed over before it is looked again.
    until: u64,
}

impl Ahead {
    /// Waits until more than `handed` bytes may be handed over. An association that has ended is no reason to wait.
    pub(super) async fn room(&mut self, association: &Association, handed: u64) {
        while handed >= self.until && association.close_reason().is_none() {
            let arrived = handed.saturating_sub(association.send_queued() as u64);
            self.until = arrived + self.most(Instant::now(), arrived);
            if handed >= self.until {
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    /// How many bytes may be under way where so many have `arrived` by `now`.
    fn most(&mut self, now: Instant, arrived: u64) -> u64 {
        self.arrived.push_back((now, arrived));
        while self.arrived.get(1).is_some_and(|(at, _)| *at + LATELY <= now) {
            self.arrived.pop_front();
        }
        let before = self.arrived.front().map_or(0, |(_, before)| *before);
        LEAST.max(2 * (arrived - before))
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
