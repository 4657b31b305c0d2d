//! A bulk transfer over one link in virtual time: CPU time per DATA packet, both endpoints and the network together.
//!
//! `cargo run --release -p whimbrel-node --example bulk [MEGABYTES] [MESSAGE_BYTES]`

use whimbrel_proto::Config;
use whimbrel_testbed::{Pair, User, link, message, remotes};

#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures real time")]
fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<usize>().expect("a number"));
    let megabytes = arguments.next().unwrap_or(200);
    let size = arguments.next().unwrap_or(65_536);
    let mut client = User::client(&remotes(1));
    let template = message(0, 1, size);
    client.outbox = std::iter::repeat_n(template, megabytes * 1_000_000 / size).collect();
    client.shutdown_when_done = true;
    let mut server = User::server();
    server.discard = true;
    let mut pair = Pair::new(1, Config::mobile(), &[link(1000, 1)], client, server);
    let start = std::time::Instant::now();
    pair.run(100_000);
    let elapsed = start.elapsed();
    assert!(pair.client().closed());
    let packets = pair.world.stats(pair.link(0), whimbrel_netsim::Side::AtoB).delivered_packets;
    println!(
        "{packets} DATA packets, {:.2} s, {:.0} ns per DATA packet, {:.3} s/GB, {:.2} M messages/s",
        elapsed.as_secs_f64(),
        elapsed.as_nanos() as f64 / packets as f64,
        elapsed.as_secs_f64() / (megabytes as f64 / 1000.0),
        (megabytes * 1_000_000 / size) as f64 / elapsed.as_secs_f64() / 1e6
    );
}
