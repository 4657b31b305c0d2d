//! When data of one association was last acknowledged, so that the gap is known that a handover makes.

use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_proto::Event;

use super::Metrics;

/// Path supervision is slower than the sender: data may have found its new way this long before a path is given up.
const RECENT: Duration = Duration::from_secs(1);

/// What is remembered of an association's way through networks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moves {
    /// The addresses of the path that new data takes.
    in_use: Route,
    /// When data was acknowledged last, or came to be sent if there was none; `None` if there is none.
    progress: Option<Instant>,
    /// The longest that lately was waited for an acknowledgement.
    longest: Option<Pause>,
    /// The first acknowledgement after a handover has not come yet.
    moved: bool,
}

#[derive(Clone, Copy, Debug)]
struct Pause {
    length: Duration,
    end: Instant,
}

impl Moves {
    /// An association that has just come up.
    pub(crate) const fn new(in_use: Route) -> Self {
        Self { in_use, progress: None, longest: None, moved: false }
    }

    /// Counts what has happened to the association.
    pub(crate) fn count(&mut self, now: Instant, event: &Event, metrics: &mut Metrics) {
        match event {
            Event::PathInUse { route, .. } if *route != self.in_use => {
                self.in_use = *route;
                metrics.handovers += 1;
                // Of two in a row without an acknowledgement in between, the gap is one.
                self.moved = true;
                if self.progress.is_none() {
                    self.over(now, metrics);
                }
            }
            Event::Sent { .. } => {
                if let Some(progress) = self.progress.replace(now) {
                    let pause = Pause { length: now.saturating_since(progress), end: now };
                    let recent = self.longest.filter(|longest| now.saturating_since(longest.end) <= RECENT);
                    self.longest = recent.filter(|longest| longest.length > pause.length).or(Some(pause));
                }
                if self.moved {
                    self.over(now, metrics);
                }
            }
            _ => {}
        }
    }

    /// A handover is over: its gap is the longest of the pauses around it.
    fn over(&mut self, now: Instant, metrics: &mut Metrics) {
        self.moved = false;
        let gap = self.longest.take().filter(|longest| now.saturating_since(longest.end) <= RECENT);
        if let Some(gap) = gap {
            metrics.handover_gaps.record(gap.length);
        }
    }

    /// There is something to be sent.
    pub(crate) fn busy(&mut self, now: Instant) {
        self.progress.get_or_insert(now);
    }

    /// Nothing more is on its way: what comes next has not waited since the last acknowledgement.
    pub(crate) const fn idle(&mut self) {
        self.progress = None;
    }
}

#[cfg(test)]
#[path = "moves_tests.rs"]
mod tests;
