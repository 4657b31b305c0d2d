//! The path MTU becomes smaller under a running transfer, as it does when a host moves to a network with tunnels. A
//! DATA chunk cannot be cut again, so what was in flight needs IP fragmentation (RFC 9260 §6.9, RFC 8899 §4.3, §4.4).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, LinkConfig, Oversize, QueueLimit, Side};
use whimbrel_proto::Config;

use whimbrel_testbed::{CLIENT, Pair, User, at, link, remotes};

const MESSAGES: usize = 400;

/// A transfer over `networks` networks, all of which carry no more than `mtu` bytes from one second on.
fn transfer(config: Config, networks: usize, mtu: u32, oversize: Oversize) -> Pair {
    let links = vec![LinkConfig { oversize, ..link(8, 10) }; networks];
    let mut client = User::client(&remotes(networks)).queueing(MESSAGES, 10_000);
    client.shutdown_when_done = true;
    let mut pair = Pair::new(1, config, &links, client, User::server());
    for network in 0..networks {
        pair.change(network, Side::Both, Instant::ZERO + Duration::from_secs(1), Change::Mtu(mtu));
    }
    pair.run(60);
    pair
}

#[track_caller]
fn assert_complete(pair: &Pair, what: &str) {
    let bytes: usize = pair.server().received.iter().map(|(_, received)| received.payload.len()).sum();
    assert_eq!(bytes, MESSAGES * 10_000, "{what}");
    assert!(pair.client().closed() && pair.server().closed(), "{what}");
}

/// No router says a word: timeouts of full packets tell it, although heartbeats go on being answered meanwhile.
#[test]
fn silently() {
    for (name, config) in [("rfc", Config::rfc()), ("mobile", Config::mobile())] {
        for networks in [1, 2] {
            let pair = transfer(config.clone(), networks, 1300, Oversize::Dropped);
            assert_complete(&pair, &format!("{name}, {networks} networks"));
        }
    }
}

/// A router names the new MTU (RFC 9260 §10, ICMP7).
#[test]
fn with_an_icmp_message() {
    for (name, config) in [("rfc", Config::rfc()), ("mobile", Config::mobile())] {
        let pair = transfer(config, 1, 1300, Oversize::Reported);
        assert_complete(&pair, name);
    }
}

/// Our own interface carries less than the base size, and its system says so at once: nothing waits for a timer, and nothing is taken for congestion.
#[test]
fn of_our_own_interface() {
    for (at_first, then, seconds) in [(1000, 1000, 4), (1500, 1000, 5), (1500, 1400, 5)] {
        let near = LinkConfig { oversize: Oversize::Reported, mtu: at_first, ..link(20, 35) };
        let client = User::client(&remotes(1)).queueing(MESSAGES, 10_000);
        let mut pair = Pair::new(1, Config::mobile(), &[near], client, User::server());
        pair.change(0, Side::Both, at(1000), Change::Mtu(then));
        pair.run(seconds);
        let bytes: usize = pair.server().received.iter().map(|(_, received)| received.payload.len()).sum();
        let path = &pair.paths(CLIENT)[0];
        println!("{at_first}, {then}: {bytes} bytes, {path:?}");
        assert_eq!((bytes, path.counters.timeouts), (MESSAGES * 10_000, 0), "{path:?}");
        assert_eq!(path.packet_size, (then as usize - 28) & !3, "{path:?}");
    }
}

/// Not even the base size passes unfragmented (the Error phase of RFC 8899 §5.2).
#[test]
fn below_the_base_size() {
    for (name, config) in [("rfc", Config::rfc()), ("mobile", Config::mobile())] {
        let pair = transfer(config, 1, 800, Oversize::Dropped);
        assert_complete(&pair, name);
    }
}

/// What is larger passes not even in fragments: DATA that has been sent in larger packets goes out again in smaller ones, and the
/// path neither flaps nor stays in doubt.
#[test]
fn fragments_are_swallowed() {
    for mtu in [1280, 1200, 900, 760, 576] {
        for networks in [1, 2] {
            let pair = transfer(Config::mobile(), networks, mtu, Oversize::Swallowed);
            assert_complete(&pair, &format!("{mtu} bytes, {networks} networks"));
            let arrivals = pair.server().received.iter().map(|(at, _)| *at);
            let gap = arrivals.clone().zip(arrivals.skip(1)).map(|(before, after)| after - before).max();
            assert!(gap < Some(Duration::from_millis(1300)), "{mtu} bytes, {networks} networks: {gap:?}");
        }
    }
}

/// The base size is already too large when the first message is sent.
#[test]
fn swallowed_from_the_beginning() {
    for mtu in [1200, 900, 760, 576] {
        let mut client = User::client(&remotes(1)).queueing(MESSAGES, 10_000);
        client.shutdown_when_done = true;
        let links = [LinkConfig { mtu, oversize: Oversize::Swallowed, ..link(8, 10) }];
        let mut pair = Pair::new(1, Config::mobile(), &links, client, User::server());
        pair.run(60);
        assert_complete(&pair, &format!("{mtu} bytes"));
    }
}

/// On a short way a few packets in flight look like a gigabit a second. Chunks are cut for the smallest packets there, too, as long as it is none.
#[test]
fn on_a_short_way_chunks_fit_the_smallest_packets() {
    for milliseconds in [100, 200, 300, 500, 700, 900] {
        let short =
            LinkConfig { delay: Duration::from_micros(50), queue: QueueLimit::bytes(125_000), ..link(20, 0) };
        let short = LinkConfig { oversize: Oversize::Swallowed, ..short };
        let mut client = User::client(&remotes(1)).queueing(MESSAGES, 10_000);
        client.shutdown_when_done = true;
        let mut pair = Pair::new(milliseconds, Config::mobile(), &[short], client, User::server());
        pair.change(0, Side::Both, at(milliseconds), Change::Mtu(640));
        pair.run(30);
        assert_complete(&pair, &format!("after {milliseconds} ms"));
    }
}
