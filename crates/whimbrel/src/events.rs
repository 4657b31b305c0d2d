use std::sync::Arc;

use core::net::SocketAddr;

use whimbrel_handover::Decision;
use whimbrel_machine::Route;
use whimbrel_proto::{
    AddressChange, AddressChangeError, AuthKeyNews, CloseReason, Message, Mobility, PathId, PathQuality,
    PathState, PeerAddressChange, SendError,
};

use crate::event_log::EventLog;

/// Something that happened to an association besides the arrival of messages.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum AssociationEvent {
    /// A path has come up or changed state.
    Path {
        /// The path that has changed.
        path: PathId,
        /// Its addresses.
        route: Route,
        /// Its new state.
        state: PathState,
    },
    /// New data now goes out on this path.
    PathInUse {
        /// The path that carries new data from now on.
        path: PathId,
        /// Its addresses.
        route: Route,
    },
    /// What a path is worth beside others has changed: its delay by a quarter and 10 ms, or whether it loses much.
    PathQuality {
        /// The path that has changed.
        path: PathId,
        /// Its addresses.
        route: Route,
        /// What it is worth now.
        quality: PathQuality,
    },
    /// What a path can carry, or carries, is known better, or it is congested; its [`PathView`](crate::PathView) says which. Only with
    /// [`HeartbeatForm::Train`](crate::proto::HeartbeatForm::Train).
    PathEstimates {
        /// The path that has changed.
        path: PathId,
    },
    /// A path is no more: one of its addresses has left the association.
    PathGone {
        /// The path that is no more.
        path: PathId,
        /// The addresses it had.
        route: Route,
    },
    /// The peer has answered a change of our addresses, whoever wanted it.
    AddressChanged {
        /// The change.
        change: AddressChange,
        /// Whether the peer has carried it out.
        outcome: Result<(), AddressChangeError>,
    },
    /// There is something to say about a shared key (RFC 4895).
    AuthKey {
        /// Its identifier.
        key: u16,
        /// What has become of the key.
        news: AuthKeyNews,
    },
    /// The policy has decided something, and why.
    Decision(Decision),
    /// The peer has changed its addresses.
    PeerAddress {
        /// The address; its port is the UDP encapsulation port.
        address: SocketAddr,
        /// What became of it.
        change: PeerAddressChange,
    },
    /// Addresses can change now, or no more.
    MobilityChanged {
        /// Whether addresses can change from now on.
        mobility: Mobility,
    },
    /// The peer has restarted; [`Association::recv`](crate::Association::recv) reports it too.
    Restarted {
        /// Outbound streams after the restart.
        outbound_streams: u16,
        /// Bytes of messages that were taken for sending before the restart and are given up.
        undelivered: usize,
    },
    /// The peer has begun a graceful shutdown: it takes no new data.
    PeerShutdown,
    /// The peer reported errors that do not end the association.
    PeerError {
        /// Cause codes (RFC 9260 §3.3.10).
        causes: Vec<u16>,
    },
    /// A message that [`Association::send`](crate::Association::send) had taken could not be sent after all, because
    /// the association changed at the same moment.
    SendRefused {
        /// The message.
        message: Message,
        /// Why it was not accepted.
        error: SendError,
    },
    /// The association is gone. Always the last event.
    Closed {
        /// Why it ended.
        reason: CloseReason,
        /// Bytes of messages that were taken for sending but not acknowledged by the peer.
        undelivered: usize,
    },
}

/// Receives the events of one association, from the moment it was asked for.
///
/// Holds 256 events; when nobody reads them, the oldest are dropped and counted by [`Events::missed`].
#[derive(Debug)]
pub struct Events {
    subscriber: Arc<Subscriber>,
}

impl Events {
    pub(crate) fn new(subscriber: Arc<Subscriber>) -> Self {
        Self { subscriber }
    }

    /// The next event; `None` after [`AssociationEvent::Closed`].
    ///
    /// Cancel-safe: an event is taken only by a call that returns it.
    pub async fn recv(&mut self) -> Option<AssociationEvent> {
        self.subscriber.recv().await
    }

    /// The next event if there is one already.
    pub fn try_recv(&mut self) -> Option<AssociationEvent> {
        self.subscriber.try_recv()
    }

    /// How many events were dropped because they were not read in time.
    pub fn missed(&self) -> u64 {
        self.subscriber.missed()
    }
}

/// Who reads the events of an association.
pub(crate) type Subscriber = EventLog<AssociationEvent>;

impl Subscriber {
    /// Passes an event on; [`AssociationEvent::Closed`] is the last.
    pub(crate) fn tell(&self, event: AssociationEvent) {
        let last = matches!(event, AssociationEvent::Closed { .. });
        self.push(event);
        if last {
            self.end();
        }
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
