//! A heartbeat that is late or lost on a path from which packets keep coming (`Unanswered::RepeatIfHeard`).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, InFlight, QueueLimit, Side};
use whimbrel_proto::{Config, PathState, PathView, Unanswered};
use whimbrel_wire::{Chunk, HeartbeatAck};

use whimbrel_testbed::peer::{Bench, Peer, Sent, node_address, peer_address, quiet};
use whimbrel_testbed::{Pair, User, link, message, remotes};

/// The RTO of a path whose round trip is short.
const RTO: Duration = Duration::from_millis(200);

/// Half a minute of download over a link whose queue holds more than an RTO of it.
fn download(seed: u64, queue: u32) -> Pair {
    let mut slow = link(2, 5);
    slow.queue = QueueLimit::packets(queue);
    let mut client = User::client(&remotes(2));
    client.outbox.extend((0..6_000).map(|n| message(0, n, 1400)));
    let mut server = User::server();
    server.discard = true;
    Pair::new(seed, Config::mobile(), &[slow, slow], client, server)
}

#[test]
fn a_download_that_fills_a_queue_makes_no_path_look_failed() {
    for seed in 0..10 {
        let mut pair = download(seed, 50);
        pair.run(30);
        let states = pair.server().path_states();
        assert!(states.iter().all(|(_, state)| *state != PathState::PotentiallyFailed), "{seed}: {states:?}");
    }
}

/// How long after its uplink has died who downloads holds the path for failed; the cut comes once in every 100 ms of a heartbeat's
/// round.
#[test]
fn an_uplink_that_dies_is_found_dead_although_packets_come_down() {
    for tenths in 0..25 {
        let mut pair = download(1, 200);
        let cut = Instant::ZERO + Duration::from_millis(8_000 + tenths * 100);
        pair.change(0, Side::BtoA, cut, Change::Down(InFlight::Lost));
        pair.run(30);
        let states = pair.server().path_states();
        let failed =
            |(at, state): &&(Instant, PathState)| *at > cut && *state == PathState::PotentiallyFailed;
        let found = states.iter().find(failed).expect("it is found").0.saturating_since(cut);
        assert!(found < Duration::from_millis(6_000), "{tenths}: {found:?}");
    }
}

struct Scene {
    bench: Bench,
    peer: Peer,
}

impl Scene {
    /// An association whose path has just been sent a heartbeat; what is in that.
    fn new() -> (Self, Vec<u8>) {
        let mut config = quiet();
        config.rto.min = RTO;
        config.heartbeat.interval = Some(Duration::from_secs(2));
        config.heartbeat.unanswered = Unanswered::RepeatIfHeard;
        config.failure.potentially_failed_max_retrans = Some(0);
        let mut bench = Bench::with_addresses(config, 1);
        let mut peer = Peer::new();
        peer.connect_with(&mut bench, &[peer_address(1).ip()]);
        let mut scene = Self { bench, peer };
        // So that the path has a round trip that is short.
        let first = scene.next_heartbeat();
        scene.answer(&first);
        assert_eq!(scene.path().state, PathState::Active);
        let second = scene.next_heartbeat();
        (scene, second)
    }

    fn next_heartbeat(&mut self) -> Vec<u8> {
        for _ in 0..1_000 {
            if let Some(info) = self.pass().pop() {
                return info;
            }
        }
        panic!("no heartbeat in ten seconds");
    }

    /// Ten milliseconds; what the heartbeats had in them that were sent.
    fn pass(&mut self) -> Vec<Vec<u8>> {
        self.bench.pass(Duration::from_millis(10));
        self.bench.take().iter().flat_map(Sent::heartbeats).map(<[u8]>::to_vec).collect()
    }

    fn answer(&mut self, info: &[u8]) {
        self.bench.deliver(&self.peer.packet(&[&HeartbeatAck { info }]));
    }

    /// Something arrives that asks for no answer.
    fn hear(&mut self) {
        self.bench.deliver(&self.peer.sack(self.peer.node_tsn.prev(), 100_000));
    }

    /// Time passes and packets come each 10 ms, but no answer, until a heartbeat is sent; it, and how long that took.
    fn hear_until_heartbeat(&mut self) -> (Vec<u8>, Duration) {
        let begin = self.bench.now;
        for _ in 0..1_000 {
            self.hear();
            if let Some(info) = self.pass().pop() {
                return (info, self.bench.now - begin);
            }
        }
        panic!("no heartbeat in ten seconds");
    }

    fn path(&self) -> PathView {
        self.bench.paths().into_iter().find(|path| path.route.local == node_address(1)).unwrap()
    }
}

#[test]
fn it_is_repeated_after_one_rto_and_the_path_fails_two_later() {
    let (mut scene, first) = Scene::new();
    let (again, after) = scene.hear_until_heartbeat();
    assert_ne!(again, first);
    assert!(after >= RTO && after <= RTO + Duration::from_millis(20), "{after:?}");
    assert_eq!((scene.path().state, scene.path().error_count), (PathState::Active, 0));
    // The first heartbeat of the failed path goes out at once.
    let (_, after) = scene.hear_until_heartbeat();
    assert!(after >= 2 * RTO && after <= 2 * RTO + Duration::from_millis(20), "{after:?}");
    assert_eq!((scene.path().state, scene.path().error_count), (PathState::PotentiallyFailed, 1));
}

/// RFC 9260 §8.3: heartbeats are discontinued once SHUTDOWN has been sent.
#[test]
fn none_is_repeated_after_shutdown() {
    let (mut scene, _) = Scene::new();
    for _ in 0..5 {
        scene.hear();
        scene.pass();
    }
    scene.bench.shutdown();
    let (mut heartbeats, mut shutdowns) = (0, 0);
    for _ in 0..60 {
        scene.hear();
        scene.bench.pass(Duration::from_millis(10));
        for sent in scene.bench.take() {
            heartbeats += sent.chunks().iter().filter(|chunk| matches!(chunk, Chunk::Heartbeat(_))).count();
            shutdowns += sent.chunks().iter().filter(|chunk| matches!(chunk, Chunk::Shutdown(_))).count();
        }
    }
    assert!(shutdowns > 0);
    assert_eq!(heartbeats, 0);
}

/// Unlike an answer to two equal ones (RFC 9260 §6.3.1 C5), each says which it answers.
#[test]
fn the_answer_to_either_counts_and_measures() {
    for late in [true, false] {
        let (mut scene, first) = Scene::new();
        let (again, _) = scene.hear_until_heartbeat();
        for _ in 0..10 {
            scene.pass();
        }
        let before = scene.path().srtt.unwrap();
        scene.answer(if late { &first } else { &again });
        assert_eq!(scene.path().error_count, 0);
        let measured = scene.path().srtt.unwrap();
        let rtt = if late { RTO + Duration::from_millis(100) } else { Duration::from_millis(100) };
        let expected = (7 * before + rtt) / 8;
        assert!(measured.abs_diff(expected) <= Duration::from_millis(3), "{measured:?}, {expected:?}");
        // And nothing fails later.
        for _ in 0..100 {
            scene.pass();
        }
        assert_eq!(scene.path().state, PathState::Active);
    }
}

/// What was on its way when the path died comes for a while after that, but not when the answer was due.
#[test]
fn a_path_that_has_fallen_silent_fails_after_one_rto() {
    let (mut scene, _) = Scene::new();
    for _ in 0..9 {
        scene.hear();
        scene.pass();
    }
    for _ in 0..12 {
        scene.pass();
    }
    assert_eq!((scene.path().state, scene.path().error_count), (PathState::PotentiallyFailed, 1));
}
