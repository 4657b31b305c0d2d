//! How a path starts that new data goes over to: slow start, larger first windows (e13), an estimate of the path, or a window that is just right (b08 section
//! 4.3.1), by the time that a file takes and by what is lost.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{Action, LinkConfig, QueueLimit, Side};
use whimbrel_proto::{
    Command, Config, HeartbeatForm, InitialWindow, PathId, PathShape, PathState, PathView, StartUp,
};
use whimbrel_testbed::{CLIENT, Pair, User, at, link, message, remotes};

/// Whoever starts knows this of the path.
#[derive(Clone, Copy)]
enum Start {
    /// Nothing: RFC 9260's first window.
    Standard,
    /// Nothing, and begins with so many packets.
    Packets(u32),
    /// What trains have told.
    Estimate,
    /// Everything: the window is installed (the ideal sender, but for its pace).
    Ideal,
}

/// What became of the file.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    took: Duration,
    dropped: u64,
    retransmitted: u64,
    /// The most that waited for the link.
    cwnd: usize,
    ssthresh: usize,
}

/// The target: 20 Mbit/s, 80 ms round trip: 200 kB, and a buffer of so many packets.
const MBIT: u64 = 20;
const RTT: u64 = 80;
const HELD: usize = 200_000;

fn target(packets: u32) -> LinkConfig {
    LinkConfig { queue: QueueLimit::packets(packets), ..link(MBIT, RTT / 2) }
}

fn config(start: Start) -> Config {
    let mut config = Config::rfc();
    config.heartbeat.interval = Some(Duration::from_secs(1));
    config.heartbeat.form = HeartbeatForm::Train;
    match start {
        Start::Packets(packets) => config.congestion.initial_window = InitialWindow::Packets(packets),
        Start::Estimate => {
            config.congestion.start_up = StartUp::ByEstimate { no_older_than: Duration::from_secs(10) };
        }
        Start::Standard | Start::Ideal => {}
    }
    config
}

fn target_path(pair: &Pair) -> PathView {
    pair.paths(CLIENT)
        .into_iter()
        .find(|path| path.route.local == whimbrel_testbed::address(CLIENT, 1))
        .unwrap()
}

/// The primary path changes 5 s after the beginning, and a file of 1 MB is sent.
fn run(start: Start, packets: u32) -> Outcome {
    const BEGIN: u64 = 5000;
    let (client, server) = (User::client(&remotes(2)), User::server());
    let mut pair = Pair::new(1, config(start), &[link(MBIT, 10), target(packets)], client, server);
    pair.world.run_until(at(BEGIN));
    let PathView { id, state, .. } = target_path(&pair);
    assert_eq!(state, PathState::Active);
    let association = pair.client().association().unwrap();
    let command =
        |pair: &mut Pair, command| pair.world.schedule(at(BEGIN), Action::Command(pair.client, command));
    if matches!(start, Start::Ideal) {
        let shape = PathShape { cwnd: Some(HELD), ssthresh: Some(HELD), ..PathShape::default() };
        command(&mut pair, Command::ShapePath { association, path: id, shape });
    }
    command(&mut pair, Command::SetPrimary { association, path: id });
    for n in 0..100 {
        command(&mut pair, Command::Send { association, message: message(0, n, 10_000) });
    }
    pair.world.run_until(at(BEGIN + 50));
    let PathView { cwnd, ssthresh, .. } = target_path(&pair);
    pair.world.run_until(at(BEGIN + 30_000));
    let received = &pair.server().record.received;
    assert_eq!(received.len(), 100);
    let end: Instant = received.iter().map(|(at, _)| *at).max().unwrap();
    Outcome {
        took: end - at(BEGIN),
        dropped: pair.world.stats(pair.link(1), Side::AtoB).dropped_packets(),
        retransmitted: target_path(&pair).counters.data_retransmitted,
        cwnd,
        ssthresh,
    }
}

/// 1 MB takes 0.4 s at 20 Mbit/s, and half a round trip: 0.44 s.
#[test]
fn a_file_after_a_change_of_primary() {
    let outcome = |start| run(start, 150);
    let [standard, twenty, estimate, ideal] =
        [Start::Standard, Start::Packets(20), Start::Estimate, Start::Ideal].map(outcome);
    println!("standard {standard:?}\n20 packets {twenty:?}\nestimate {estimate:?}\nideal {ideal:?}");
    assert!(estimate.took < Duration::from_millis(490), "{estimate:?}");
    assert!(estimate.took < ideal.took + Duration::from_millis(20), "{estimate:?} {ideal:?}");
    assert!(standard.took > estimate.took + Duration::from_millis(300), "{standard:?} {estimate:?}");
    assert!(twenty.took > estimate.took + Duration::from_millis(100), "{twenty:?} {estimate:?}");
    assert_eq!((estimate.dropped, estimate.retransmitted), (0, 0));
    // What was measured, and no more: 1452 of 1480 bytes are chunks and their header, but for the common one.
    assert!(estimate.cwnd.abs_diff(HELD) < HELD / 20 && estimate.ssthresh <= estimate.cwnd, "{estimate:?}");
}

/// A buffer of ten packets: whoever sends the same window at once loses most of it.
#[test]
fn the_first_window_leaves_at_the_pace_of_the_path() {
    let [estimate, ideal] = [Start::Estimate, Start::Ideal].map(|start| run(start, 10));
    println!("estimate {estimate:?}\nideal {ideal:?}");
    assert_eq!((estimate.dropped, estimate.retransmitted), (0, 0));
    assert!(estimate.took < Duration::from_millis(500), "{estimate:?}");
}

/// What is too old, or not known, is not used.
#[test]
fn without_a_fresh_estimate_it_is_slow_start() {
    let cwnd = |change: &dyn Fn(&mut Config)| {
        let mut config = config(Start::Estimate);
        change(&mut config);
        let mut pair =
            Pair::new(1, config, &[link(MBIT, 10), target(150)], User::client(&remotes(2)), User::server());
        pair.world.run_until(at(5000));
        let association = pair.client().association().unwrap();
        let path: PathId = target_path(&pair).id;
        let command = Command::SetPrimary { association, path };
        pair.world.schedule(at(5000), Action::Command(pair.client, command));
        let send = Command::Send { association, message: message(0, 0, 100) };
        pair.world.schedule(at(5000), Action::Command(pair.client, send));
        pair.world.run_until(at(5001));
        target_path(&pair).cwnd
    };
    let standard = cwnd(&|config| config.congestion.start_up = StartUp::SlowStart);
    assert!(standard < 10_000);
    assert!(cwnd(&|_| {}) > 150_000);
    let old = StartUp::ByEstimate { no_older_than: Duration::from_millis(1) };
    assert_eq!(cwnd(&|config| config.congestion.start_up = old), standard);
    assert_eq!(cwnd(&|config| config.heartbeat.form = HeartbeatForm::Single), standard);
}
