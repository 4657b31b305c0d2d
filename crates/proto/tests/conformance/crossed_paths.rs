//! Two paths that each work in one direction only, and not in the same one.

use core::time::Duration;

use whimbrel_netsim::{Change, InFlight, Side};
use whimbrel_proto::Config;
use whimbrel_testbed::{CLIENT, Pair, SERVER, User, at, link, millis, remotes};

/// When the paths cease to work both ways, in ms.
const CROSSED: u64 = 3_000;

/// Which directions fail, of the first path and of the second.
const WAYS: [[Side; 2]; 2] = [[Side::BtoA, Side::AtoB], [Side::AtoB, Side::BtoA]];

fn pair(seed: u64, config: Config, client: User, server: User, ways: [Side; 2]) -> Pair {
    let mut pair = Pair::new(seed, config, &[link(8, 10), link(8, 30)], client, server);
    for (n, side) in ways.into_iter().enumerate() {
        pair.change(n, side, at(CROSSED + seed * 7), Change::Down(InFlight::Lost));
    }
    pair
}

/// Records of 1,000 bytes each 20 ms, either way.
#[test]
fn records_go_on_both_ways() {
    for seed in 0..10 {
        for ways in WAYS {
            let mut client = User::client(&remotes(2));
            client.tick(millis(20), 1000, 2000);
            let mut server = User::server();
            server.tick(millis(20), 1000, 2000);
            let mut pair = pair(seed, Config::mobile(), client, server, ways);
            pair.run(60);
            for host in [CLIENT, SERVER] {
                let user = pair.user(host);
                assert_eq!(user.received.len(), 2000, "{seed} {ways:?} {host}");
                let (gap, _) = user.longest_gap(at(CROSSED), at(40_000));
                assert!(gap < millis(800), "{seed} {ways:?} {host} {gap:?}");
            }
        }
    }
}

/// 10 MB, which 8 Mbit/s take 10 s.
#[test]
fn bulk_data_is_carried() {
    for seed in 0..10 {
        for ways in WAYS {
            let client = User::client(&remotes(2)).queueing(160, 65_536);
            let mut pair = pair(seed, Config::mobile(), client, User::server(), ways);
            pair.run(60);
            let received = &pair.server().received;
            assert_eq!(received.len(), 160, "{seed} {ways:?}");
            let done = received[159].0;
            assert!(done < at(16_000), "{seed} {ways:?} {done}");
        }
    }
}

/// Nobody has anything to say for a minute.
#[test]
fn what_is_said_later_arrives_at_once() {
    for seed in 0..10 {
        for ways in WAYS {
            let mut client = User::client(&remotes(2));
            client.tick(Duration::from_secs(20), 1000, 5);
            let mut pair = pair(seed, Config::mobile(), client, User::server(), ways);
            pair.run(120);
            let received = &pair.server().received;
            let late =
                |n: usize| received[n].0.saturating_since(received[0].0) - Duration::from_secs(20) * n as u32;
            let latest = (1..received.len()).map(late).max();
            assert!(received.len() == 5 && latest < Some(millis(100)), "{seed} {ways:?} {latest:?}");
        }
    }
}

/// SHUTDOWN ACK comes by a path that carries nothing back, and SHUTDOWN COMPLETE is the last word.
#[test]
fn both_ends_know_the_end() {
    for seed in 0..10 {
        for ways in WAYS {
            let mut client = User::client(&remotes(2));
            client.tick(millis(20), 1000, 500);
            client.shutdown_when_done = true;
            let mut pair = pair(seed, Config::mobile(), client, User::server(), ways);
            pair.run(30);
            assert_eq!(pair.server().received.len(), 500, "{seed} {ways:?}");
            let closed = [CLIENT, SERVER].map(|host| pair.user(host).closed());
            assert_eq!(closed, [true; 2], "{seed} {ways:?}");
        }
    }
}

/// Of six paths the last two are the ones that work, in one direction each.
#[test]
fn many_paths_are_tried_in_turn() {
    for seed in 0..5 {
        let mut client = User::client(&remotes(6));
        client.tick(millis(100), 1000, 900);
        let mut config = Config::mobile();
        config.limits.paths = 64;
        let mut pair = Pair::new(seed, config, &[link(8, 10); 6], client, User::server());
        // By then all have answered a HEARTBEAT.
        let cut = 40_000 + seed * 7;
        (0..4).for_each(|n| pair.change(n, Side::Both, at(cut), Change::Down(InFlight::Lost)));
        pair.change(4, Side::BtoA, at(cut), Change::Down(InFlight::Lost));
        pair.change(5, Side::AtoB, at(cut), Change::Down(InFlight::Lost));
        pair.run(140);
        assert_eq!(pair.server().received.len(), 900, "{seed}");
        let (gap, _) = pair.server().longest_gap(at(cut), at(90_000));
        assert!(gap < millis(8_000), "{seed} {gap:?}");
    }
}
