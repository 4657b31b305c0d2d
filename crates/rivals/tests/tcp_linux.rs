//! TCP as Linux has it (RACK-TLP, proportional rate reduction, CUBIC with HyStart), through one bottleneck in virtual time.
mod common;

use core::time::Duration;
use std::sync::Arc;

use common::{Pair, pair};
use whimbrel_machine::Instant;
use whimbrel_netsim::{LinkConfig, Loss, Pattern, QueueLimit, Side};
use whimbrel_rivals::tcp::{
    ConstantRate, Cubic, DelayedAck, File, Greedy, Rack, Reno, RtoConfig, Source, TcpConfig, TcpEvent,
};

const MSS: u64 = 1460;
const RTT: Duration = Duration::from_millis(50);

/// As the grid's `tcp-cubic` has it.
fn linux() -> TcpConfig {
    let min = Duration::from_millis(200);
    TcpConfig {
        receive_window: 64 << 20,
        rto: RtoConfig { min, granularity: min, ..RtoConfig::default() },
        delayed_ack: DelayedAck { segments: 1, after: Duration::ZERO },
        recovery: Rack::boxed,
        congestion: Cubic::with_hystart,
        ..TcpConfig::default()
    }
}

/// Without HyStart, which would end slow start before the queue is full.
fn overshooting() -> TcpConfig {
    TcpConfig { congestion: Cubic::boxed, ..linux() }
}

/// A way there with this many bandwidth-delay products of queue, and a way back that is as fast.
fn bottleneck(mbits: u64, rtt: Duration, queue: f64) -> [LinkConfig; 2] {
    let product = (mbits * rtt.as_millis() as u64 * 125) as f64;
    let (rate_bps, queue_bytes) = (Some(mbits * 1_000_000), ((product * queue) as u64).max(6000));
    let back =
        LinkConfig { rate_bps, delay: rtt / 2, queue: QueueLimit::bytes(1 << 30), ..LinkConfig::default() };
    [LinkConfig { queue: QueueLimit::bytes(queue_bytes), ..back }, back]
}

/// A transfer whose packets at these positions are lost. SYN is packet 1, its answer's acknowledgement packet 2, and data begins with packet 3.
fn losing(source: Box<dyn Source>, pattern: &str) -> Pair {
    let mut pair = pair(1, linux(), bottleneck(100, RTT, 10.0), vec![source]);
    let pattern = Arc::new(Pattern::parse(pattern).expect("a pattern"));
    let link = pair.link;
    pair.world.follow(link, Side::AtoB, &pattern);
    pair
}

/// When all had arrived.
fn done(pair: &Pair, bytes: u64) -> Duration {
    let is_last = |(_, event): &&(Instant, TcpEvent)| matches!(event, TcpEvent::Received { total, .. } if *total == bytes);
    let (at, _) = pair.world.app(pair.receiver).record.iter().find(is_last).expect("complete");
    at.saturating_since(Instant::ZERO)
}

/// The second segment is lost, and so are its first two retransmissions: each is repaired a round trip later.
#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    // Ten segments, of which one is lost; then nine new ones and the retransmission, which leaves with the third duplicate acknowledgement.
    let mut found = false;
    for second in 13..40 {
        let mut pair = losing(Box::new(File(400 * MSS)), &format!("packet 4 drop\npacket {second} drop"));
        pair.run_s(5);
        let stats = pair.stats();
        assert_eq!((pair.received(), stats.timeouts), (400 * MSS, 0), "packet {second}");
        assert!(stats.recoveries <= 2, "packet {second}: {stats:?}");
        // Two retransmissions of two losses, be it of one segment or of two.
        assert_eq!(stats.retransmissions, 2, "packet {second}");
        found |= stats.recoveries == 1;
    }
    assert!(found);
}

/// The last segments of a file are lost, and nothing is sent after them: the probe comes after two round trips, not after an RTO of more than 200 ms.
#[test]
fn a_lost_tail_is_probed() {
    for lost in 1..=3 {
        let mut pair = losing(Box::new(File(9 * MSS)), &format!("packet {}-11 drop", 12 - lost));
        pair.run_s(5);
        let stats = pair.stats();
        assert_eq!((stats.timeouts, stats.probes), (0, 1), "{lost} lost: {stats:?}");
        assert_eq!(stats.retransmissions, lost, "{lost} lost");
        let recoveries = u64::from(lost > 1);
        assert_eq!(
            stats.recoveries, recoveries,
            "{lost} lost: what the probe repairs shows when more is acknowledged"
        );
        let took = done(&pair, 9 * MSS);
        // Handshake, first window, PTO from its last acknowledgement on, the probe, and what it was evidence of. A single segment may be one whose
        // acknowledgement is delayed: it is given as long as the timer. Of others one is sent again in a round trip, since none has arrived.
        let limit = if lost == 1 {
            RTT * 5 / 2 + Duration::from_millis(252)
        } else {
            RTT * (7 + 2 * lost as u32) / 2
        };
        assert!(took < limit + Duration::from_millis(10), "{lost} lost: {took:?}");
    }
}

/// A probe repairs what was lost, and the next message's acknowledgements tell: the window is reduced as for any loss (RFC 8985 §7.4.2). If the probe
/// was needless, the receiver says so, and it is not.
#[test]
fn a_loss_that_a_probe_repairs_reduces_the_window() {
    let message = || Box::new(ConstantRate::new(9 * MSS, Duration::from_secs(1), 2));
    let mut repaired = losing(message(), "packet 11 drop");
    repaired.run_s(4);
    let stats = repaired.stats();
    assert_eq!((stats.probes, stats.recoveries, stats.timeouts), (1, 1, 0), "{stats:?}");
    assert!(stats.window < 10 * MSS, "{stats:?}");
    // The acknowledgement of the ninth segment is lost: the answer to SYN is packet 1.
    let mut needless = pair(1, linux(), bottleneck(100, RTT, 10.0), vec![message()]);
    let pattern = Arc::new(Pattern::parse("packet 10 drop").expect("a pattern"));
    let link = needless.link;
    needless.world.follow(link, Side::BtoA, &pattern);
    needless.run_s(4);
    let stats = needless.stats();
    assert_eq!((stats.probes, stats.retransmissions, stats.recoveries), (1, 1, 0), "{stats:?}");
    assert_eq!(stats.window, 10 * MSS, "{stats:?}");
}

/// Slow start overshoots a queue by as much as it holds: half of a flight is lost at once, and all is repaired in one recovery.
#[test]
fn an_overshoot_is_repaired_without_a_timeout() {
    for (mbits, queue) in [(10, 1.0), (10, 4.0), (100, 1.0), (100, 4.0)] {
        let mut pair = pair(1, overshooting(), bottleneck(mbits, RTT, queue), vec![Box::new(Greedy)]);
        pair.run_s(10);
        let stats = pair.stats();
        assert_eq!(stats.timeouts, 0, "{mbits} Mbit/s, {queue}: {stats:?}");
        assert!(stats.retransmissions * 100 < stats.segments * 6, "{mbits} Mbit/s, {queue}: {stats:?}");
        let share = pair.received() as f64 * 8e-6 / 10.0 / (mbits as f64 * MSS as f64 / 1500.0);
        assert!(share > 0.93, "{mbits} Mbit/s, {queue}: {share}");
    }
}

/// A queue overflows again as soon as a recovery has ended, with SND.UNA far behind what has been sent: each reduces the window, which does not stay above what
/// the path and its queue hold.
#[test]
fn recoveries_in_a_row_reduce_the_window() {
    let [there, back] = bottleneck(10, RTT, 1.0);
    let there = LinkConfig { jitter: Duration::from_millis(5), keep_order: false, ..there };
    let mut pair = pair(1, linux(), [there, back], vec![Box::new(Greedy)]);
    pair.run_s(10);
    let stats = pair.stats();
    assert!(stats.retransmissions * 100 < stats.segments * 2, "{stats:?}");
}

/// HyStart ends slow start before the queue is full: fewer than one segment in a hundred is sent again in the first seconds.
#[test]
fn hystart_does_not_overshoot() {
    let again = |config| {
        let mut pair = pair(1, config, bottleneck(100, RTT, 1.0), vec![Box::new(Greedy)]);
        pair.run_s(4);
        pair.stats().retransmissions
    };
    let (with, without) = (again(linux()), again(overshooting()));
    assert!(with < 20 && without > 300, "{with} with, {without} without");
}

/// Packets overtake each other by up to 5 ms and none is lost: what is taken for lost at first teaches the window, and is undone.
#[test]
fn reordering_costs_a_few_retransmissions_and_no_window() {
    for congestion in [Cubic::boxed, Reno::boxed] {
        let config = TcpConfig { congestion, ..linux() };
        let [there, back] = bottleneck(100, RTT, 10.0);
        let there = LinkConfig { jitter: Duration::from_millis(5), keep_order: false, ..there };
        let mut pair = pair(1, config, [there, back], vec![Box::new(Greedy)]);
        pair.run_s(1);
        let before = pair.stats();
        assert!(before.retransmissions < 50, "{before:?}");
        pair.run_s(3);
        let stats = pair.stats();
        assert_eq!((stats.retransmissions, stats.timeouts), (before.retransmissions, 0), "{stats:?}");
        assert!(stats.window > 500 * MSS, "{stats:?}");
    }
}

/// What the comparison with the kernel in docs/grid.md has of ours:
/// `cargo test -p whimbrel-rivals --test tcp_linux -- --ignored --nocapture`. The kernel's is `interop/netns/grid_kernel.py`.
#[test]
#[ignore = "prints a table beside the kernel's; CONTRIBUTING.md has the command"]
fn beside_the_kernel() {
    println!(
        "| rate | RTT, ms | queue, BDP | trouble | Mbit/s | sent again, % | timeouts | probes | recoveries |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for rate in [10, 100] {
        for rtt in [20, 50, 100] {
            for queue in [0.1, 1.0, 4.0] {
                for trouble in ["none", "loss", "jitter"] {
                    show(rate, rtt, queue, trouble);
                }
            }
        }
    }
}

fn show(rate: u64, rtt: u64, queue: f64, trouble: &str) {
    let [mut there, back] = bottleneck(rate, Duration::from_millis(rtt), queue);
    match trouble {
        "loss" => there.loss = Loss::Bernoulli(0.001),
        "jitter" => (there.jitter, there.keep_order) = (Duration::from_millis(5), false),
        _ => {}
    }
    let mut pair = pair(1, linux(), [there, back], vec![Box::new(Greedy)]);
    let seconds = 10.max(rtt * 200 / 1000);
    pair.run_s(seconds);
    let (stats, mbits) = (pair.stats(), pair.received() as f64 * 8e-6 / seconds as f64);
    let again = 100.0 * stats.retransmissions as f64 / stats.segments as f64;
    let (timeouts, probes, recoveries) = (stats.timeouts, stats.probes, stats.recoveries);
    println!(
        "| {rate} | {rtt} | {queue} | {trouble} | {mbits:.2} | {again:.2} | {timeouts} | {probes} | {recoveries} |"
    );
}
