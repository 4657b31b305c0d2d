//! Endpoints of several shards.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use tokio::sync::watch;
use whimbrel::handover::{Pace, Seamless};
use whimbrel::{
    Association, AssociationEvent, BindError, CloseReason, ConnectError, Encapsulation, Endpoint,
    EndpointEvent, Listener, RecvError,
};

use crate::links::{Scripted, host};
use crate::support::*;

async fn sharded(addresses: &[&str], shards: u32) -> Endpoint {
    let addresses = addresses.iter().map(|text| local(text));
    Endpoint::builder().addresses(addresses).shards(shards).bind().await.unwrap()
}

/// In which of two shards it is.
fn shard(association: &Association) -> u64 {
    association.id().number() % 2
}

async fn exchange(near: &Association, far: &Association, messages: usize) {
    for number in 0..messages {
        near.send(message(0, content(number, 5000))).await.unwrap();
        far.send(message(0, content(number + 1, 300))).await.unwrap();
        assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(number, 5000));
        assert_eq!(soon(near.recv()).await.unwrap().unwrap().payload, content(number + 1, 300));
    }
}

/// An association of a client with the other ports and the shard at the server that is wanted.
async fn connect_to_shard(
    client: &Endpoint,
    server: &Endpoint,
    listener: &Listener,
    wanted: u64,
) -> (Association, Association) {
    loop {
        let (near, far) = connect(client, server, listener).await;
        if shard(&far) == wanted {
            return (near, far);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_are_spread_over_the_shards_and_nothing_is_handed_over() {
    for addresses in [&["127.0.0.91:0"][..], &["127.0.0.91:0", "127.0.0.92:0"]] {
        let server = sharded(addresses, 2).await;
        let listener = server.listen(PORT).unwrap();
        let mut all = Vec::new();
        for number in 0..16 {
            let client = if number % 2 == 0 {
                endpoint().await
            } else {
                sharded(&["127.0.0.93:0", "127.0.0.94:0"], 1).await
            };
            let (near, far) = connect(&client, &server, &listener).await;
            all.push((client, near, far));
        }
        let tasks: Vec<_> = all
            .iter()
            .map(|(_, near, far)| (near.clone(), far.clone()))
            .map(|(near, far)| tokio::spawn(async move { exchange(&near, &far, 50).await }))
            .collect();
        for task in tasks {
            soon(task).await.unwrap();
        }
        let seconds = all.iter().filter(|(_, _, far)| shard(far) == 1).count();
        assert!((4..=12).contains(&seconds), "{seconds} of 16");
        let names: BTreeSet<_> = all.iter().map(|(_, _, far)| far.id()).collect();
        let views: BTreeSet<_> = server.associations().await.into_iter().map(|view| view.id).collect();
        assert_eq!(names, views);
        for (_, near, far) in &all {
            assert!(!far.paths().await.is_empty());
            soon(near.shutdown()).await.unwrap();
        }
        let total = server.hand_overs().total;
        assert_eq!(total, steered(0, total));
        soon(server.close()).await;
    }
}

/// A train of small packets of several associations goes to one shard as a whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trains_of_several_associations_arrive() {
    let server = sharded(&["127.0.0.95:0"], 2).await;
    let listener = server.listen(PORT).unwrap();
    let client = endpoint().await;
    let mut all = Vec::new();
    for _ in 0..8 {
        all.push(connect(&client, &server, &listener).await);
    }
    for round in 0..200 {
        for (near, _) in &all {
            near.send(message(0, content(round, 40))).await.unwrap();
        }
    }
    for (_, far) in &all {
        for round in 0..200 {
            assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(round, 40));
        }
    }
    assert_eq!(server.hand_overs().dropped, 0);
}

/// The tag is the same from the new address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_moves_stays_in_its_shard() {
    for wanted in [0, 1] {
        let server = sharded(&["127.0.0.96:0"], 2).await;
        let listener = server.listen(PORT).unwrap();
        let links = |first| host(&[("a", "127.0.0.97", first), ("b", "127.0.0.98", !first)]);
        let (sender, receiver) = watch::channel(links(true));
        let client = Endpoint::builder()
            .addresses([local("127.0.0.97:0"), local("127.0.0.98:0")])
            .link_source(Scripted(receiver))
            .policy(|| Seamless::policy(Pace::MOBILE))
            .bind()
            .await
            .unwrap();
        let (near, far) = connect_to_shard(&client, &server, &listener, wanted).await;
        let mut moves = far.events();
        exchange(&near, &far, 5).await;
        // Associations to the other shard were dropped at both ends at once: a last word may have crossed another, and an answer to that has a tag that
        // names no shard.
        let before = server.hand_overs().total;
        for first in [false, true] {
            exchange(&near, &far, 5).await;
            sender.send(links(first)).unwrap();
            let here = local(if first { "127.0.0.97:0" } else { "127.0.0.98:0" }).ip();
            let moved = async {
                loop {
                    match moves.recv().await.expect("it lives") {
                        AssociationEvent::PathInUse { route, .. } if route.remote.ip() == here => return,
                        _ => {}
                    }
                }
            };
            soon(moved).await;
            exchange(&near, &far, 20).await;
        }
        assert_eq!(shard(&far), wanted);
        let handed_over = server.hand_overs().total - before;
        assert_eq!(handed_over, steered(0, handed_over));
    }
}

/// Elsewhere than on Linux systems do not steer: then whatever is `seen` is right.
fn steered(wanted: u64, seen: u64) -> u64 {
    if cfg!(target_os = "linux") { wanted } else { seen }
}

/// Sockets of all shards come and go with an address, and keep their order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_of_all_shards_comes_and_goes() {
    let links = |up| host(&[("a", "127.0.0.99", up), ("b", "127.0.0.100", true)]);
    let (sender, receiver) = watch::channel(links(true));
    let server = Endpoint::builder()
        .addresses([local("0.0.0.0:0")])
        .link_source(Scripted(receiver))
        .without_policy()
        .shards(3)
        .bind()
        .await
        .unwrap();
    let mut events = server.events();
    let listener = server.listen(PORT).unwrap();
    for _ in 0..3 {
        for up in [false, true] {
            sender.send(links(up)).unwrap();
            let ip = local("127.0.0.99:0").ip();
            let told = async {
                loop {
                    match events.recv().await.unwrap() {
                        EndpointEvent::AddressUp { address, .. } if up && address.ip() == ip => {
                            return address;
                        }
                        EndpointEvent::AddressDown { address } if !up && address.ip() == ip => {
                            return address;
                        }
                        EndpointEvent::AddressRefused { reason, .. } => panic!("{reason}"),
                        _ => {}
                    }
                }
            };
            let address = soon(told).await;
            // The other shards follow one after the other.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            let before = server.hand_overs().total;
            for _ in 0..6 {
                let client = endpoint().await;
                let remote =
                    [if up { address } else { SocketAddr::new(local("127.0.0.100:0").ip(), address.port()) }];
                let (near, far) =
                    soon(async { tokio::join!(client.connect(&remote, PORT), listener.accept()) }).await;
                exchange(&near.unwrap(), &far.unwrap(), 3).await;
            }
            let after = server.hand_overs().total;
            assert_eq!(after, before + steered(0, after - before));
        }
    }
}

/// RFC 9260 §5.2.2: whichever shard gets the INIT.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_restarts_is_recognised() {
    let server = sharded(&["127.0.0.101:0"], 2).await;
    let listener = server.listen(PORT).unwrap();
    let mut first = None;
    for life in 0..6 {
        let port = first.map_or(0, |address: SocketAddr| address.port());
        // The same host to the server; its INIT comes to a shard that need not be the association's.
        let client = Endpoint::builder().addresses([SocketAddr::new(local("127.0.0.102:0").ip(), port)]);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let remote = server.local_addresses();
        let connecting = runtime.spawn(async move {
            let client = client.sctp_port(6001).bind().await.unwrap();
            let near = client.connect(&remote, PORT).await.unwrap();
            near.send(message(0, content(life, 100))).await.unwrap();
            (client.local_addresses()[0], client, near)
        });
        let (address, client, near) = soon(connecting).await.unwrap();
        if first.is_none() {
            first = Some(address);
            let far = soon(listener.accept()).await.unwrap();
            tokio::spawn(async move {
                loop {
                    match far.recv().await {
                        Ok(Some(_)) | Err(RecvError::Restarted) => {}
                        Ok(None) | Err(_) => return,
                    }
                }
            });
        }
        assert_eq!(server.associations().await.len(), 1, "life {life}");
        // Gone without a word.
        tokio::task::block_in_place(|| runtime.shutdown_timeout(std::time::Duration::from_secs(10)));
        drop((client, near));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_has_one_endpoint() {
    let server = sharded(&["127.0.0.103:0"], 2).await;
    let address = server.local_addresses()[0];
    for shards in [1, 2] {
        let another = Endpoint::builder().addresses([address]).shards(shards).bind().await;
        assert!(matches!(another, Err(BindError::PortInUse { .. })), "{another:?}");
    }
    soon(server.close()).await;
    let alone = Endpoint::bind([address]).await.expect("the port is free again");
    let another = Endpoint::builder().addresses([address]).shards(2).bind().await;
    assert!(matches!(another, Err(BindError::PortInUse { .. })), "{another:?}");
    drop(alone);
}

/// Each association of either side in a shard of its own.
async fn two_pairs(client: &Endpoint, server: &Endpoint) -> Vec<(Association, Association)> {
    let listener = server.listen(PORT).unwrap();
    let mut pairs = Vec::new();
    for _ in 0..4 {
        pairs.push(connect(client, server, &listener).await);
    }
    let both = BTreeSet::from([0, 1]);
    assert_eq!(pairs.iter().map(|(near, _)| shard(near)).collect::<BTreeSet<_>>(), both);
    assert_eq!(pairs.iter().map(|(_, far)| shard(far)).collect::<BTreeSet<_>>(), both);
    pairs
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_ends_the_associations_of_all_shards() {
    let (client, server) = (sharded(&["127.0.0.104:0"], 2).await, sharded(&["127.0.0.105:0"], 2).await);
    let pairs = two_pairs(&client, &server).await;
    for (near, far) in &pairs {
        exchange(near, far, 10).await;
        near.send(message(0, content(1, 200_000))).await.unwrap();
    }
    let closing = tokio::spawn(async move { client.close().await });
    for (_, far) in &pairs {
        assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(1, 200_000));
        assert_eq!(soon(far.recv()).await, Ok(None));
    }
    soon(closing).await.unwrap();
    assert_eq!(pairs[0].0.close_reason(), Some(CloseReason::Shutdown));
    soon(server.close()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborting_ends_the_associations_of_all_shards() {
    let (client, server) = (sharded(&["127.0.0.106:0"], 2).await, sharded(&["127.0.0.107:0"], 2).await);
    let pairs = two_pairs(&client, &server).await;
    client.abort("enough");
    for (near, far) in &pairs {
        assert!(matches!(soon(far.closed()).await, CloseReason::AbortedByPeer { .. }));
        assert_eq!(soon(near.closed()).await, CloseReason::Aborted);
    }
    soon(client.close()).await;
    assert!(matches!(server.connect(&client.local_addresses(), PORT).await, Err(ConnectError::Failed(_))));
}

/// The sockets stay open until the last shard has nothing left to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_without_handles_ends_with_its_last_association() {
    let (client, server) = (sharded(&["127.0.0.108:0"], 2).await, sharded(&["127.0.0.109:0"], 2).await);
    let address = client.local_addresses()[0];
    let mut pairs = two_pairs(&client, &server).await;
    drop(client);
    while let Some((near, far)) = pairs.pop() {
        let taken = Endpoint::bind([address]).await;
        assert!(matches!(taken, Err(BindError::PortInUse { .. })), "{} still live", pairs.len() + 1);
        exchange(&near, &far, 3).await;
        soon(near.shutdown()).await.unwrap();
        drop(near);
    }
    let free = async {
        while Endpoint::bind([address]).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    soon(free).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shards_share_raw_packets_without_handing_them_over() {
    let bind = |address: &str, shards| {
        let builder = Endpoint::builder().addresses([local(address)]).encapsulation(Encapsulation::RawIp);
        builder.shards(shards).bind()
    };
    let port = 1024 + (std::process::id() % 40_000) as u16;
    for (here, there) in [("127.0.0.110:0", "127.0.0.111:0"), ("[::1]:0", "[::1]:0")] {
        let (client, server) = match (bind(here, 2).await, bind(there, 2).await) {
            (Ok(client), Ok(server)) => (client, server),
            (Err(BindError::RawNotPermitted), _) => return,
            other => panic!("{other:?}"),
        };
        let listener = server.listen(port).unwrap();
        for _ in 0..4 {
            let remote = server.local_addresses();
            let (near, far) =
                soon(async { tokio::join!(client.connect(&remote, port), listener.accept()) }).await;
            exchange(&near.unwrap(), &far.unwrap(), 5).await;
        }
        assert_eq!((client.hand_overs().total, server.hand_overs().total), (0, 0));
    }
}
