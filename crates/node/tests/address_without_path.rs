//! Packets from an address of the peer to which there is no path (RFC 9260 §8.4, §8.5).

use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Action, Change, InFlight, Side, World};
use whimbrel_node::Node;
use whimbrel_proto::{CloseReason, Config, Event};

use crate::common::{SCTP_PORT, User, address, link, message, remotes};

/// The server keeps one path, the client two. When the client turns to the second, its data comes from an address
/// that the server knows from the INIT, and is accepted.
#[test]
fn are_accepted() {
    let mut world = World::new(Seed::from_u64(1));
    let node = |host: u8, paths: usize, world: &World<Node, User>| {
        let mut config = Config::mobile();
        config.limits.paths = paths;
        let locals = vec![address(1, host), address(2, host)];
        Node::new(Arc::new(config), world.seed().child("host", host.into()), locals)
    };
    let mut user = User::client(&remotes(2));
    user.outbox = (0..100).map(|n| message(0, n, 20_000)).collect();
    user.shutdown_when_done = true;
    let (client, server) = (node(1, 32, &world), node(2, 1, &world));
    let server = world.add_host("server", server, User::server());
    let client = world.add_host("client", client, user);
    let mut links = Vec::new();
    for network in 1..=2 {
        let a = world.add_interface(client, [address(network, 1).ip()]);
        let b = world.add_interface(server, [address(network, 2).ip()]);
        links.push(world.add_link(a, b, link(10, 5), link(10, 5)));
    }
    // Only what the client sends is cut: acknowledgements by the server's one path still arrive.
    let cut = Action::Link(links[0], Side::AtoB, Change::Down(InFlight::Lost));
    world.schedule(Instant::from_nanos(500_000_000), cut);
    world.run_until(Instant::from_nanos(60_000_000_000));
    let ended = world.app(client).events.iter().find_map(|(_, event)| match event {
        Event::Closed { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    assert_eq!(ended, Some(CloseReason::Shutdown), "port {SCTP_PORT}");
    assert_eq!(world.app(server).received.len(), 100);
}
