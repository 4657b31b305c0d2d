//! What a peer can make a node do: counted in instructions by `ci/costs.sh`, under callgrind.
//!
//! Usage: costs WHAT SIZE TIMES. Each prepares something of SIZE, and does something TIMES times; the difference between two runs that differ
//! in TIMES is what it costs.

use whimbrel_machine::Route;
use whimbrel_proto::{Command, Message, PathShape, StreamId};

use whimbrel_testbed::peer::{Bench, Peer, node_address, peer_address, quiet};

/// An association with `count` chunks of one byte outstanding.
fn outstanding(count: usize) -> (Bench, Peer) {
    let mut bench = Bench::new(quiet());
    let mut peer = Peer { a_rwnd: 1 << 20, ..Peer::new() };
    peer.connect(&mut bench);
    let (association, path) = (bench.association(), bench.paths()[0].id);
    let shape = PathShape { cwnd: Some(1 << 24), ..PathShape::default() };
    bench.command(Command::ShapePath { association, path, shape });
    while bench.paths()[0].flight_size < 20 * count {
        for _ in 0..100 {
            bench.command(Command::Send { association, message: Message::new(StreamId(0), vec![7]) });
        }
        // Every SACK that tells nothing new lets out another burst.
        bench.deliver(&peer.sack(peer.node_tsn.prev(), 1 << 20));
    }
    bench.take();
    (bench, peer)
}

/// SACKs with a gap, each of which tells of one chunk more.
fn sacks(size: usize, times: usize) {
    let (mut bench, peer) = outstanding(size);
    for n in 0..times {
        let end = (size - 1000 + n) as u16;
        bench.deliver(&peer.sack_with(peer.node_tsn.prev(), 1 << 20, &[(2, end)]));
        bench.take();
    }
}

/// SACKs that tell of everything but the first chunk, and take it back again.
fn alternating_sacks(size: usize, times: usize) {
    let (mut bench, peer) = outstanding(size);
    for n in 0..times {
        let blocks: &[(u16, u16)] = if n % 2 == 0 { &[(2, size as u16)] } else { &[] };
        bench.deliver(&peer.sack_with(peer.node_tsn.prev(), 1 << 20, blocks));
        bench.take();
    }
}

/// INITs from an address that the peers of `size` associations list, none of which has proved it.
fn inits(size: usize, times: usize) {
    let mut bench = Bench::new(quiet());
    for n in 0..size {
        let [_, _, high, low] = (n as u32).to_be_bytes();
        let remote = core::net::SocketAddr::from(([10, 77, high, low], whimbrel_testbed::peer::UDP));
        let route = Route { local: node_address(1), remote };
        let mut peer = Peer { tag: n as u32 + 1, ..Peer::new() };
        bench.deliver_on(route, &peer.init(&[peer_address(2).ip().into()]));
        peer.learn_init_ack(&bench.take_only());
        bench.deliver_on(route, &peer.cookie_echo());
        bench.take();
    }
    let route = Route { local: node_address(1), remote: peer_address(2) };
    for n in 0..times {
        let victim = Peer { tag: 1 << 30 | n as u32, ..Peer::new() };
        bench.deliver_on(route, &victim.init(&[]));
        bench.take();
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, size, times] = &arguments[..] else { panic!("usage: costs WHAT SIZE TIMES") };
    let (size, times) = (size.parse().expect("a number"), times.parse().expect("a number"));
    match &what[..] {
        "sacks" => sacks(size, times),
        "alternating-sacks" => alternating_sacks(size, times),
        "inits" => inits(size, times),
        _ => panic!("nothing is called {what}"),
    }
}
