use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};

use core::net::SocketAddr;

use tokio::sync::Notify;

use crate::shared::lock;

/// Events kept for a reader that does not read; older ones are dropped and counted.
const CAPACITY: usize = 256;

/// Something that happened to an endpoint as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EndpointEvent {
    /// A local address has become usable and has a socket now.
    AddressUp {
        /// Address and UDP port.
        address: SocketAddr,
        /// The interface that has it, where that is known.
        interface: Option<String>,
    },
    /// A local address is gone, or its interface has lost its carrier; its socket is closed.
    AddressDown {
        /// Address and UDP port.
        address: SocketAddr,
    },
    /// The host has an address that cannot be used, for instance because another program has the UDP port there.
    AddressRefused {
        /// Address and UDP port.
        address: SocketAddr,
        /// What to do about it.
        reason: String,
    },
    /// A source of link facts said something that makes no sense, or ended.
    LinkSource {
        /// Which, in words.
        source: String,
        /// What is wrong.
        text: String,
    },
}

/// Receives an endpoint's events, from the moment it was asked for; the first receiver also gets what happened before.
///
/// Holds 256 events; when nobody reads them, the oldest are dropped and counted by [`EndpointEvents::missed`].
#[derive(Debug)]
pub struct EndpointEvents {
    subscriber: Arc<Subscriber>,
}

#[derive(Default, Debug)]
struct Subscriber {
    log: Mutex<Log>,
    arrived: Notify,
}

#[derive(Default, Debug)]
struct Log {
    events: VecDeque<EndpointEvent>,
    missed: u64,
    ended: bool,
}

impl EndpointEvents {
    /// The next event; `None` once the endpoint is closed.
    ///
    /// Cancel-safe: an event is taken only by a call that returns it.
    pub async fn recv(&mut self) -> Option<EndpointEvent> {
        loop {
            let arrived = self.subscriber.arrived.notified();
            {
                let mut log = lock(&self.subscriber.log);
                if let Some(event) = log.events.pop_front() {
                    return Some(event);
                }
                if log.ended {
                    return None;
                }
            }
            arrived.await;
        }
    }

    /// The next event if there is one already.
    pub fn try_recv(&mut self) -> Option<EndpointEvent> {
        lock(&self.subscriber.log).events.pop_front()
    }

    /// How many events were dropped because they were not read in time.
    pub fn missed(&self) -> u64 {
        lock(&self.subscriber.log).missed
    }
}

/// Everyone who wants to know.
#[derive(Default)]
pub(crate) struct Subscribers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ended: bool,
    list: Vec<Weak<Subscriber>>,
    /// Nobody has asked yet: kept for whoever does so first.
    early: Option<Arc<Subscriber>>,
    asked: bool,
}

impl Subscribers {
    pub(crate) fn subscribe(&self) -> EndpointEvents {
        let mut state = lock(&self.state);
        let subscriber = state.early.take().unwrap_or_default();
        state.asked = true;
        lock(&subscriber.log).ended = state.ended;
        state.list.retain(|old| old.strong_count() > 0);
        state.list.push(Arc::downgrade(&subscriber));
        EndpointEvents { subscriber }
    }

    pub(crate) fn publish(&self, event: &EndpointEvent) {
        let mut state = lock(&self.state);
        if !state.asked {
            state.early.get_or_insert_default().push(event);
        }
        state.each(|subscriber| subscriber.push(event));
    }

    /// No further events will come.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.ended = true;
        state.each(|subscriber| {
            lock(&subscriber.log).ended = true;
            subscriber.arrived.notify_one();
        });
    }
}

impl State {
    fn each(&mut self, change: impl Fn(&Subscriber)) {
        self.list.retain(|subscriber| {
            let subscriber = subscriber.upgrade();
            subscriber.iter().for_each(|subscriber| change(subscriber));
            subscriber.is_some()
        });
    }
}

impl Subscriber {
    fn push(&self, event: &EndpointEvent) {
        let mut log = lock(&self.log);
        if log.events.len() == CAPACITY {
            log.events.pop_front();
            log.missed += 1;
        }
        log.events.push_back(event.clone());
        drop(log);
        self.arrived.notify_one();
    }
}

#[cfg(test)]
#[path = "endpoint_events_tests.rs"]
mod tests;
