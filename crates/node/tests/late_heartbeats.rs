//! A heartbeat that is late or lost on a path from which packets keep coming (`Unanswered::RepeatIfHeard`).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Action, Change, InFlight, QueueLimit, Side};
use whimbrel_proto::{Config, PathState, PathView, Unanswered};
use whimbrel_wire::{Chunk, HeartbeatAck, SackBuilder};

use crate::common::wire_peer::{Bench, Peer, node_address, peer_address, quiet};
use crate::common::{Pair, User, link, message, remotes};

/// The RTO of a path whose round trip is short.
const RTO: Duration = Duration::from_millis(200);

/// How often a path failed in the eyes of who downloads for half a minute over a link whose queue holds 300 ms of it.
fn failures(unanswered: Unanswered) -> usize {
    let mut config = Config::mobile();
    config.heartbeat.unanswered = unanswered;
    let mut slow = link(2, 5);
    slow.queue = QueueLimit::packets(50);
    let failed = (0..10).map(|seed| {
        let mut client = User::client(&remotes(2));
        client.outbox.extend((0..6_000).map(|n| message(0, n, 1400)));
        let mut server = User::server();
        server.discard = true;
        let mut pair = Pair::new(seed, config.clone(), &[slow, slow], client, server);
        pair.run(30);
        let states = pair.server().path_states();
        states.into_iter().filter(|(_, state)| *state == PathState::PotentiallyFailed).count()
    });
    failed.sum()
}

#[test]
fn a_download_that_fills_a_queue_makes_no_path_look_failed() {
    assert!(failures(Unanswered::Error) > 0, "answers are late or lost");
    assert_eq!(failures(Unanswered::RepeatIfHeard), 0);
}

/// How long after its uplink has died who downloads, over a link whose queue holds more than an RTO of it, holds the path for failed;
/// the cut comes once in every 100 ms of a heartbeat's round.
fn until_found_dead(unanswered: Unanswered) -> Vec<Duration> {
    let mut config = Config::mobile();
    config.heartbeat.unanswered = unanswered;
    let mut slow = link(2, 5);
    slow.queue = QueueLimit::packets(200);
    let found = (0..25).map(|tenths| {
        let mut client = User::client(&remotes(2));
        client.outbox.extend((0..6_000).map(|n| message(0, n, 1400)));
        let mut server = User::server();
        server.discard = true;
        let mut pair = Pair::new(1, config.clone(), &[slow, slow], client, server);
        let cut = Instant::ZERO + Duration::from_millis(8_000 + tenths * 100);
        let dead = Change::Down(InFlight::Lost);
        pair.world.schedule(cut, Action::Link(pair.links[0], Side::BtoA, dead));
        pair.run(30);
        let states = pair.server().path_states();
        let failed =
            |(at, state): &&(Instant, PathState)| *at > cut && *state == PathState::PotentiallyFailed;
        states.iter().find(failed).expect("it is found").0.saturating_since(cut)
    });
    found.collect()
}

/// It takes longer where the heartbeat is repeated, by no more than the two RTOs of the repetition, and is found all the same.
#[test]
fn an_uplink_that_dies_is_found_dead_although_packets_come_down() {
    let (at_once, repeated) =
        (until_found_dead(Unanswered::Error), until_found_dead(Unanswered::RepeatIfHeard));
    let later = at_once.iter().zip(&repeated).filter(|(one, other)| **other > **one + Duration::from_secs(1));
    assert!(later.count() > 3, "nothing was repeated: {at_once:?}, {repeated:?}");
    let longest = [at_once, repeated].map(|all| all.into_iter().max().unwrap());
    assert!(longest[0] < Duration::from_millis(3600), "{longest:?}");
    assert!(longest[1] < Duration::from_millis(4500), "{longest:?}");
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
        let infos = self.bench.take().into_iter().flat_map(|sent| {
            let info = |chunk: &Chunk<'_>| match chunk {
                Chunk::Heartbeat(heartbeat) => Some(heartbeat.info.to_vec()),
                _ => None,
            };
            sent.chunks().iter().filter_map(info).collect::<Vec<_>>()
        });
        infos.collect()
    }

    fn answer(&mut self, info: &[u8]) {
        self.bench.deliver(&self.peer.packet(&[&HeartbeatAck { info }]));
    }

    /// Something arrives that asks for no answer.
    fn hear(&mut self) {
        let cumulative_tsn_ack = self.peer.node_tsn.prev();
        let sack =
            SackBuilder { cumulative_tsn_ack, a_rwnd: 100_000, gap_ack_blocks: &[], duplicate_tsns: &[] };
        self.bench.deliver(&self.peer.packet(&[&sack]));
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
