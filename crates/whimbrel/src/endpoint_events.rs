use std::sync::{Arc, Mutex, Weak};

use core::net::SocketAddr;

use crate::event_log::EventLog;
use crate::shared::lock;

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

/// Who reads the events of an endpoint.
type Subscriber = EventLog<EndpointEvent>;

impl EndpointEvents {
    /// The next event; `None` once the endpoint is closed.
    ///
    /// Cancel-safe: an event is taken only by a call that returns it.
    pub async fn recv(&mut self) -> Option<EndpointEvent> {
        self.subscriber.recv().await
    }

    /// The next event if there is one already.
    pub fn try_recv(&mut self) -> Option<EndpointEvent> {
        self.subscriber.try_recv()
    }

    /// How many events were dropped because they were not read in time.
    pub fn missed(&self) -> u64 {
        self.subscriber.missed()
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
        if state.ended {
            subscriber.end();
        }
        state.list.retain(|old| old.strong_count() > 0);
        state.list.push(Arc::downgrade(&subscriber));
        EndpointEvents { subscriber }
    }

    pub(crate) fn publish(&self, event: &EndpointEvent) {
        let mut state = lock(&self.state);
        if !state.asked {
            state.early.get_or_insert_default().push(event.clone());
        }
        state.each(|subscriber| subscriber.push(event.clone()));
    }

    /// No further events will come.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.ended = true;
        state.each(Subscriber::end);
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

#[cfg(test)]
#[path = "endpoint_events_tests.rs"]
mod tests;
