//! When content arrived at the receiving application.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use whimbrel::Association;

use crate::transfer::link::{Frame, Link, LinkError};
use crate::transfer::protocol::PPID_DATA;

/// The moments at which pieces of content arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals(Arc<Mutex<Vec<Instant>>>);

/// A link that notes arrivals.
pub(super) struct ObservedLink {
    pub(super) association: Association,
    pub(super) arrivals: Arrivals,
}

/// How evenly content arrived, and the pause around a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pause {
    /// The longest time without content, from `begin` on.
    pub(super) gap: Duration,
    /// When the pause began.
    pub(super) begin: Instant,
    /// Half of the waits before were shorter than this.
    pub(super) typical: Duration,
    /// The longest wait before.
    pub(super) longest_before: Duration,
}

impl Arrivals {
    fn list(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The longest pause that ended within `after` of `moment`, compared with the `before` preceding it.
    pub(super) fn pause(&self, moment: Instant, before: Duration, after: Duration) -> Option<Pause> {
        pause(&self.list(), moment, before, after)
    }
}

fn pause(arrivals: &[Instant], moment: Instant, before: Duration, after: Duration) -> Option<Pause> {
    let waits = || arrivals.windows(2).map(|pair| (pair[0], pair[1] - pair[0], pair[1]));
    let around = waits().filter(|(_, _, end)| *end >= moment && *end <= moment + after);
    let (begin, gap, _) = around.max_by_key(|(_, wait, _)| *wait)?;
    let mut earlier: Vec<Duration> = waits()
        .filter(|(_, _, end)| *end < moment && *end + before >= moment)
        .map(|(_, wait, _)| wait)
        .collect();
    earlier.sort_unstable();
    let typical = *earlier.get(earlier.len() / 2)?;
    Some(Pause { gap, begin, typical, longest_before: *earlier.last()? })
}

impl Link for ObservedLink {
    fn streams(&self) -> u16 {
        self.association.streams()
    }

    async fn send(&self, frame: Frame) -> Result<(), LinkError> {
        Link::send(&self.association, frame).await
    }

    async fn recv(&self) -> Result<Option<Frame>, LinkError> {
        let frame = Link::recv(&self.association).await?;
        if frame.as_ref().is_some_and(|frame| frame.ppid == PPID_DATA) {
            self.arrivals.list().push(Instant::now());
        }
        Ok(frame)
    }
}

#[cfg(test)]
#[path = "arrivals_tests.rs"]
mod tests;
