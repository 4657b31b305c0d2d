//! A closed window (RFC 9260 §6.1 A) whose news takes a slower way than the data.

use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::World;
use whimbrel_node::Node;
use whimbrel_proto::Config;

use crate::common::{User, address, link, message, remotes};

/// Several paths time out in turn, faster than the peer's answers come back. All of them are window probes.
#[test]
fn do_not_end_the_association() {
    for seed in 0..20 {
        let mut world = World::new(Seed::from_u64(seed));
        let node = |host: u8, paths: usize, world: &World<Node, User>| {
            let mut config = Config::mobile();
            config.limits.paths = paths;
            config.limits.receive_buffer = 4096;
            config.rto.min = Duration::from_millis(20);
            config.heartbeat.interval = Some(Duration::from_millis(100));
            config.failure.association = whimbrel_proto::AssociationFailure::Errors(8);
            let locals = vec![address(1, host), address(2, host), address(3, host)];
            Node::new(Arc::new(config), world.seed().child("host", host.into()), locals)
        };
        let mut user = User::client(&remotes(3));
        user.outbox = (0..2000).map(|n| message(0, n, 20)).collect();
        let mut reader = User::server();
        reader.hold = true;
        let (client, server) = (node(1, 32, &world), node(2, 1, &world));
        let server = world.add_host("server", server, reader);
        let client = world.add_host("client", client, user);
        for network in 1..=3 {
            let a = world.add_interface(client, [address(network, 1).ip()]);
            let b = world.add_interface(server, [address(network, 2).ip()]);
            // The server answers on its one path, the first.
            let back = if network == 1 { link(10, 150) } else { link(10, 1) };
            world.add_link(a, b, link(10, 1), back);
        }
        world.run_until(Instant::from_nanos(120_000_000_000));
        assert!(!world.app(client).closed() && !world.app(server).closed(), "seed {seed}");
    }
}
