//! A network that is slow for a moment, for a while or for good, beside others that are no better or no worse.

use whimbrel_netsim::{LinkConfig, Loss};
use whimbrel_proto::{Config, TailLoss};

use whimbrel_testbed::{CLIENT, Pair, User, address, at, link, millis, remotes};

/// Records of 1,000 bytes from the client, one each `every` ms.
fn stream(config: Config, links: &[LinkConfig], seed: u64, every: u64, records: usize) -> Pair {
    let mut client = User::client(&remotes(links.len()));
    client.tick(millis(every), 1000, records);
    Pair::new(seed, config, links, client, User::server())
}

/// A network becomes slow and loses nothing; the other one is quick and loses 30 %. That one is no way out.
#[test]
fn a_network_that_loses_a_third_is_no_better_than_a_slow_one() {
    let mut all = Vec::new();
    for seed in 1..13 {
        let lossy = LinkConfig { loss: Loss::Bernoulli(0.3), ..link(20, 10) };
        let mut pair = stream(Config::mobile(), &[link(20, 10), lossy], seed, 10, 4000);
        pair.delay(0, at(6000 + seed * 37), 100);
        pair.run(70);
        assert_eq!(pair.server().received.len(), 4000);
        all.push((
            pair.behind(millis(10)).as_millis(),
            pair.server().longest_gap(at(8000), pair.world.now()).0.as_millis(),
            pair.client().moves().len(),
        ));
    }
    assert!(all.iter().all(|(behind, _, told)| *behind < 1_700 && *told <= 6), "{all:?}");
}

/// Two networks of three break in silence within 50 ms.
#[test]
fn two_networks_of_three_break() {
    for between in [0, 20, 50] {
        let gaps: Vec<u128> = (1..13)
            .map(|seed| {
                let mut pair = stream(Config::mobile(), &[link(20, 10); 3], seed, 4, 2500);
                pair.cut(0, at(6000 + seed * 37));
                pair.cut(1, at(6000 + seed * 37 + between));
                pair.run(20);
                assert_eq!(pair.server().received.len(), 2500);
                pair.server().longest_gap(at(5000), pair.world.now()).0.as_millis()
            })
            .collect();
        assert!(gaps.iter().all(|gap| *gap <= 420), "{between}: {gaps:?}");
    }
}

/// The network breaks in the first second: data goes the other way, and the user is told soon.
#[test]
fn an_early_break_is_told() {
    let waits: Vec<(f64, f64)> = (1..13)
        .map(|seed| {
            let mut pair = stream(Config::mobile(), &[link(20, 100); 2], seed, 10, 1000);
            pair.cut(0, at(500 + seed * 20));
            let mut step = 0;
            let first = loop {
                step += 1;
                pair.world.run_until(at(step * 5));
                assert!(step < 4000, "never left");
                match pair.in_use(CLIENT).map(|route| route.local) {
                    Some(local) if local == address(CLIENT, 1) => break at(step * 5),
                    _ => {}
                }
            };
            pair.run(20);
            let told = pair.client().moves();
            (first.as_secs_f64(), told.first().map_or(99.0, |at| at.as_secs_f64()))
        })
        .collect();
    assert!(waits.iter().all(|(moved, told)| *told < moved + 1.3), "{waits:?}");
}

/// With probes for the tail and the RFC's heartbeats every 30 s: a network that was slow for two seconds is used again soon.
#[test]
fn a_network_that_was_slow_for_a_moment_is_used_again() {
    let mut config = Config::rfc();
    config.retransmission.tail = TailLoss::Probe;
    let away: Vec<f64> = (1..7)
        .map(|seed| {
            let mut pair = stream(config.clone(), &[link(20, 10), link(20, 30)], seed, 10, 8000);
            let slow = 6000 + seed * 37;
            pair.delay(0, at(slow), 200);
            pair.delay(0, at(slow + 2000), 10);
            let mut last = 0;
            for step in (slow / 10 + 200)..8000 {
                pair.world.run_until(at(step * 10));
                if pair.in_use(CLIENT).map(|route| route.local) == Some(address(CLIENT, 1)) {
                    last = (step * 10).saturating_sub(slow + 2000);
                }
            }
            last as f64 / 1000.0
        })
        .collect();
    assert!(away.iter().all(|away| *away < 5.0), "{away:?}");
}

/// Time and again the network keeps packets back for some ms, and loses none.
fn stalls(second: LinkConfig, seed: u64, first: u64, every: u64, ms: u64) -> Pair {
    let mut pair = stream(Config::mobile(), &[link(20, 10), second], seed, 10, 3600);
    for n in 0..8 {
        let stall = first + seed * 37 + n * every;
        pair.delay(0, at(stall), 110);
        pair.delay(0, at(stall + ms), 10);
    }
    pair.run(50);
    assert_eq!(pair.server().received.len(), 3600);
    pair
}

/// 16 s after the beginning all is measured.
#[test]
fn stalls_move_nobody() {
    let told: Vec<usize> =
        (1..13).map(|seed| stalls(link(20, 30), seed, 16_000, 2_000, 100).client().moves().len()).collect();
    assert!(told.iter().all(|told| *told == 0), "{told:?}");
}

/// What goes the other way meanwhile, and is lost there, comes later than what waits: a stall costs 100 ms of delay, and what is lost twice two
/// round trips of the other network more and its timer. A stall is over before a heartbeat has failed, so that nobody moves.
#[test]
fn stalls_beside_a_lossy_network_cost_what_they_take() {
    let lossy = LinkConfig { loss: Loss::Bernoulli(0.2), ..link(20, 30) };
    let all: Vec<(u128, usize)> = (1..13)
        .map(|seed| stalls(lossy, seed, 6_000, 3_000, 150))
        .map(|pair| (pair.behind(millis(10)).as_millis(), pair.client().moves().len()))
        .collect();
    assert!(all.iter().all(|(behind, told)| *behind < 250 && *told == 0), "{all:?}");
}
