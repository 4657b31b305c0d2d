//! What SCTP and the host say, as the machines want to hear it.

use std::net::SocketAddr;

use tokio::sync::mpsc;
use whimbrel::proto;
use whimbrel::{Association, AssociationEvent, Endpoint, EndpointEvent};
use whimbrel_machine::Links;

use crate::runner::Told;

/// An association that is up.
pub(crate) fn up(association: &Association) -> proto::Event {
    proto::Event::Up {
        association: association.id(),
        token: None,
        outbound_streams: association.outbound_streams(),
        inbound_streams: association.inbound_streams(),
        local_port: association.local_port(),
        remote_port: association.remote_port(),
        primary: association.initial_route(),
        mobility: association.mobility(),
        peer_adaptation: None,
        peer_key: None,
    }
}

/// Tells of an association until it has ended.
pub(crate) async fn follow(association: Association, told: mpsc::Sender<Told>) {
    let id = association.id();
    let mut events = association.events();
    while let Some(event) = events.recv().await {
        let event = match event {
            AssociationEvent::Path { path, route, state } => {
                proto::Event::Path { association: id, path, route, state }
            }
            AssociationEvent::Closed { .. } => break,
            _ => continue,
        };
        if told.send(Told::Transport(event)).await.is_err() {
            return;
        }
    }
    let reason = association.closed().await;
    let _ =
        told.send(Told::Transport(proto::Event::Closed { association: id, reason, undelivered: 0 })).await;
}

/// Tells of the host's addresses until the endpoint is closed.
pub(crate) async fn links(endpoint: Endpoint, told: mpsc::Sender<Told>) {
    let mut events = endpoint.events();
    loop {
        let addresses: Vec<SocketAddr> = endpoint.local_addresses();
        if told.send(Told::Links(Links::new(&addresses))).await.is_err() {
            return;
        }
        loop {
            match events.recv().await {
                Some(EndpointEvent::AddressUp { .. } | EndpointEvent::AddressDown { .. }) => break,
                Some(_) => {}
                None => return,
            }
        }
    }
}
