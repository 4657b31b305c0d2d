//! What paths can carry and carry, by trains of heartbeats and by acknowledgements (b08 section 4.2.2), over links of which it is known.

use core::time::Duration;

use whimbrel_netsim::{LinkConfig, Loss, QueueLimit, Reorder};
use whimbrel_proto::{Config, Event, HeartbeatForm, PathState, PathView, PmtuSearch};
use whimbrel_testbed::{CLIENT, Pair, SERVER, User, link, remotes};

/// With a heartbeat every second or so, and trains.
fn trains(config: Config) -> Config {
    let mut config = config;
    config.heartbeat.interval = Some(Duration::from_secs(1));
    config.heartbeat.form = HeartbeatForm::Train;
    config
}

/// A link of so many kbit/s there and back, and 20 ms each way.
fn links(there: u64, back: u64) -> [LinkConfig; 2] {
    let one = |kbit: u64| LinkConfig { rate_bps: Some(kbit * 1000), ..link(1, 20) };
    [one(there), one(back)]
}

/// `Config::mobile()` with Reno, which keeps the queue filled. Beside BBR no train was valid on a busy path, which is looked into no further here.
fn filling() -> Config {
    let mut config = Config::mobile();
    config.congestion = Config::rfc().congestion;
    config
}

/// Client and server over such links, the client with `trains` and the server without.
fn pair(seed: u64, config: Config, links: &[[LinkConfig; 2]], client: User, server: User) -> Pair {
    Pair::with_configs(seed, [trains(config.clone()), config], links, client, server)
}

fn idle(seed: u64, links: &[[LinkConfig; 2]]) -> Pair {
    pair(seed, Config::mobile(), links, User::client(&remotes(links.len())), User::server())
}

fn path(pair: &Pair) -> PathView {
    pair.paths(CLIENT).remove(0)
}

/// The capacity in kbit/s.
fn capacity(pair: &Pair) -> Option<u64> {
    path(pair).capacity.map(|capacity| capacity.rate / 1000)
}

fn is_about(measured: Option<u64>, really: u64) -> bool {
    measured.is_some_and(|measured| measured.abs_diff(really) * 20 <= really)
}

#[test]
fn capacities_of_idle_paths_are_measured() {
    for (there, back) in
        [(10_000, 10_000), (2_000, 2_000), (384, 384), (50_000, 50_000), (10_000, 1_000), (2_000, 384)]
    {
        for config in [Config::rfc(), Config::mobile()] {
            let (client, server) = (User::client(&remotes(1)), User::server());
            let mut pair = pair(1, config, &[links(there, back)], client, server);
            pair.run(20);
            let measured = capacity(&pair);
            let exact = measured.is_some_and(|measured| measured.abs_diff(there) * 100 <= there);
            assert!(exact, "{there} there, {back} back: {measured:?} kbit/s");
            assert_eq!(path(&pair).error_count, 0);
        }
    }
}

/// The first train leaves within a round trip or two, and does not wait for HB.interval.
#[test]
fn the_first_estimate_is_there_soon() {
    let mut pair = idle(2, &[links(10_000, 10_000), links(2_000, 2_000)]);
    pair.run(1);
    let mut paths = pair.paths(CLIENT);
    paths.retain(|path| path.state == PathState::Active);
    let rate = |path: &PathView| path.capacity.map(|capacity| capacity.rate / 1000);
    let measured: Vec<Option<u64>> = paths.iter().map(rate).collect();
    assert_eq!(measured.len(), 2);
    assert!(is_about(measured[0], 10_000) && is_about(measured[1], 2_000), "{measured:?}");
}

/// Answers that wait for each other on their way back are as far apart as that has it, the small ones too.
#[test]
fn a_way_back_that_is_too_slow_leaves_the_capacity_unknown() {
    let mut pair = idle(3, &[links(10_000, 100)]);
    pair.run(30);
    assert_eq!(path(&pair).capacity, None);
    assert_eq!((path(&pair).state, path(&pair).error_count), (PathState::Active, 0));
}

/// RFC 4820 §3: who does not know padding skips it; who drops the packet leaves us without an estimate, and the path as it was.
#[test]
fn a_peer_that_drops_padded_heartbeats_is_no_path_error() {
    let mut config = Config::mobile();
    config.pmtu.search = PmtuSearch::Off;
    let small = links(10_000, 10_000).map(|link| LinkConfig { mtu: 600, ..link });
    let mut pair = pair(4, config, &[small], User::client(&remotes(1)), User::server());
    pair.run(120);
    let path = path(&pair);
    assert_eq!(path.capacity, None);
    assert_eq!((path.state, path.error_count), (PathState::Active, 0));
    let states: Vec<PathState> = pair.client().path_states().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, [], "it came up and was never anything else");
}

/// What is known is right even if most trains are lost in part.
#[test]
fn trains_with_losses_say_nothing() {
    let lossy = links(10_000, 10_000).map(|link| LinkConfig { loss: Loss::Bernoulli(0.1), ..link });
    let mut valid = 0;
    for seed in 0..20 {
        let mut pair = idle(seed, &[lossy]);
        pair.run(10);
        if let Some(measured) = capacity(&pair) {
            valid += 1;
            assert!(is_about(Some(measured), 10_000), "seed {seed}: {measured} kbit/s");
        }
    }
    assert!(valid > 5, "{valid} of 20");
}

/// A fifth of the packets is overtaken by all the others of its train.
#[test]
fn trains_out_of_order_say_nothing() {
    let extra = Duration::from_millis(10);
    let mixed =
        links(10_000, 10_000).map(|link| LinkConfig { reorder: Reorder { probability: 0.1, extra }, ..link });
    for seed in 0..20 {
        let mut pair = idle(seed, &[mixed]);
        pair.run(10);
        let measured = capacity(&pair);
        assert!(measured.is_none() || is_about(measured, 10_000), "seed {seed}: {measured:?} kbit/s");
    }
}

/// Trains leave on the path in use as well, behind what waits there, and what is acknowledged is as much as the link carries.
#[test]
fn a_busy_path_is_measured_both_ways() {
    // Where the way back is slower, SACKs between the answers move these.
    for (there, back) in [(10_000, 10_000), (2_000, 2_000), (10_000, 5_000)] {
        let mut links = links(there, back);
        links[0].queue = QueueLimit::packets(60);
        let client = User::client(&remotes(1)).queueing(3000, 10_000);
        let mut pair = pair(5, filling(), &[links], client, User::server());
        pair.run(15);
        let path = path(&pair);
        let measured = capacity(&pair);
        assert!(is_about(measured, there), "{there} there, {back} back: {measured:?} kbit/s");
        let found = path.capacity.expect("it is known").at;
        assert!(found > whimbrel_testbed::at(10_000), "trains leave however busy the path is: {found}");
        let carried = path.available.expect("much has been acknowledged").rate / 1000;
        assert!(carried > there * 9 / 10 && carried < there * 21 / 20, "{carried} of {there} kbit/s");
    }
}

/// The other direction is full of packets, so that answers come among them.
#[test]
fn answers_among_other_traffic_change_little() {
    let mut links = links(10_000, 10_000);
    links[1].queue = QueueLimit::packets(60);
    let server = User::server().queueing(3000, 10_000);
    let mut pair = pair(6, filling(), &[links], User::client(&remotes(1)), server);
    pair.run(15);
    assert!(pair.paths(SERVER)[0].available.is_some());
    if let Some(measured) = capacity(&pair) {
        assert!(is_about(Some(measured), 10_000), "{measured} kbit/s");
    }
}

/// A path that leads through another network is measured anew.
#[test]
fn the_estimate_follows_the_path() {
    use whimbrel_netsim::{Change, Side};
    let mut pair = idle(7, &[links(10_000, 10_000)]);
    pair.run(5);
    assert!(is_about(capacity(&pair), 10_000));
    pair.change(0, Side::Both, whimbrel_testbed::at(5000), Change::Rate(Some(2_000_000)));
    pair.run(20);
    assert!(is_about(capacity(&pair), 2_000), "{:?}", capacity(&pair));
}

/// Policies hear of what is found, and of congestion; where heartbeats are no trains they hear nothing.
#[test]
fn what_is_found_is_told() {
    let told = |pair: &Pair, host: usize| {
        let events = pair.user(host).record.events.iter();
        events.filter(|(_, event)| matches!(event, Event::PathEstimates { .. })).count()
    };
    let mut pair = idle(9, &[links(10_000, 10_000)]);
    pair.run(10);
    assert!((3..=20).contains(&told(&pair, CLIENT)), "{}", told(&pair, CLIENT));
    assert_eq!(told(&pair, SERVER), 0);
    let mut lossy = links(10_000, 10_000);
    lossy[0].queue = QueueLimit::packets(10);
    let client = User::client(&remotes(1)).queueing(3000, 10_000);
    let mut busy = self::pair(9, Config::rfc(), &[lossy], client, User::server());
    busy.run(10);
    let losses = path(&busy).counters.fast_retransmits as usize;
    assert!(losses > 5 && told(&busy, CLIENT) >= losses, "{losses} {}", told(&busy, CLIENT));
}

/// Six packets per train where there was one, and nothing else: neither repetitions nor errors.
#[test]
fn a_train_is_six_packets() {
    let sent = |form: HeartbeatForm| {
        let mut config = Config::rfc();
        config.heartbeat.interval = Some(Duration::from_secs(1));
        let mut configs = [config.clone(), config];
        configs[0].heartbeat.form = form;
        configs[1].heartbeat.interval = None;
        let (client, server) = (User::client(&remotes(1)), User::server());
        let mut pair = Pair::with_configs(8, configs, &[links(10_000, 10_000)], client, server);
        pair.run(2);
        let before = path(&pair).counters.packets_sent;
        pair.run(42);
        path(&pair).counters.packets_sent - before
    };
    let (single, train) = (sent(HeartbeatForm::Single), sent(HeartbeatForm::Train));
    assert!((15..=25).contains(&single), "{single}");
    assert!(train.is_multiple_of(6) && train.abs_diff(single * 6) <= 12, "{train} and {single}");
}
