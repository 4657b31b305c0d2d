use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::Context;
use whimbrel_proto::{CloseReason, Command, Event, PathState, Received};

use super::Record;

/// Everything, and when it was told.
#[derive(Debug, Default)]
pub struct Log {
    /// Do without the messages.
    pub discard: bool,
    /// All but messages.
    pub events: Vec<(Instant, Event)>,
    /// The messages.
    pub received: Vec<(Instant, Received)>,
}

impl Log {
    /// Why the first association that has ended did.
    pub fn ended(&self) -> Option<CloseReason> {
        self.events.iter().find_map(|(_, event)| match event {
            Event::Closed { reason, .. } => Some(reason.clone()),
            _ => None,
        })
    }

    /// Whether an association has ended.
    pub fn closed(&self) -> bool {
        self.ended().is_some()
    }

    /// What was told of the states of paths.
    pub fn path_states(&self) -> Vec<(Instant, PathState)> {
        let state = |(at, event): &(Instant, Event)| match event {
            Event::Path { state, .. } => Some((*at, *state)),
            _ => None,
        };
        self.events.iter().filter_map(state).collect()
    }

    /// When the first association came up.
    pub fn came_up(&self) -> Option<Instant> {
        self.events.iter().find(|(_, event)| matches!(event, Event::Up { .. })).map(|(at, _)| *at)
    }

    /// When it was told that new data goes another way than before.
    pub fn moves(&self) -> Vec<Instant> {
        let moves = self.events.iter().filter(|(_, event)| matches!(event, Event::PathInUse { .. }));
        moves.map(|(at, _)| *at).collect()
    }

    /// The longest time between two messages that ends after `from` and not after `to`, and when it ends; all of that time if no message came in
    /// it. A silence that goes on beyond `to` does not count.
    pub fn longest_gap(&self, from: Instant, to: Instant) -> (Duration, Instant) {
        let gaps = self.received.windows(2).map(|two| (two[0].0, two[1].0));
        let gaps = gaps.filter(|(_, end)| *end > from && *end <= to);
        gaps.map(|(begin, end)| (end.saturating_since(begin), end))
            .max()
            .unwrap_or((to.saturating_since(from), to))
    }

    /// The most that a message came later than it was due, of those that came from `from` on; [`Duration::MAX`] if none did. Message `n`,
    /// counted from 0, is due `n` intervals after `first`.
    pub fn behind(&self, first: Instant, interval: Duration, from: Instant) -> Duration {
        let arrivals = (0..).zip(&self.received).filter(|(_, (at, _))| *at >= from);
        let late = |(n, (at, _)): (u32, &(Instant, Received))| at.saturating_since(first + interval * n);
        arrivals.map(late).max().unwrap_or(Duration::MAX)
    }
}

impl Record for Log {
    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        match event {
            Event::Message { .. } if self.discard => {}
            Event::Message { received, .. } => self.received.push((context.now(), received)),
            Event::SendRefused { error, .. } => panic!("message refused: {error}"),
            event => self.events.push((context.now(), event)),
        }
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
