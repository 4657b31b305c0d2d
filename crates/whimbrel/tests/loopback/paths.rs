use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::sleep;
use whimbrel::{Association, AssociationEvent, Endpoint, PathState};

use crate::relay::Relay;
use crate::support::*;

/// A client and a server with an IPv4 and an IPv6 network between them.
struct TwoNetworks {
    near: Association,
    far: Association,
    relays: [Relay; 2],
    endpoints: [Endpoint; 2],
}

/// Two sockets per network, on ports that are the same in both: a host has one encapsulation port (RFC 6951 §5.1).
async fn on_same_port() -> [UdpSocket; 2] {
    loop {
        let v4 = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(v6) = UdpSocket::bind(("::1", v4.local_addr().unwrap().port())).await {
            return [v4, v6];
        }
    }
}

async fn two_networks() -> TwoNetworks {
    let addresses = [local("127.0.0.1:0"), local("[::1]:0")];
    let client = Endpoint::bind(addresses).await.unwrap();
    let server = Endpoint::bind(addresses).await.unwrap();
    let [entry4, entry6] = on_same_port().await;
    let [exit4, exit6] = on_same_port().await;
    let entries: Vec<SocketAddr> = vec![entry4.local_addr().unwrap(), entry6.local_addr().unwrap()];
    let (c, s) = (client.local_addresses(), server.local_addresses());
    let relays = [Relay::start(entry4, exit4, c[0], s[0]), Relay::start(entry6, exit6, c[1], s[1])];
    let listener = server.listen(PORT).unwrap();
    let (near, far) = soon(async { tokio::join!(client.connect(&entries, PORT), listener.accept()) }).await;
    TwoNetworks { near: near.unwrap(), far: far.unwrap(), relays, endpoints: [client, server] }
}

/// Waits until there are two active paths.
async fn both_active(association: &Association) {
    let both = async {
        loop {
            let paths = association.paths().await;
            if paths.len() == 2 && paths.iter().all(|path| path.state == PathState::Active) {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    soon(both).await;
}

#[tokio::test]
async fn both_addresses_are_paths() {
    let TwoNetworks { near, far, relays: _relays, .. } = two_networks().await;
    both_active(&near).await;
    both_active(&far).await;
    let paths = near.paths().await;
    assert_eq!(paths.iter().filter(|path| path.primary).count(), 1);
    assert_eq!(paths.iter().filter(|path| path.route.local.is_ipv4()).count(), 1);
}

/// The primary path dies in the middle of a transfer: it goes on over the other, and nothing is lost.
#[tokio::test]
async fn a_transfer_survives_the_loss_of_its_network() {
    const COUNT: usize = 400;
    let TwoNetworks { near, far, relays, endpoints } = two_networks().await;
    both_active(&near).await;
    both_active(&far).await;
    let primary = near.paths().await.into_iter().find(|path| path.in_use).unwrap();
    let (dies, stays) =
        if primary.route.local.is_ipv4() { (&relays[0], &relays[1]) } else { (&relays[1], &relays[0]) };
    let mut events = near.events();
    let sender = tokio::spawn({
        let near = near.clone();
        async move {
            for number in 0..COUNT {
                near.send(message(0, content(number, 20_000))).await.unwrap();
                sleep(Duration::from_millis(2)).await;
            }
        }
    });
    for number in 0..COUNT {
        let received = soon(far.recv()).await.unwrap().unwrap();
        assert_eq!(received.payload, content(number, 20_000), "message {number}");
        if number == COUNT / 3 {
            dies.cut();
        }
    }
    soon(sender).await.unwrap();
    assert!(stays.forwarded.load(Ordering::Relaxed) > 1000, "the other network carried the rest");
    let mut seen = Vec::new();
    while let Some(event) = events.try_recv() {
        seen.push(event);
    }
    let failed = |event: &AssociationEvent| {
        matches!(event, AssociationEvent::Path { path, state, .. }
            if *path == primary.id && matches!(state, PathState::PotentiallyFailed | PathState::Inactive))
    };
    assert!(seen.iter().any(failed), "{seen:?}");

    let metrics = endpoints[0].metrics().await;
    assert!(metrics.handovers >= 1 && metrics.totals.stats.data_retransmitted >= 1, "{metrics:?}");
    assert!(metrics.handover_gaps.count() >= 1, "{metrics:?}");
    assert!(metrics.totals.round_trips.count() > 5, "{metrics:?}");

    // It comes back when the network does.
    dies.repair();
    both_active(&near).await;
}

#[tokio::test]
async fn the_primary_path_can_be_chosen() {
    let TwoNetworks { near, far, relays: _relays, .. } = two_networks().await;
    both_active(&near).await;
    let standby = near.paths().await.into_iter().find(|path| !path.primary).unwrap();
    let mut events = near.events();
    near.set_primary(standby.id);
    let moved = async {
        loop {
            if let AssociationEvent::PathInUse { path, .. } = events.recv().await.unwrap() {
                return path;
            }
        }
    };
    assert_eq!(soon(moved).await, standby.id);
    near.send(message(0, "over there".into())).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "over there");
    let paths = near.paths().await;
    assert!(paths.iter().any(|path| path.id == standby.id && path.primary));
    let stats = near.stats().await.unwrap();
    assert_eq!((stats.messages_sent, stats.bytes_sent), (1, 10));
}
