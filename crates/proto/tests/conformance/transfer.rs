//! Data between two hosts: whole, once, in order; over one path, two paths, and a path that dies.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, LinkConfig, Loss, Side};
use whimbrel_proto::{CloseReason, Config, Event};

use whimbrel_testbed::{Pair, User, link, message, remotes};

fn transfer(config: Config, links: &[LinkConfig], messages: usize, bytes: usize) -> Pair {
    let mut client = User::client(&remotes(links.len()));
    client.outbox = (0..messages).map(|n| message((n % 4) as u16, n, bytes)).collect();
    client.shutdown_when_done = true;
    Pair::new(7, config, links, client, User::server())
}

#[track_caller]
fn assert_complete(pair: &Pair, messages: usize, bytes: usize) {
    let server = pair.server();
    assert_eq!(server.received.len(), messages);
    for stream in 0..4 {
        let of_stream: Vec<_> = server.received.iter().filter(|(_, r)| r.stream.0 == stream).collect();
        for (k, (_, received)) in of_stream.iter().enumerate() {
            let n = k * 4 + stream as usize;
            assert!(received.payload == message(stream, n, bytes).payload, "stream {stream} message {k}");
        }
    }
    for user in [pair.client(), pair.server()] {
        let closed = user.events.iter().find_map(|(_, event)| match event {
            Event::Closed { reason, undelivered, .. } => Some((reason.clone(), *undelivered)),
            _ => None,
        });
        assert_eq!(closed, Some((CloseReason::Shutdown, 0)));
    }
    assert_eq!(pair.world.machine(pair.client).association_count(), 0);
    assert_eq!(pair.world.machine(pair.server).association_count(), 0);
}

#[test]
fn small_messages_over_one_path() {
    let mut pair = transfer(Config::rfc(), &[link(10, 5)], 100, 64);
    pair.run(60);
    assert_complete(&pair, 100, 64);
}

#[test]
fn large_messages_over_two_paths() {
    let mut pair = transfer(Config::mobile(), &[link(50, 5), link(50, 20)], 60, 100_000);
    pair.run(60);
    assert_complete(&pair, 60, 100_000);
}

#[test]
fn lossy_path() {
    let lossy = LinkConfig { loss: Loss::Bernoulli(0.05), ..link(20, 10) };
    let mut pair = transfer(Config::rfc(), &[lossy], 100, 20_000);
    pair.run(600);
    assert_complete(&pair, 100, 20_000);
}

#[test]
fn the_path_in_use_dies() {
    let mut pair = transfer(Config::mobile(), &[link(20, 5), link(20, 20)], 100, 50_000);
    pair.cut(0, Instant::from_nanos(500_000_000));
    pair.run(60);
    assert_complete(&pair, 100, 50_000);
}

/// RFC 9260 §6.10: control chunks come before DATA in every packet, retransmissions included.
#[test]
fn control_chunks_precede_data() {
    let lossy = LinkConfig { loss: Loss::Bernoulli(0.05), ..link(20, 10) };
    let mut client = User::client(&remotes(2));
    client.outbox = (0..1000).map(|n| message((n % 4) as u16, n, 1_000)).collect();
    client.shutdown_when_done = true;
    let mut server = User::server();
    server.tick(Duration::from_millis(1), 100, 500);
    let mut pair = Pair::new(11, Config::mobile(), &[lossy, lossy], client, server);
    // The client loses packets and receives all: it retransmits while it has something to acknowledge, and its packets leave
    // room for that.
    for network in 0..2 {
        pair.change(network, Side::BtoA, Instant::ZERO, Change::Loss(Loss::None));
    }
    let capture = whimbrel_testbed::Memory::default();
    let links = [(pair.link(0), "one"), (pair.link(1), "two")];
    pair.world.capture(&links, capture.clone()).unwrap();
    pair.run(120);
    pair.world.finish().unwrap();
    let mut data_with_sack = 0;
    for packet in capture.sctp_packets() {
        let types: Vec<u8> = packet.to_vec();
        let first_data = types.iter().position(|&t| t == 0).unwrap_or(types.len());
        assert!(types[first_data..].iter().all(|&t| t == 0), "{types:?}");
        data_with_sack += usize::from(types.first() == Some(&3) && first_data < types.len());
    }
    assert!(data_with_sack > 50, "{data_with_sack} SACKs are bundled with DATA");
}
