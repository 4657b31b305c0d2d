//! What is told of a host's addresses and an association's paths as they change.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::json;
use whimbrel::handover::{Action, Decision};
use whimbrel::interfaces::Interfaces;
use whimbrel::{
    AddressChange, Association, AssociationEvent, AuthKeyNews, Endpoint, EndpointEvent, Mobility, PathState,
    PathView, PeerAddressChange,
};

use crate::path_words::plain_state_name;

/// Where news of the host's addresses goes.
pub(crate) trait News: Send + Sync + 'static {
    /// An object for programs.
    fn event(&self, kind: &str, fields: serde_json::Value);
    /// A sentence for people.
    fn note(&self, text: &str);
    /// A sentence for people that must not get lost.
    fn warn(&self, text: &str);
}

/// Tells of addresses that come and go, as long as the endpoint lives.
pub(crate) fn tell(endpoint: &Endpoint, news: Arc<impl News>) {
    let mut events = endpoint.events();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            match event {
                EndpointEvent::AddressUp { address, interface } => {
                    let on = interface.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
                    news.event(
                        "address",
                        json!({ "address": address, "interface": interface, "state": "up" }),
                    );
                    news.note(&format!("address {}{on} is up", address.ip()));
                }
                EndpointEvent::AddressDown { address } => {
                    news.event("address", json!({ "address": address, "state": "down" }));
                    news.note(&format!("address {} is down", address.ip()));
                }
                EndpointEvent::AddressRefused { address, reason } => {
                    news.event("address", json!({ "address": address, "state": "refused", "text": reason }));
                    news.note(&format!("address {} is not used: {reason}", address.ip()));
                }
                EndpointEvent::LinkSource { source, text } => {
                    news.event("link-facts", json!({ "source": source, "text": text }));
                    news.note(&format!("{source}: {text}"));
                }
                _ => {}
            }
        }
    });
}

/// Tells what happens to an association's paths and addresses, until it ends.
pub(crate) fn follow(endpoint: &Endpoint, association: &Association, news: Arc<impl News>) {
    let mut events = association.events();
    let (endpoint, association) = (endpoint.clone(), association.clone());
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            tell_of(&event, &endpoint, &association, news.as_ref()).await;
        }
    });
}

/// Tells something that knows its own words: a sentence for people, and for programs an object whose `event` names its kind.
pub(crate) fn tell_as_is(one: &(impl std::fmt::Display + serde::Serialize), news: &impl News) {
    if let Ok(mut fields) = serde_json::to_value(one) {
        let event = fields["event"].take();
        news.event(event.as_str().unwrap_or_default(), fields);
    }
    news.note(&one.to_string());
}

/// Tells what happens to an association's paths and addresses.
pub(crate) async fn tell_of(
    event: &AssociationEvent,
    endpoint: &Endpoint,
    association: &Association,
    news: &impl News,
) {
    match event {
        AssociationEvent::Path { route, state, .. } if *state != PathState::Unconfirmed => {
            tell_path(route, plain_state_name(*state), news);
        }
        AssociationEvent::PathInUse { route, .. } => tell_path(route, "in use", news),
        AssociationEvent::PathGone { route, .. } => tell_path(route, "gone", news),
        AssociationEvent::Decision(decision) => {
            let paths = association.paths().await;
            tell_decision(decision, &paths, &endpoint.interfaces(), news);
        }
        AssociationEvent::AddressChanged { change, outcome } => {
            let text = match change {
                AddressChange::Add(address) => format!("adding {}", address.ip()),
                AddressChange::Delete(ip) => format!("taking out {ip}"),
                AddressChange::SetPrimary(ip) => format!("asking to be sent to {ip}"),
            };
            let error = outcome.as_ref().err().map(ToString::to_string);
            news.event("address-changed", json!({ "change": text, "ok": outcome.is_ok(), "text": error }));
            if let Some(error) = error {
                news.note(&format!("{text}: {error}"));
            }
        }
        AssociationEvent::PeerAddress { address, change } => {
            let what = match change {
                PeerAddressChange::Added => "added",
                PeerAddressChange::Deleted => "deleted",
                PeerAddressChange::MadePrimary => "primary",
            };
            news.event("peer-address", json!({ "address": address, "change": what }));
            news.note(&format!("the peer's address {}: {what}", address.ip()));
        }
        AssociationEvent::AuthKey { key, news: AuthKeyNews::Unknown } => {
            news.event("auth-key", json!({ "key": key, "text": "unknown" }));
            news.note(&format!("the peer uses key {key}, which is not in the --auth-key-file here"));
        }
        AssociationEvent::MobilityChanged { mobility: Mobility::Static(reason) } => {
            news.note(&format!("addresses cannot change any more: {reason}"));
        }
        _ => {}
    }
}

fn tell_path(route: &whimbrel::Route, state: &str, news: &impl News) {
    news.event("path", json!({ "local": route.local, "remote": route.remote, "state": state }));
    news.note(&format!("path {} → {}: {state}", route.local.ip(), route.remote.ip()));
}

fn tell_decision(decision: &Decision, paths: &[PathView], interfaces: &Interfaces, news: &impl News) {
    let text = match decision.action {
        Action::AddAddress(address) => format!("adding {}", on(address.ip(), interfaces)),
        Action::DeleteAddress(ip) => format!("taking out {ip}"),
        Action::AskPrimary(ip) => format!("asking to be sent to {}", on(ip, interfaces)),
        Action::UsePath(id) => match paths.iter().find(|path| path.id == id).map(|path| path.route) {
            Some(route) => {
                format!("moving to {} → {}", on(route.local.ip(), interfaces), route.remote.ip())
            }
            // Already gone again.
            None => format!("moving to path {}", id.number()),
        },
        // Details that nobody but a program wants to know.
        Action::ShapePath { .. } => "shaping a path".into(),
        Action::RetransmitLost(_) => "sending again what was lost".into(),
    };
    let reason = decision.reason.to_string();
    news.event("decision", json!({ "action": text, "reason": reason }));
    if !matches!(decision.action, Action::ShapePath { .. } | Action::RetransmitLost(_)) {
        news.note(&format!("{text}: {reason}"));
    }
}

/// An address with its interface, where that is known.
fn on(ip: IpAddr, interfaces: &Interfaces) -> String {
    match interfaces.with_address(ip) {
        Some((name, _)) => format!("{ip} ({name})"),
        None => ip.to_string(),
    }
}

/// The addresses in words; an endpoint may have none yet.
pub(crate) fn describe(addresses: &[String]) -> String {
    if addresses.is_empty() {
        "no address yet (it will be used when there is one)".into()
    } else {
        addresses.join(", ")
    }
}

#[cfg(test)]
#[path = "news_tests.rs"]
mod tests;
