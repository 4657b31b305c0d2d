//! Spans and events of `tracing`: a span for each association, in which what happens to it is told at the level `debug`, and what its paths are
//! like, losses included, at `trace`.

use tracing::{Level, debug, trace, warn};
use whimbrel_machine::{Record, Value};
use whimbrel_proto::{AssociationId, CloseReason};

use crate::association::Setup;
use crate::events::AssociationEvent;

/// The target of what is told at `trace`, so that it can be asked for or left out by itself.
const RECORDS: &str = "whimbrel::records";
/// The target of everything else.
const TARGET: &str = "whimbrel";

/// The span of an association.
pub(crate) struct Span(tracing::Span);

impl Span {
    pub(crate) fn open(id: AssociationId, setup: &Setup) -> Self {
        let span = tracing::debug_span!(
            target: TARGET,
            "association",
            id = id.number(),
            local_port = setup.local_port,
            remote_port = setup.remote_port,
        );
        span.in_scope(|| {
            debug!(
                target: TARGET,
                local = %setup.primary.local,
                remote = %setup.primary.remote,
                mobility = ?setup.mobility,
                "up"
            );
        });
        Self(span)
    }

    /// Whether a subscriber wants to hear of the association.
    pub(crate) fn is_heard(&self) -> bool {
        !self.0.is_disabled()
    }

    pub(crate) fn record(&self, one: &Record) {
        self.0.in_scope(|| record(one));
    }

    /// Tells what has happened to the association.
    pub(crate) fn tell(&self, event: &AssociationEvent) {
        self.0.in_scope(|| tell(event));
    }
}

fn tell(event: &AssociationEvent) {
    match event {
        AssociationEvent::Path { path, route, state } => {
            debug!(target: TARGET, path = path.number(), local = %route.local, remote = %route.remote, ?state, "path");
        }
        AssociationEvent::PathInUse { path, route } => {
            debug!(target: TARGET, path = path.number(), local = %route.local, remote = %route.remote, "path in use");
        }
        AssociationEvent::PathQuality { path, quality, .. } => {
            trace!(target: TARGET, path = path.number(), ?quality, "quality of a path");
        }
        AssociationEvent::PathEstimates { path } => {
            trace!(target: TARGET, path = path.number(), "estimates of a path");
        }
        AssociationEvent::PathGone { path, route } => {
            debug!(target: TARGET, path = path.number(), local = %route.local, remote = %route.remote, "path gone");
        }
        AssociationEvent::AddressChanged { change, outcome } => {
            debug!(target: TARGET, ?change, ?outcome, "address changed");
        }
        AssociationEvent::PeerAddress { address, change } => {
            debug!(target: TARGET, %address, ?change, "address of the peer");
        }
        AssociationEvent::Decision(decision) => {
            debug!(target: TARGET, action = ?decision.action, reason = %decision.reason, "handover");
        }
        AssociationEvent::MobilityChanged { mobility } => {
            debug!(target: TARGET, ?mobility, "mobility changed");
        }
        AssociationEvent::AuthKey { key, news } => debug!(target: TARGET, key, ?news, "key"),
        // Whoever restarted may be someone else (RFC 5062 §4).
        AssociationEvent::Restarted { undelivered, .. } => {
            warn!(target: TARGET, undelivered, "the peer has restarted");
        }
        AssociationEvent::PeerShutdown => debug!(target: TARGET, "the peer shuts down"),
        AssociationEvent::PeerError { causes } => debug!(target: TARGET, ?causes, "the peer reports errors"),
        AssociationEvent::SendRefused { message, error } => {
            debug!(target: TARGET, bytes = message.payload.len(), %error, "a message could not be sent");
        }
        AssociationEvent::Closed { reason, undelivered } => {
            debug!(target: TARGET, %reason, undelivered, "closed");
        }
    }
}

/// Whether somebody wants to hear of windows, round trips and losses. Without a subscriber this is one load and one comparison.
pub(crate) fn want_records() -> bool {
    tracing::enabled!(target: RECORDS, Level::TRACE)
}

/// A quantity has changed.
pub(crate) fn record(record: &Record) {
    let Record { name, subject, path, value } = *record;
    match value {
        Value::Amount(amount) => trace!(target: RECORDS, association = subject, path, amount, "{name}"),
        Value::State(state) => trace!(target: RECORDS, association = subject, path, state, "{name}"),
        Value::Route(route) => {
            trace!(target: RECORDS, association = subject, path, local = %route.local, remote = %route.remote, "{name}");
        }
    }
}

pub(crate) fn connect_failed(reason: &CloseReason) {
    debug!(target: TARGET, %reason, "no connection");
}
