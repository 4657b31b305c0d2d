//! TCP against closed forms, through a network in virtual time.
mod common;

use core::time::Duration;

use common::pair;
use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, InFlight, LinkConfig, Loss, QueueLimit, Side};
use whimbrel_rivals::tcp::{
    ConnectionId, ConstantRate, Cubic, DelayedAck, File, Greedy, NewReno, Reno, RtoConfig, Sack, Source,
    TcpConfig, TcpEvent,
};

const MSS: u64 = 1460;
const RTT: Duration = Duration::from_millis(100);
/// Each full segment is acknowledged by itself, so that windows double in a round trip.
const EVERY: DelayedAck = DelayedAck { segments: 1, after: Duration::ZERO };

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Half the round trip each way, and no bottleneck.
fn wire() -> LinkConfig {
    LinkConfig { delay: RTT / 2, ..LinkConfig::default() }
}

fn config() -> TcpConfig {
    TcpConfig { delayed_ack: EVERY, receive_window: 16 << 20, ..TcpConfig::default() }
}

/// Without losses and bottleneck a file of n segments takes the handshake, and then one round trip for each of the k with
/// IW·(2^k - 1) >= n: its last byte is there half a round trip into the last.
#[test]
fn slow_start_takes_as_many_round_trips_as_in_theory() {
    for initial_window in [1, 2, 3, 10] {
        for segments in [1, 10, 100, 1000] {
            let rounds = (0..).find(|k| u64::from(initial_window) * ((1 << k) - 1) >= segments).unwrap();
            let config = TcpConfig { initial_window, ..config() };
            let mut pair = pair(1, config, [wire(), wire()], vec![Box::new(File(segments * MSS))]);
            pair.run_s(10);
            let is_last = |(_, event): &&(Instant, TcpEvent)| matches!(event, TcpEvent::Received { total, .. } if *total == segments * MSS);
            let last = pair.world.app(pair.receiver).record.iter().find(is_last).expect("complete");
            assert_eq!(last.0, Instant::ZERO + RTT * rounds + RTT / 2, "window {initial_window}, {segments}");
            assert_eq!(pair.stats().retransmissions, 0);
        }
    }
}

/// With every second segment acknowledged, RFC 5681's slow start grows by half in a round trip.
#[test]
fn delayed_acknowledgements_slow_slow_start_down() {
    let config =
        TcpConfig { initial_window: 2, delayed_ack: DelayedAck { segments: 2, after: ms(200) }, ..config() };
    let mut pair = pair(1, config, [wire(), wire()], vec![Box::new(Greedy)]);
    // 2, 3, then 1.5 times as much, rounding to whole acknowledgements: 4 to 5, 6 to 7, 9 to 10, ...
    pair.world.run_until(Instant::ZERO + RTT * 11);
    let windows = pair.stats().window / MSS;
    let theory = 2.0 * 1.5_f64.powi(10);
    assert!((windows as f64 / theory - 1.0).abs() < 0.25, "{windows} for {theory}");
}

/// Mathis et al. 1997: with one loss in 1/p segments, windows between W/2 and W carry MSS/RTT·sqrt(3/(2p)), for a window
/// that grows by one segment in a round trip.
#[test]
fn throughput_obeys_the_square_root_formula() {
    for recovery in [Sack::boxed, NewReno::boxed] {
        for every in [400, 1600, 6400] {
            let config = TcpConfig { recovery, ..config() };
            let down = LinkConfig { loss: Loss::Periodic(every), ..wire() };
            let mut pair = pair(1, config, [down, wire()], vec![Box::new(Greedy)]);
            pair.run_s(100);
            let before = pair.received();
            pair.run_s(400);
            let bytes_s = (pair.received() - before) as f64 / 300.0;
            let theory = MSS as f64 / RTT.as_secs_f64() * (1.5 * f64::from(every)).sqrt();
            let ratio = bytes_s / theory;
            println!("one in {every}: {bytes_s:.0} B/s, theory {theory:.0}, ratio {ratio:.3}");
            assert_eq!(pair.stats().timeouts, 0);
            assert!((0.93..1.03).contains(&ratio), "one in {every}: {ratio}");
        }
    }
}

/// Behind a queue of one bandwidth-delay product, halving the window never empties the queue: the link stays full.
#[test]
fn one_flow_fills_a_link_with_a_queue_of_one_bdp() {
    for recovery in [Sack::boxed, NewReno::boxed] {
        let down = LinkConfig { rate_bps: Some(6_000_000), queue: QueueLimit::bytes(75_000), ..wire() };
        let mut pair = pair(1, TcpConfig { recovery, ..config() }, [down, wire()], vec![Box::new(Greedy)]);
        pair.run_s(30);
        let before = pair.received();
        pair.run_s(230);
        let share = (pair.received() - before) as f64 * 8.0 / 200.0 / (6e6 * 1460.0 / 1500.0);
        assert!(share > 0.995, "{share}");
        assert!(pair.stats().recoveries > 3);
    }
}

/// Two flows of equal round trips share a bottleneck, and none starves.
#[test]
fn two_flows_share() {
    let down = LinkConfig { rate_bps: Some(10_000_000), queue: QueueLimit::bytes(125_000), ..wire() };
    let sources = vec![Box::new(Greedy) as Box<dyn Source>, Box::new(Greedy)];
    let mut pair = pair(1, config(), [down, wire()], sources);
    pair.run_s(500);
    let tcp = pair.world.machine(pair.sender);
    let bytes = [0, 1].map(|number| tcp.stats(ConnectionId(number)).expect("opened").acknowledged as f64);
    let share = bytes[0] / (bytes[0] + bytes[1]);
    assert!((0.35..0.65).contains(&share), "{share}");
}

/// CUBIC carries more than Reno where the window is large (RFC 9438 §5.1).
#[test]
fn cubic_recovers_a_large_window_faster() {
    let carried = |congestion| {
        let down = LinkConfig { loss: Loss::Periodic(20_000), ..wire() };
        let mut pair = pair(1, TcpConfig { congestion, ..config() }, [down, wire()], vec![Box::new(Greedy)]);
        pair.run_s(300);
        pair.received()
    };
    let (reno, cubic) = (carried(Reno::boxed), carried(Cubic::boxed));
    assert!(cubic as f64 > 1.3 * reno as f64, "{cubic} against {reno}");
}

/// While nothing gets through the timer doubles (RFC 6298 §5.5), and the connection waits for it although the link is back.
#[test]
fn after_an_outage_the_backed_off_timer_decides() {
    let config = TcpConfig { rto: RtoConfig { initial: ms(3000), ..RtoConfig::default() }, ..config() };
    let mut pair = pair(1, config, [wire(), wire()], vec![Box::new(ConstantRate::new(1000, ms(50), 10_000))]);
    let second = |at_ms: u64| Instant::from_nanos(at_ms * 1_000_000);
    let (link, cut, back) = (pair.link, second(10_025), second(15_000));
    pair.world.schedule_link(link, Side::AtoB, [(cut, Change::Down(InFlight::Lost)), (back, Change::Up)]);
    pair.run_s(40);
    let log = &pair.world.app(pair.receiver).record;
    let last_before = log.iter().rev().find(|(at, _)| *at < cut).map(|&(at, _)| at).expect("data");
    let first_after = log.iter().find(|(at, _)| *at > back).map(|&(at, _)| at).expect("data");
    // The timer started with the last acknowledgement before the cut: RTO.min 1 s, then 2 s and 4 s.
    let started = last_before + RTT / 2;
    let expected = started + ms(1000 + 2000 + 4000) + RTT / 2;
    assert!(
        first_after >= expected - ms(60) && first_after <= expected + ms(10),
        "{first_after}, not {expected}"
    );
    assert_eq!(pair.stats().timeouts, 3);
}

#[test]
fn equal_seeds_make_equal_runs() {
    let run = |seed| {
        let down = LinkConfig {
            rate_bps: Some(5_000_000),
            queue: QueueLimit::packets(50),
            loss: Loss::Bernoulli(0.01),
            ..wire()
        };
        let mut pair = pair(seed, config(), [down, wire()], vec![Box::new(Greedy)]);
        pair.run_s(20);
        pair.world.trace_hash()
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}
