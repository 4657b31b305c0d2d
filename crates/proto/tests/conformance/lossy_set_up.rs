//! How long a protected association takes until its user's data passes, where packets are lost from the first one on.

use core::time::Duration;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Change, InFlight, LinkConfig, Loss, Side};
use whimbrel_proto::Config;

use whimbrel_testbed::{Pair, SeededExchanges, User, at, link, remotes};

/// Which packets are lost.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Lossy {
    ToServer,
    ToClient,
    Both,
}

fn configs() -> [Config; 2] {
    [&b"client"[..], b"server"].map(|name| SeededExchanges::new(7, name).protect(Config::mobile()))
}

/// After which time the first of the client's messages was with the server's user.
fn first_message(seed: u64, networks: usize, lossy: Lossy, loss: f64) -> Option<Duration> {
    let direction = |is_lossy: bool| LinkConfig {
        loss: if is_lossy { Loss::Bernoulli(loss) } else { Loss::None },
        ..link(20, 10)
    };
    let both = [direction(lossy != Lossy::ToClient), direction(lossy != Lossy::ToServer)];
    let client = User::client(&remotes(networks)).queueing(1, 1000);
    let mut pair = Pair::with_configs(seed, configs(), &vec![both; networks], client, User::server());
    pair.run(60);
    pair.server().record.received.first().map(|(at, _)| at.saturating_since(Instant::ZERO))
}

/// In milliseconds: the median, the ninth tenth, the 99th hundredth and the longest; and how many never came.
fn percentiles(mut times: Vec<Option<Duration>>) -> ([u128; 4], usize) {
    let never = times.iter().filter(|time| time.is_none()).count();
    times.sort_by_key(|time| time.unwrap_or(Duration::MAX));
    let at = |hundredth: usize| {
        times[(times.len() * hundredth / 100).min(times.len() - 1)].map_or(60_000, |time| time.as_millis())
    };
    ([50, 90, 99, 100].map(at), never)
}

/// How many seeds a test plays.
const SEEDS: u64 = 300;

fn measured(seeds: u64, networks: usize, lossy: Lossy, loss: f64) -> ([u128; 4], usize) {
    percentiles((0..seeds).map(|seed| first_message(seed, networks, lossy, loss)).collect())
}

/// In clear the server takes no SACK once it has keys, and the client, which cannot seal before it has heard of them, sends no other: where the one for the server's part
/// of the exchange was lost, the word that the client waited for was held up behind it for good.
#[test]
fn every_set_up_with_a_tenth_lost_comes_about() {
    for lossy in [Lossy::ToClient, Lossy::ToServer, Lossy::Both] {
        let ([.., most], never) = measured(SEEDS, 1, lossy, 0.1);
        assert_eq!(never, 0, "{lossy:?}");
        assert!(most < 3_500, "{lossy:?}: {most} ms");
    }
}

/// By RTO.Initial and RTO.Min the medians were 590 and 2,200 ms.
#[test]
fn what_is_lost_of_a_set_up_is_sent_again_by_the_round_trip() {
    for (lossy, median, tenth) in
        [(Lossy::ToClient, 250, 1_300), (Lossy::ToServer, 330, 1_300), (Lossy::Both, 900, 3_500)]
    {
        let ([half, most, ..], never) = measured(SEEDS, 1, lossy, 0.3);
        assert!(half < median && most < tenth && never <= 3, "{lossy:?}: {half} {most} {never}");
    }
}

/// Where half of what the server says is lost the client asks again, which has the server answer again. By timers alone the median is 730 ms.
#[test]
fn what_the_peer_sends_again_is_answered_again() {
    let ([half, most, ..], _) = measured(1_000, 1, Lossy::ToClient, 0.5);
    assert!(half < 690 && most < 2_600, "{half} {most}");
}

/// Another network is tried before RTO.Initial is over. By RTO.Initial for each route nine of ten take 4.1 s.
#[test]
fn a_second_network_is_tried_soon() {
    let ([_, most, ..], never) = measured(SEEDS, 2, Lossy::Both, 0.3);
    assert!(most < 2_700 && never == 0, "{most} {never}");
}

/// A portal that lets nobody through until its user has agreed, a tunnel: nothing tells when it is over, and the timer of INIT was ten seconds long by then.
#[test]
fn a_network_that_opens_late_is_used_soon() {
    for opens in [1_300, 2_600, 5_100, 9_100, 17_100, 27_100, 36_900] {
        let client = User::client(&remotes(1)).queueing(1, 1000);
        let mut pair = Pair::with_configs(opens, configs(), &[[link(20, 10); 2]], client, User::server());
        pair.change(0, Side::Both, at(0), Change::Down(InFlight::Lost));
        pair.change(0, Side::Both, at(opens), Change::Up);
        pair.run(60);
        let (first, _) = *pair.server().record.received.first().expect("it comes about");
        assert!(first < at(opens + 2_100), "{opens} {first}");
    }
}

/// What TCP with TLS 1.3 would take in such a network: SYN, ClientHello, the client's Finished and its data, each until its answer has come. RTO is 1 s until there is a round trip
/// and 200 ms then, doubled (RFC 6298, Linux); a tail loss probe goes after two round trips.
fn tcp_and_tls(seed: u64, lossy: Lossy, loss: f64) -> Option<Duration> {
    let mut rng = Seed::from_u64(seed).stream("tcp", 0);
    let mut lost = |to_server: bool| {
        let is_lossy = lossy == Lossy::Both || (lossy == Lossy::ToServer) == to_server;
        is_lossy && rng.chance(loss)
    };
    let mut now = 0;
    // SYN and SYN-ACK; ClientHello and the server's flight; Finished with data, whose arrival is all.
    for (exchange, timeouts) in [(0, [1_000, 2_000]), (1, [40, 200]), (2, [40, 200])] {
        let (mut tries, mut wait, mut heard) = (0, timeouts[0], false);
        loop {
            // The server sends its flight again by a timer of its own, which starts with the first that it hears.
            let arrives = !lost(true);
            heard |= arrives;
            let ends = if exchange == 2 { heard } else { heard && !lost(false) };
            if ends {
                now += if exchange == 2 { 10 } else { 20 };
                break;
            }
            now += wait;
            tries += 1;
            wait = timeouts[1] << (tries - 1).min(6);
        }
    }
    (now <= 60_000).then_some(Duration::from_millis(now))
}

/// `cargo test --release -p whimbrel-proto --test conformance -- --ignored --nocapture lossy_set_up`
#[test]
#[ignore = "prints the table of decision 46; the command is above"]
fn table() {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1000);
    let show = |name: &str,
                lossy: Lossy,
                loss: f64,
                ([half, tenth, hundredth, most], never): ([u128; 4], usize)| {
        println!("{name} {lossy:?} {loss}: p50 {half} p90 {tenth} p99 {hundredth} max {most} never {never}");
    };
    for lossy in [Lossy::ToClient, Lossy::ToServer, Lossy::Both] {
        for loss in [0.1, 0.3, 0.5] {
            for networks in [1, 2] {
                show(&format!("{networks} network(s)"), lossy, loss, measured(seeds, networks, lossy, loss));
            }
            let times = (0..seeds).map(|seed| tcp_and_tls(seed, lossy, loss)).collect();
            show("TCP, TLS 1.3 ", lossy, loss, percentiles(times));
        }
    }
}
