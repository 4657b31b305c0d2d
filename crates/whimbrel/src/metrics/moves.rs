//! When data of one association was last acknowledged, so that the gap is known that a handover makes.

use whimbrel_machine::{Instant, Route};
use whimbrel_proto::Event;

use super::Metrics;

/// What is remembered of an association's way through networks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moves {
    /// The addresses of the path that new data takes.
    in_use: Route,
    /// When data was acknowledged last, or came to be sent if there was none; `None` if there is none.
    progress: Option<Instant>,
    /// Since when a handover has been waiting for the first acknowledgement after it.
    waiting: Option<Instant>,
}

impl Moves {
    /// An association that has just come up.
    pub(crate) const fn new(in_use: Route) -> Self {
        Self { in_use, progress: None, waiting: None }
    }

    /// Counts what has happened to the association.
    pub(crate) fn count(&mut self, now: Instant, event: &Event, metrics: &mut Metrics) {
        match event {
            Event::PathInUse { route, .. } if *route != self.in_use => {
                self.in_use = *route;
                metrics.handovers += 1;
                // Of two in a row without an acknowledgement in between, the gap is one.
                self.waiting = self.waiting.or(self.progress);
            }
            Event::Sent { .. } => {
                if let Some(since) = self.waiting.take() {
                    metrics.handover_gaps.record(now.saturating_since(since));
                }
                self.progress = Some(now);
            }
            _ => {}
        }
    }

    /// There is something to be sent.
    pub(crate) fn busy(&mut self, now: Instant) {
        self.progress.get_or_insert(now);
    }

    /// Nothing more is on its way: what comes next has not waited since the last acknowledgement.
    pub(crate) const fn idle(&mut self) {
        (self.progress, self.waiting) = (None, None);
    }
}

#[cfg(test)]
#[path = "moves_tests.rs"]
mod tests;
