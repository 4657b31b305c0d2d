//! Paths are confirmed and supervised without any data.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::Action;
use whimbrel_proto::{Command, Config, PathState, PathView};
use whimbrel_wire::Chunk;

use whimbrel_testbed::peer::{Bench, Peer, Sent};
use whimbrel_testbed::{Pair, User, link, message, remotes};

/// An association over two networks that has been up for almost a second, with nothing to say.
fn idle(seed: u64) -> Pair {
    let links = [link(10, 5), link(10, 20)];
    let mut pair = Pair::new(seed, Config::mobile(), &links, User::client(&remotes(2)), User::server());
    pair.run(1);
    pair
}

#[test]
fn an_idle_association_confirms_its_paths() {
    let pair = idle(3);
    for (host, user) in [(pair.client, pair.client()), (pair.server, pair.server())] {
        let paths = pair.world.machine(host).paths(user.association().unwrap());
        let active: Vec<_> = paths.iter().filter(|p| p.state == PathState::Active).map(|p| p.route).collect();
        assert_eq!(active.len(), 2, "{paths:#?}");
        assert!(
            active
                .iter()
                .all(|route| route.local.ip().to_string()[..6] == route.remote.ip().to_string()[..6])
        );
    }
}

/// RFC 9260 §5.4: each end confirms each path. The second end's probe goes with its answer to the first's.
#[test]
fn three_packets_confirm_a_path_for_both_ends() {
    let pair = idle(4);
    let standby = |host, user: &User| -> PathView {
        let paths = pair.world.machine(host).paths(user.association().unwrap());
        paths.into_iter().find(|path| path.state == PathState::Active && !path.primary).unwrap()
    };
    assert_eq!(standby(pair.client, pair.client()).counters.packets_sent, 2);
    assert_eq!(standby(pair.server, pair.server()).counters.packets_sent, 1);
}

/// RFC 9260 §8.3: a path that has been measured by data is idle RTO + HB.interval later, ± 50 % of the RTO.
#[test]
fn a_busy_path_gets_its_heartbeat_a_period_after_the_data() {
    const DATA: Duration = Duration::from_secs(1);
    for seed in 0..20 {
        let mut config = Config::rfc();
        config.heartbeat.interval = Some(Duration::from_secs(2));
        let mut pair = Pair::new(seed, config, &[link(10, 5)], User::client(&remotes(1)), User::server());
        pair.world.run_until(Instant::ZERO + DATA);
        // Both ends send, or the other's heartbeat would be answered meanwhile.
        for host in [pair.client, pair.server] {
            let association = pair.world.app(host).association().unwrap();
            let send = Command::Send { association, message: message(0, 0, 100) };
            pair.world.schedule(Instant::ZERO + DATA, Action::Command(host, send));
        }
        let association = pair.client().association().unwrap();
        pair.world.run_until(Instant::ZERO + DATA + Duration::from_millis(500));
        // By now the search for the path MTU, which the data began, is over: it takes a few round trips.
        let sent = |pair: &Pair| pair.world.machine(pair.client).paths(association)[0].counters.packets_sent;
        let before = sent(&pair);
        let mut now = Instant::ZERO + DATA + Duration::from_millis(500);
        while sent(&pair) == before {
            now += Duration::from_millis(10);
            pair.world.run_until(now);
        }
        let after = now - DATA;
        let (rto, interval) = (Duration::from_secs(1), Duration::from_secs(2));
        let period = Instant::ZERO + interval + rto;
        assert!(after >= period - rto / 2, "seed {seed}: {after} after the data");
        assert!(after <= period + rto / 2 + Duration::from_millis(20), "seed {seed}: {after} after the data");
    }
}

/// RFC 9260 §8.3: both ends supervise an idle path, in the same rhythm, with three packets a period instead of four: when
/// one end's HEARTBEAT comes within the jitter of the other's, the other's goes with the answer.
#[test]
fn an_idle_path_carries_three_packets_a_period() {
    const PERIODS: u64 = 50;
    let mut config = Config::rfc();
    config.heartbeat.interval = Some(Duration::from_secs(9));
    let mut pair = Pair::new(5, config, &[link(10, 5)], User::client(&remotes(1)), User::server());
    let sent = |pair: &Pair| -> u64 {
        let packets = |host, user: &User| {
            pair.world.machine(host).paths(user.association().unwrap())[0].counters.packets_sent
        };
        packets(pair.client, pair.client()) + packets(pair.server, pair.server())
    };
    pair.run(100);
    let before = sent(&pair);
    pair.run(100 + PERIODS * 10);
    let packets = sent(&pair) - before;
    // A period is RTO + HB.interval, 10 s, or up to half an RTO less, since the earlier of the two decides.
    assert!((3 * PERIODS - 3..=3 * PERIODS * 10 / 9).contains(&packets), "{packets} packets");
}

/// Decision 25: a peer that is not heard is asked every 5 s at least for ten minutes. The jitter of RFC 9260 §8.3 makes that less, not more.
#[test]
fn probes_to_a_silent_peer_are_no_further_apart_than_stated() {
    let mut bench = Bench::new(Config::mobile());
    Peer::new().connect(&mut bench);
    bench.pass(Duration::from_secs(590));
    let asks = |sent: &&Sent| {
        sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_))) && sent.chunks().len() == 1
    };
    let sent = bench.take();
    let times: Vec<Instant> = sent.iter().filter(asks).map(|sent| sent.at).collect();
    let gaps = || times.windows(2).map(|two| two[1].saturating_since(two[0]));
    assert!(gaps().all(|gap| gap <= Duration::from_secs(5)), "{:?}", gaps().max());
    // It is there, though: not in step with a network that comes and goes.
    let late: Vec<Duration> = gaps().skip(20).collect();
    assert!(
        late.iter().max().unwrap().saturating_sub(*late.iter().min().unwrap()) > Duration::from_millis(500)
    );
}
