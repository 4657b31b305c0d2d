//! A path that has failed, and on which the peer is heard again: it is tried at once, but no more often than once per RTO.

use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_proto::{Config, FailedRoute, PathState, PathView};
use whimbrel_wire::{Chunk, Heartbeat};

use whimbrel_testbed::peer::{Bench, Peer, Sent, node_address, peer_address, quiet};

/// The way that fails.
fn second() -> Route {
    Route { local: node_address(2), remote: peer_address(2) }
}

struct Scene {
    bench: Bench,
    peer: Peer,
}

impl Scene {
    /// An association with two paths, both confirmed.
    fn new(config: Config) -> Self {
        let mut bench = Bench::with_addresses(config, 2);
        let mut peer = Peer::new();
        peer.connect_with(&mut bench, &[peer_address(1).ip(), peer_address(2).ip()]);
        let mut scene = Self { bench, peer };
        scene.pass(Duration::from_secs(3), |_| true);
        assert_eq!(scene.path().state, PathState::Active);
        scene
    }

    /// As [`Self::new`], but the second path has not been heard for long.
    fn with_a_failed_path() -> Self {
        let mut config = quiet();
        config.heartbeat.max_burst = 8;
        let mut scene = Self::new(config);
        scene.pass(Duration::from_secs(600), |route| route != second());
        assert_eq!(scene.path().state, PathState::Inactive);
        scene
    }

    /// Time passes, and the peer answers the HEARTBEATs on some routes; what was sent on the second one.
    fn pass(&mut self, time: Duration, answers: impl Fn(Route) -> bool) -> Vec<Sent> {
        let mut there = Vec::new();
        let end = self.bench.now + time;
        while self.bench.now < end {
            self.bench.pass(Duration::from_millis(10));
            for sent in self.bench.take() {
                if answers(sent.route) {
                    self.peer.answer_heartbeats(&mut self.bench, &sent);
                }
                if sent.route == second() {
                    there.push(sent.clone());
                }
            }
        }
        there
    }

    /// Something arrives on the second path that asks for no answer.
    fn hear(&mut self) {
        self.bench.deliver_on(second(), &self.peer.sack(self.peer.node_tsn.prev(), 100_000));
    }

    fn path(&self) -> PathView {
        self.bench.paths().into_iter().find(|path| path.route == second()).unwrap()
    }
}

fn heartbeats(sent: &[Sent]) -> usize {
    sent.iter().flat_map(Sent::chunks).filter(|chunk| matches!(chunk, Chunk::Heartbeat(_))).count()
}

/// The next HEARTBEAT of a path that has been dead for minutes would come in a minute or so (RFC 9260 §8.3).
#[test]
fn is_tried_at_once() {
    let mut scene = Scene::with_a_failed_path();
    scene.pass(Duration::from_secs(5), |route| route != second());
    scene.hear();
    let sent = scene.pass(Duration::from_millis(10), |_| true);
    assert_eq!(heartbeats(&sent), 1, "{sent:?}");
    assert_eq!((scene.path().state, scene.path().error_count), (PathState::Active, 0));
}

/// Whoever can send packets with the right tag cannot make the node send as many, nor make a path look worse than it is: what is
/// repeated counts no error, and the RTO, backed off to a minute, still decides when the next one does.
#[test]
fn is_tried_once_per_rto_and_repetitions_count_no_errors() {
    const SECONDS: usize = 20;
    let mut scene = Scene::with_a_failed_path();
    let errors = scene.path().error_count;
    let mut sent = Vec::new();
    for _ in 0..SECONDS * 100 {
        scene.hear();
        sent.extend(scene.pass(Duration::from_millis(10), |route| route != second()));
    }
    let tried = heartbeats(&sent);
    assert!((SECONDS / 2..=SECONDS + 2).contains(&tried), "{tried} HEARTBEATs in {SECONDS} s, RTO 1 s");
    let errors = scene.path().error_count - errors;
    assert!(errors <= 1, "{errors} more errors");
}

/// RFC 9260 §6.3.1 C5, Karn's rule, does not stand in the way: a repetition has a nonce of its own.
#[test]
fn an_answer_to_a_repeated_heartbeat_measures() {
    let mut scene = Scene::with_a_failed_path();
    let measured = scene.path().srtt;
    for answered in [false, true] {
        scene.hear();
        let sent = scene.pass(Duration::from_millis(1500), |route| answered || route != second());
        assert_eq!(heartbeats(&sent), 1, "{sent:?}");
    }
    assert_eq!(scene.path().state, PathState::Active);
    assert_ne!(scene.path().srtt, measured);
}

/// RFC 9260 §8.3: HEARTBEATs end with SHUTDOWN, these as well.
#[test]
fn is_left_alone_after_shutdown() {
    let mut scene = Scene::with_a_failed_path();
    scene.bench.shutdown();
    scene.hear();
    let sent = scene.pass(Duration::from_secs(1), |_| false);
    assert_eq!(heartbeats(&sent), 0, "{sent:?}");
}

/// DATA comes by a path that does not carry anything back: its SACKs go where they arrive (RFC 9260 §6.4 leaves that open), or follow it.
#[test]
fn sacks_avoid_a_path_that_fails() {
    for rule in [FailedRoute::Follow, FailedRoute::Avoid] {
        let mut config = quiet();
        config.heartbeat.max_burst = 8;
        config.sack.failed_route = rule;
        let mut scene = Scene::new(config);
        let mut acknowledged_by = |numbers: [u16; 2]| {
            for ssn in numbers {
                let data = scene.peer.data(0, ssn, b"data");
                scene.bench.deliver_on(second(), &scene.peer.packet(&[&data]));
            }
            let sent = scene.bench.take();
            let sack = |sent: &&Sent| sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Sack(_)));
            let by = sent.iter().find(sack).expect("a SACK").route;
            scene.pass(Duration::from_secs(600), |route| route != second());
            (by, scene.path().state)
        };
        assert_eq!(acknowledged_by([0, 1]), (second(), PathState::Inactive));
        let elsewhere = Route { local: node_address(1), remote: peer_address(1) };
        let wanted = if rule == FailedRoute::Follow { second() } else { elsewhere };
        assert_eq!(acknowledged_by([2, 3]).0, wanted, "{rule:?}");
    }
}

/// Where they go instead may have failed, too, before anybody has noticed: once the path of the DATA turns out to work, they go there as well.
#[test]
fn what_was_acknowledged_elsewhere_is_acknowledged_again() {
    let mut config = quiet();
    config.heartbeat.max_burst = 8;
    config.sack.failed_route = FailedRoute::Avoid;
    let mut scene = Scene::new(config);
    let hear_data = |scene: &mut Scene, ssn: u16| {
        let data = scene.peer.data(0, ssn, b"data");
        scene.bench.deliver_on(second(), &scene.peer.packet(&[&data]));
    };
    let sacks = |sent: &[Sent]| {
        sent.iter().flat_map(Sent::chunks).filter(|chunk| matches!(chunk, Chunk::Sack(_))).count()
    };
    hear_data(&mut scene, 0);
    scene.pass(Duration::from_secs(600), |route| route != second());
    assert_eq!(scene.path().state, PathState::Inactive);
    hear_data(&mut scene, 1);
    let sent = scene.pass(Duration::from_millis(20), |_| true);
    assert_eq!(scene.path().state, PathState::Active, "its HEARTBEAT has been answered");
    assert_eq!(sacks(&sent), 1, "{sent:?}");
    // Once is enough.
    let sent = scene.pass(Duration::from_secs(60), |_| true);
    assert_eq!(sacks(&sent), 0, "{sent:?}");
}

/// The ways of the answers to a HEARTBEAT that comes by the second path, which has failed, and by the first, which has where `both` have.
fn ways_of_answers(rule: FailedRoute, both: bool) -> Vec<Vec<Route>> {
    let mut config = quiet();
    config.heartbeat.max_burst = 8;
    config.sack.failed_route = rule;
    let mut scene = Scene::new(config);
    scene.pass(Duration::from_secs(600), |route| route != second() && !both);
    assert_eq!(scene.path().state, PathState::Inactive);
    let first = Route { local: node_address(1), remote: peer_address(1) };
    let answers = |sent: &Sent| sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::HeartbeatAck(_)));
    let mut ways_of = |route| {
        scene.bench.deliver_on(route, &scene.peer.packet(&[&Heartbeat { info: b"asked" }]));
        scene.bench.take().into_iter().filter(answers).map(|sent| sent.route).collect::<Vec<_>>()
    };
    vec![ways_of(second()), ways_of(first)]
}

/// Each path may work in the other direction only: the peer would never hear that one of them carries what it sends. Where any works both ways it hears of the others soon enough.
#[test]
fn answers_go_by_every_path_where_none_works() {
    let first = Route { local: node_address(1), remote: peer_address(1) };
    let by_themselves = vec![vec![second()], vec![first]];
    assert_eq!(ways_of_answers(FailedRoute::Follow, true), by_themselves);
    assert_eq!(ways_of_answers(FailedRoute::Avoid, false), by_themselves);
    assert_eq!(ways_of_answers(FailedRoute::Avoid, true), [vec![second(), first], vec![first, second()]]);
}
