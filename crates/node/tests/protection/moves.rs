use whimbrel_handover::{Pace, Seamless};
use whimbrel_netsim::Loss;
use whimbrel_node::Node;
use whimbrel_testbed::traffic::{ConstantRate, Traffic};
use whimbrel_testbed::{CLIENT, SERVER, at, link, millis, uplink_address};
use whimbrel_wire::draft::{self, Dtls};

use super::*;

/// Networks come and go, packets are lost, and everything arrives.
#[test]
fn outages_and_losses_are_survived() {
    for seed in 1..25 {
        let mut wlan = link(10, 10);
        wlan.loss = Loss::Bernoulli(0.02);
        let mut pair = pair(seed, configs(), &[wlan, link(5, 30)]);
        pair.cut(0, at(60 + seed * 7));
        pair.heal(0, at(4_000));
        pair.cut(1, at(200 + seed * 11));
        pair.heal(1, at(9_000));
        pair.run(60);
        // Before there are keys the client may have begun anew.
        let late = Some(CloseReason::KeyExchange(KeyExchangeError::Late));
        let refused = refusal(&pair).map(|(_, reason)| reason);
        assert!(refused.is_none() || refused == late, "{refused:?}");
        assert_received_all(&pair);
    }
}

/// The network of the handshake goes before there are keys, with word of it or without, while there is another one.
#[test]
fn a_network_that_goes_before_there_are_keys_costs_little() {
    let mut waits = Vec::new();
    for told in [true, false] {
        for goes in (5..100).step_by(10) {
            let mut pair = pair(goes, configs(), &[link(10, 10), link(5, 30)]);
            let uplink = pair.uplinks[CLIENT][0];
            if told {
                uplink.leave(&mut pair.world, at(goes))
            } else {
                pair.cut(0, at(goes))
            }
            pair.run(20);
            assert_received_all(&pair);
            for user in [pair.client(), pair.server()] {
                let up = user.record.events.iter().find(|(_, event)| matches!(event, Event::Up { .. }));
                let (at, _) = up.expect("up");
                waits.push((told, goes, at.as_secs_f64()));
            }
        }
    }
    // T3-rtx three times, a second of T1-init or T1-cookie, and the handshake by the other network; without a new attempt 15 s.
    assert!(waits.iter().all(|(.., up)| *up < 3.0), "{waits:?}");
}

/// The only path that there is room for gives way to one that is not confirmed, as the server has keys and asks by it. Nothing measures how long
/// the client waits then.
#[test]
fn the_confirmed_path_gives_way_before_there_are_keys() {
    for from in (15..90).step_by(10) {
        let mut configs = configs();
        configs[CLIENT].limits.paths = 1;
        let mut pair = pair(from, configs, &[link(10, 10), link(10, 10)]);
        let client = pair.uplinks[CLIENT][0].address;
        tap(&mut pair, move |now, route, bytes, _| {
            if route.remote == client && now >= at(from) && now < at(10_000) {
                bytes[12] ^= 1;
            }
        });
        pair.run(60);
        assert_received_all(&pair);
    }
}

/// A server with one network, which spoils sealed packets if they are so `large`; then it is in another one, with another address.
fn server_that_moves_before_it_is_up(leaves: u64, enters: u64, large: usize) -> Pair {
    let links = [link(10, 10), link(10, 15)];
    let users = [User::client(&[uplink_address(SERVER, 0)]), User::server()];
    let users = users.map(|user| user.queueing(COUNT, 700));
    let config = SeededExchanges::new(7, b"either").protect(Config::mobile());
    let finish = |_, node: Node| node.with_policy(|| Box::new(Seamless::policy(Pace::MOBILE)));
    let mut pair = Pair::around_router(5, config, [(1, &links[..1]), (1, &links)], users, finish);
    let [old, new] = [pair.uplinks[SERVER][0], pair.uplinks[SERVER][1]];
    old.leave(&mut pair.world, at(leaves));
    new.enter(&mut pair.world, at(enters));
    tap(&mut pair, move |_, route, bytes, _| {
        if route.remote == old.address && bytes[12] == draft::CHUNK_DTLS && bytes.len() >= large {
            bytes[20] ^= 1;
        }
    });
    pair
}

/// The client has been up, and its Hello is lost, when the server loses its only address and gets another one, or has got it during the key
/// exchange.
#[test]
fn an_address_is_told_before_the_server_is_up() {
    for enters in [1_005, 15, 25, 35, 45, 55, 65] {
        let mut pair = server_that_moves_before_it_is_up(1_000, enters, 0);
        pair.run(1);
        let up = |user: &User| user.record.events.iter().any(|(_, event)| matches!(event, Event::Up { .. }));
        assert!(up(pair.client()));
        assert!(!up(pair.server()) || enters < 1_000);
        pair.run(5);
        assert_all_arrived(&pair);
    }
}

/// The client has sealed what is not its Hello, and then the server is cut off for as long as mobile hosts may be.
#[test]
fn a_server_that_is_not_up_is_patient() {
    let mut pair = server_that_moves_before_it_is_up(900_000, 900_005, 150);
    pair.run(901);
    assert_all_arrived(&pair);
}

/// The keys are renewed each hour, under loss, and nothing is lost by that.
#[test]
fn keys_are_renewed_each_hour() {
    let mut path = link(10, 10);
    path.loss = Loss::Bernoulli(0.05);
    let mut pair = pair(3, configs(), &[path]);
    let heard = listen(&mut pair);
    pair.run(9_000);
    assert_all_arrived(&pair);
    let mut epochs: Vec<u8> = Vec::new();
    for (_, packet) in heard.lock().unwrap().iter() {
        if let Some(record) = Dtls::read(&chunks(packet)[0])
            && !epochs.contains(&record.epoch)
        {
            epochs.push(record.epoch);
        }
    }
    assert_eq!(epochs, [3, 0, 1]);
}

/// What is said about a renewal comes behind a gap, and its turn comes with other packets. Nobody but the association reads it.
#[test]
fn what_is_said_about_keys_is_for_no_user() {
    for seed in 1..20 {
        let mut path = link(10, 30);
        path.loss = Loss::Bernoulli(0.1);
        let [client, server] = [User::client(&remotes(1)), User::server()].map(|user| {
            let traffic = Later(ConstantRate::every(700, millis(5), COUNT as u64));
            user.sending(Box::new(traffic) as Box<dyn Traffic>)
        });
        let mut pair = Pair::with_configs(seed, configs(), &[[path; 2]], client, server);
        pair.run(3_620);
        assert_all_arrived(&pair);
    }
}

/// Traffic that begins just before keys are renewed.
struct Later(ConstantRate);

impl Traffic for Later {
    fn offer(&mut self, now: Instant, acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        let begin = at(3_599_500);
        if now < begin { Some(begin) } else { self.0.offer(now, acknowledged, send) }
    }
}
