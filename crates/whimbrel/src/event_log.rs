use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::sync::Notify;

use crate::shared::lock;

/// Events kept for a reader that does not read; older ones are dropped and counted.
pub(crate) const CAPACITY: usize = 256;

/// Events on their way to one reader, bounded.
#[derive(Debug)]
pub(crate) struct EventLog<E> {
    state: Mutex<State<E>>,
    arrived: Notify,
}

#[derive(Debug)]
struct State<E> {
    events: VecDeque<E>,
    missed: u64,
    ended: bool,
}

impl<E> Default for EventLog<E> {
    fn default() -> Self {
        let state = State { events: VecDeque::new(), missed: 0, ended: false };
        Self { state: Mutex::new(state), arrived: Notify::new() }
    }
}

impl<E> EventLog<E> {
    pub(crate) fn push(&self, event: E) {
        let mut state = lock(&self.state);
        if state.events.len() == CAPACITY {
            state.events.pop_front();
            state.missed += 1;
        }
        state.events.push_back(event);
        drop(state);
        self.arrived.notify_one();
    }

    /// No further events will come.
    pub(crate) fn end(&self) {
        lock(&self.state).ended = true;
        self.arrived.notify_one();
    }

    /// The next event; `None` at the end. Cancel-safe: an event is taken only by a call that returns it.
    pub(crate) async fn recv(&self) -> Option<E> {
        loop {
            let arrived = self.arrived.notified();
            {
                let mut state = lock(&self.state);
                if let Some(event) = state.events.pop_front() {
                    return Some(event);
                }
                if state.ended {
                    return None;
                }
            }
            arrived.await;
        }
    }

    pub(crate) fn try_recv(&self) -> Option<E> {
        lock(&self.state).events.pop_front()
    }

    pub(crate) fn missed(&self) -> u64 {
        lock(&self.state).missed
    }
}
