//! What events leave in the trace.

use whimbrel_proto::Event;

/// What of an event goes into the trace.
pub(crate) fn noteworthy(event: &Event) -> Option<(&'static str, u64)> {
    Some(match event {
        Event::Up { association, .. } => ("up", association.number()),
        Event::ConnectFailed { token, .. } => ("connect-failed", token.0),
        Event::Message { received, .. } => ("message", u64::from(received.ppid.0)),
        Event::Sent { bytes, .. } => ("acknowledged", *bytes as u64),
        Event::SendRefused { message, .. } => ("refused", u64::from(message.ppid.0)),
        Event::PathInUse { path, .. } => ("path-in-use", u64::from(path.number())),
        Event::Restarted { association, .. } => ("restarted", association.number()),
        Event::PeerShutdown { association } => ("peer-shutdown", association.number()),
        Event::Closed { association, .. } => ("closed", association.number()),
        Event::PathGone { path, .. } => ("path-gone", u64::from(path.number())),
        Event::AddressChanged { outcome, .. } => ("address-changed", u64::from(outcome.is_ok())),
        Event::PeerAddress { change, .. } => ("peer-address", *change as u64),
        Event::Path { .. }
        | Event::PathQuality { .. }
        | Event::PathEstimates { .. }
        | Event::PeerError { .. }
        | Event::AuthKey { .. }
        | Event::MobilityChanged { .. } => return None,
    })
}
