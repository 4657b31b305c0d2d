//! What becomes of data in flight when the primary path changes: one test per rule and case. The peer is driven by hand, so that the
//! order of packets and their timing show.

use core::time::Duration;

use whimbrel_proto::{
    BurstLimit, Command, Config, InitialWindow, PathId, PathShape, PathState, PrimaryChangeRule,
    RetransmissionPath,
};
use whimbrel_wire::Tsn;

use whimbrel_testbed::peer::{Bench, Peer, Sent, peer_address, quiet, route};

const WINDOW: u32 = 1_000_000;

/// A node whose peer has three addresses, all confirmed; the first is primary.
struct Scene {
    bench: Bench,
    peer: Peer,
}

fn config(rule: PrimaryChangeRule) -> Config {
    let mut config = quiet();
    config.primary_change = rule;
    let alone = [PrimaryChangeRule::ProbeFirst, PrimaryChangeRule::LostFirst, PrimaryChangeRule::AwaitTimer];
    if alone.contains(&rule) {
        config.retransmission.path = RetransmissionPath::Primary;
    }
    config.congestion.initial_window = InitialWindow::Packets(4);
    config.rto.initial = Duration::from_secs(3);
    config.rto.min = Duration::from_secs(1);
    config.heartbeat.max_burst = 8;
    config.congestion.burst = BurstLimit::Packets(1000);
    config
}

impl Scene {
    fn new(rule: PrimaryChangeRule) -> Self {
        Self::with(config(rule))
    }

    fn with(config: Config) -> Self {
        let mut bench = Bench::new(config);
        let mut peer = Peer { a_rwnd: WINDOW, ..Peer::new() };
        peer.connect_with(&mut bench, &[peer_address(2).ip(), peer_address(3).ip()]);
        let mut scene = Self { bench, peer };
        // The node leaves the peer a quarter of the RTO to probe first.
        for _ in 0..10 {
            scene.answer_heartbeats();
            scene.bench.pass(Duration::from_millis(100));
        }
        scene.bench.take();
        assert!(scene.bench.paths().iter().all(|path| path.state == PathState::Active));
        scene
    }

    fn answer_heartbeats(&mut self) {
        for sent in self.bench.take() {
            self.peer.answer_heartbeats(&mut self.bench, &sent);
        }
    }

    fn path(&self, n: u8) -> PathId {
        let to = |path: &&whimbrel_proto::PathView| path.route.remote.ip() == peer_address(n).ip();
        self.bench.paths().iter().find(to).unwrap().id
    }

    /// Queues `count` messages, one packet each.
    fn send(&mut self, count: u32) {
        for _ in 0..count {
            self.bench.send(0, &[7; 1424]);
        }
    }

    fn set_primary(&mut self, n: u8) {
        let (association, path) = (self.bench.association(), self.path(n));
        self.bench.command(Command::SetPrimary { association, path });
    }

    /// A SACK that comes from the peer's address `n`, with offsets of TSNs from the first.
    fn sack(&mut self, cumulative: u32, a_rwnd: u32, blocks: &[(u16, u16)]) {
        let mut route = route();
        route.remote = peer_address(1);
        let point = Tsn(self.peer.node_tsn.0.wrapping_add(cumulative).wrapping_sub(1));
        let packet = self.peer.sack_with(point, a_rwnd, blocks);
        self.bench.deliver_on(route, &packet);
    }

    /// DATA sent since the last call: which address of the peer it went to, and its TSN as offset from the first.
    fn data(&mut self) -> Vec<(u8, u32)> {
        let sent = self.bench.take();
        sent.iter().flat_map(|sent| self.offsets(sent)).collect()
    }

    fn offsets(&self, sent: &Sent) -> Vec<(u8, u32)> {
        let to = (1..=3).find(|&n| peer_address(n).ip() == sent.route.remote.ip()).unwrap();
        sent.data().iter().map(|data| (to, data.tsn.distance_from(self.peer.node_tsn))).collect()
    }
}

/// Four packets in flight on path 1, more waiting.
fn in_flight(rule: PrimaryChangeRule) -> Scene {
    let mut scene = Scene::new(rule);
    scene.send(40);
    assert_eq!(scene.data(), [(1, 0), (1, 1), (1, 2), (1, 3)]);
    scene
}

#[test]
fn standard_sends_new_data_on_the_new_path_and_leaves_the_rest_to_the_timer() {
    let mut scene = in_flight(PrimaryChangeRule::Standard);
    scene.set_primary(2);
    assert_eq!(scene.data(), [(2, 4), (2, 5), (2, 6), (2, 7)]);
    scene.bench.pass(Duration::from_millis(900));
    assert_eq!(scene.data(), []);
}

/// Four packets were in flight on path 1, T3-rtx has just expired there, and the first has gone out again. The RTO was so long.
fn expired(rule: PrimaryChangeRule) -> (Scene, Duration) {
    let mut scene = in_flight(rule);
    let first = scene.path(1);
    let rto = scene.bench.paths().iter().find(|path| path.id == first).unwrap().rto;
    scene.bench.pass(rto);
    assert_eq!(scene.data(), [(1, 0)], "T3-rtx has expired");
    (scene, rto)
}

/// d10 section II.B: "CN cannot transmit data on the new MN IP address before T3-rtx expiration on the old MN address".
#[test]
fn await_timer_sends_nothing_while_the_timer_of_what_it_called_lost_runs() {
    let (mut scene, rto) = expired(PrimaryChangeRule::AwaitTimer);
    scene.set_primary(2);
    assert_eq!(scene.data(), []);
    let moment = Duration::from_millis(100);
    scene.bench.pass(rto * 2 - moment);
    assert_eq!(scene.data(), [], "it has backed off");
    scene.bench.pass(moment * 2);
    assert_eq!(scene.data()[..4], [(2, 0), (2, 1), (2, 2), (2, 3)]);
}

#[test]
fn await_timer_sends_at_once_where_no_timer_has_expired() {
    let mut scene = in_flight(PrimaryChangeRule::AwaitTimer);
    scene.set_primary(2);
    assert_eq!(scene.data(), [(2, 4), (2, 5), (2, 6), (2, 7)]);
}

/// A SACK is as good as the timer.
#[test]
fn await_timer_sends_when_a_sack_comes() {
    let (mut scene, _) = expired(PrimaryChangeRule::AwaitTimer);
    scene.set_primary(2);
    assert_eq!(scene.data(), []);
    scene.sack(1, WINDOW, &[]);
    assert_eq!(scene.data()[..3], [(2, 1), (2, 2), (2, 3)]);
}

#[test]
fn retransmit_at_once_does_not_wait_for_the_timer() {
    let mut scene = in_flight(PrimaryChangeRule::RetransmitAtOnce);
    scene.set_primary(2);
    assert_eq!(scene.data(), [(2, 0), (2, 1), (2, 2), (2, 3)]);
    // No timeout, no blame: the old path is as good as before.
    let old = scene.bench.paths().into_iter().find(|path| path.route.remote == peer_address(1)).unwrap();
    assert_eq!((old.error_count, old.flight_size, old.counters.timeouts), (0, 0, 0));
    assert_eq!(old.state, PathState::Active);
    // Slow start goes on: nothing is frozen.
    scene.sack(2, WINDOW, &[]);
    assert_eq!(scene.data(), [(2, 4), (2, 5), (2, 6)]);
}

/// With a third path the difference shows: retransmission by RFC 9260 §6.4 takes any other path than the one it was lost on.
#[test]
fn lost_first_resends_everything_on_the_new_path_before_any_new_data() {
    let mut scene = Scene::new(PrimaryChangeRule::LostFirst);
    scene.send(40);
    assert_eq!(scene.data(), [(1, 0), (1, 1), (1, 2), (1, 3)]);
    scene.sack(4, WINDOW, &[]);
    assert_eq!(scene.data().len(), 5, "4 to 8 on path 1");
    scene.set_primary(2);
    // More was in flight than the new window takes.
    assert_eq!(scene.data(), [(2, 4), (2, 5), (2, 6), (2, 7)]);
    // The old path delivers one more after all: no new data takes the room there.
    scene.sack(5, WINDOW, &[]);
    let next = scene.data();
    assert_eq!(next[0], (2, 8), "the last of the lost ones first: {next:?}");
    assert!(next[1..].iter().enumerate().all(|(n, &sent)| sent == (2, 9 + n as u32)), "{next:?}");
    assert!(next.len() > 1);
}

#[test]
fn the_first_packet_on_the_new_path_is_a_probe_that_was_never_sent_before() {
    let mut scene = in_flight(PrimaryChangeRule::ProbeFirst);
    scene.set_primary(2);
    assert_eq!(scene.data(), [(2, 4)]);
    scene.bench.pass(Duration::from_millis(500));
    assert_eq!(scene.data(), [], "nothing else before its answer");
}

/// c04 section 2.2: "whatever the receive window": the case in which, without a probe, nothing could be sent until T3-rtx expires.
#[test]
fn the_probe_ignores_a_full_window() {
    use PrimaryChangeRule::{ProbeFirst, Standard};
    for (rule, expected) in [(ProbeFirst, vec![(2, 4)]), (Standard, vec![])] {
        let mut scene = in_flight(rule);
        scene.sack(1, 3000, &[]);
        assert_eq!(scene.data(), [], "three packets in flight fill the window");
        scene.set_primary(2);
        assert_eq!(scene.data(), expected, "{rule:?}");
    }
}

#[test]
fn the_probes_answer_reveals_the_losses_which_go_first_and_in_sequence() {
    let mut scene = in_flight(PrimaryChangeRule::ProbeFirst);
    scene.set_primary(2);
    scene.data();
    // Everything that was in flight is lost but TSN 1; the probe, TSN 4, has arrived.
    scene.sack(0, WINDOW, &[(2, 2), (5, 5)]);
    let sent = scene.data();
    assert_eq!(sent[..3], [(2, 0), (2, 2), (2, 3)]);
    // In slow start, new data behind them as far as the window goes.
    assert_eq!(sent[3..], [(2, 5)]);
    scene.sack(5, WINDOW, &[]);
    assert!(scene.data().iter().all(|&(to, tsn)| to == 2 && tsn >= 6));
}

#[test]
fn the_probe_is_guarded_by_the_initial_rto() {
    let mut scene = in_flight(PrimaryChangeRule::ProbeFirst);
    // The timer of the old path would interfere: everything there is acknowledged but not in sequence.
    scene.set_primary(2);
    scene.data();
    scene.sack(4, WINDOW, &[]);
    assert_eq!(scene.data(), [], "the probe is still out");
    scene.bench.pass(Duration::from_millis(2990));
    assert_eq!(scene.data(), []);
    scene.bench.pass(Duration::from_millis(20));
    assert_eq!(scene.data(), [(2, 4)], "after RTO.Initial, on the primary path again");
}

#[test]
fn retransmissions_use_the_primary_path_only() {
    for rule in [PrimaryChangeRule::ProbeFirst, PrimaryChangeRule::LostFirst] {
        let mut scene = in_flight(rule);
        scene.bench.pass(Duration::from_secs(10));
        assert!(scene.data().iter().all(|&(to, _)| to == 1), "{rule:?}");
        // And by fast retransmit, whatever path it was sent on.
        let mut scene = in_flight(rule);
        for end in 2..=4 {
            scene.sack(0, WINDOW, &[(2, end)]);
        }
        let sent = scene.data();
        assert!(sent.contains(&(1, 0)) && sent.iter().all(|&(to, _)| to == 1), "{rule:?} {sent:?}");
    }
    let mut scene = in_flight(PrimaryChangeRule::Standard);
    scene.bench.pass(Duration::from_secs(4));
    assert!(scene.data().iter().any(|&(to, _)| to != 1), "unlike the RFC's");
}

#[test]
fn without_new_data_the_probe_is_a_heartbeat() {
    let mut scene = Scene::new(PrimaryChangeRule::ProbeFirst);
    scene.send(4);
    assert_eq!(scene.data(), [(1, 0), (1, 1), (1, 2), (1, 3)]);
    scene.set_primary(2);
    let sent = scene.bench.take();
    let [probe] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(probe.heartbeats().len(), 1, "{sent:?}");
    scene.peer.answer_heartbeats(&mut scene.bench, probe);
    assert_eq!(scene.data(), [(2, 0), (2, 1), (2, 2), (2, 3)]);
}

/// A probe that is never answered must not stop the association.
#[test]
fn a_lost_probe_stops_nothing() {
    let mut scene = in_flight(PrimaryChangeRule::ProbeFirst);
    scene.set_primary(2);
    assert_eq!(scene.data(), [(2, 4)]);
    scene.bench.pass(Duration::from_secs(4));
    assert!(scene.data().contains(&(2, 0)), "the timers go on");
    scene.sack(1, WINDOW, &[]);
    assert!(scene.data().contains(&(2, 1)));
}

#[test]
fn a_change_with_nothing_in_flight_is_the_same_under_every_rule() {
    use PrimaryChangeRule::*;
    for rule in [Standard, ProbeFirst, RetransmitAtOnce, LostFirst] {
        let mut scene = Scene::new(rule);
        scene.set_primary(3);
        scene.send(5);
        assert_eq!(scene.data(), [(3, 0), (3, 1), (3, 2), (3, 3)], "{rule:?}");
    }
}

/// Two changes in a row, the second one before the probe is answered.
#[test]
fn a_second_change_probes_again() {
    let mut scene = in_flight(PrimaryChangeRule::ProbeFirst);
    scene.set_primary(2);
    assert_eq!(scene.data(), [(2, 4)]);
    scene.set_primary(3);
    assert_eq!(scene.data(), [(3, 5)]);
    scene.sack(0, WINDOW, &[(6, 6)]);
    assert_eq!(scene.data()[..4], [(3, 0), (3, 1), (3, 2), (3, 3)]);
}

// ---- congestion state

#[test]
fn a_path_takes_the_shape_it_is_given() {
    let mut scene = Scene::new(PrimaryChangeRule::Standard);
    let (association, path) = (scene.bench.association(), scene.path(2));
    let shape = |cwnd, ssthresh, rto| PathShape { cwnd, ssthresh, rto };
    let view = |scene: &Scene| {
        let path = scene.bench.paths().into_iter().find(|view| view.id == path).unwrap();
        (path.cwnd, path.ssthresh, path.rto)
    };
    let (_, ssthresh, rto) = view(&scene);
    scene.bench.command(Command::ShapePath { association, path, shape: shape(Some(50_000), None, None) });
    assert_eq!(view(&scene), (50_000, ssthresh, rto), "the rest stays");
    let all = shape(Some(20_000), Some(30_000), Some(Duration::from_secs(5)));
    scene.bench.command(Command::ShapePath { association, path, shape: all });
    assert_eq!(view(&scene), (20_000, 30_000, Duration::from_secs(5)));
    let wild = shape(Some(0), Some(usize::MAX), Some(Duration::MAX));
    scene.bench.command(Command::ShapePath { association, path, shape: wild });
    let (cwnd, _, rto) = view(&scene);
    assert!(cwnd >= 1000 && rto == Duration::from_secs(60), "{cwnd} {rto:?}");
    scene.bench.command(Command::ShapePath { association, path, shape: shape(Some(50_000), None, None) });
    scene.set_primary(2);
    scene.send(100);
    assert_eq!(scene.data().len(), 35, "used at once");
}

/// e13: 3, 10 or 20 segments, or "not restricting" (50 kB), on a path that was not used before.
#[test]
fn the_initial_window_decides_how_much_goes_out_at_once() {
    use InitialWindow::*;
    let mut counts = Vec::new();
    for window in [Packets(3), Packets(10), Packets(20), Bytes(50_000)] {
        let mut config = config(PrimaryChangeRule::Standard);
        config.congestion.initial_window = window;
        let mut scene = Scene::with(config);
        scene.set_primary(2);
        scene.send(100);
        counts.push(scene.data().len());
    }
    // 50,000 bytes are 34.7 segments of 1,440.
    assert_eq!(counts, [3, 10, 20, 35]);
}

#[test]
fn what_is_lost_on_a_path_can_be_declared_so() {
    let mut scene = in_flight(PrimaryChangeRule::Standard);
    let (association, path) = (scene.bench.association(), scene.path(1));
    scene.bench.command(Command::RetransmitLost { association, path });
    let sent = scene.data();
    assert_eq!(sent[..4].iter().map(|&(_, tsn)| tsn).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(sent[..4].iter().all(|&(to, _)| to != 1), "{sent:?}");
    scene.bench.command(Command::RetransmitLost { association, path });
    scene.sack(4, WINDOW, &[]);
    assert_eq!(scene.bench.closed(), None);
}
