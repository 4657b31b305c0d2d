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

    /// The longest time between two messages that ends after `from` and not after `to`, and when it ends; `None` if none does.
    pub fn longest_gap(&self, from: Instant, to: Instant) -> Option<(Duration, Instant)> {
        let times: Vec<Instant> = self.received.iter().map(|(at, _)| *at).collect();
        let gaps = times.windows(2).filter(|two| two[1] > from && two[1] <= to);
        gaps.map(|two| (two[1].saturating_since(two[0]), two[1])).max()
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
