//! How much is sent, and when.

use std::time::Duration;

/// The traffic of one run. The mover tells the server in its first record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pace {
    /// Bytes in a record.
    pub(crate) size: u32,
    /// Records a second; 0 for as fast as possible.
    pub(crate) rate: u32,
    /// For how long.
    pub(crate) duration: Duration,
}

/// Says when each record is due.
#[derive(Debug)]
pub(crate) struct Schedule {
    pace: Pace,
    begin: tokio::time::Instant,
    number: u64,
}

impl Schedule {
    /// Begins now.
    pub(crate) fn new(pace: Pace) -> Self {
        Self { pace, begin: tokio::time::Instant::now(), number: 0 }
    }

    /// Waits until the next record is due; its number, or `None` when the time is over.
    pub(crate) async fn next(&mut self) -> Option<u64> {
        if self.pace.rate > 0 {
            let due = Duration::from_secs_f64(self.number as f64 / f64::from(self.pace.rate));
            if due >= self.pace.duration {
                return None;
            }
            tokio::time::sleep_until(self.begin + due).await;
        } else if self.begin.elapsed() >= self.pace.duration {
            return None;
        }
        self.number += 1;
        Some(self.number - 1)
    }
}
