use proptest::prelude::*;

use super::*;
use crate::{Loss, QueueLimit, Reorder};

const MS: u64 = 1_000_000;

fn direction(config: LinkConfig) -> LinkDirection {
    LinkDirection::new(config, &Seed::from_u64(5), 0)
}

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn arrival(fate: Fate) -> Instant {
    match fate {
        Fate::Passed { first, .. } => first.flight.arrives,
        fate => panic!("{fate:?}"),
    }
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= expected * tolerance, "{value} instead of {expected}");
}

/// A rate that does not divide a second: rounding must not add up.
#[test]
fn throughput_is_the_rate_to_the_nanosecond() {
    let mut link = direction(LinkConfig {
        rate_bps: Some(7_777_777),
        queue: QueueLimit::packets(u32::MAX),
        ..LinkConfig::default()
    });
    let packets = 100_000_u64;
    let last = (0..packets).map(|_| arrival(link.offer(Instant::ZERO, 1500))).last().unwrap();
    let exact = u128::from(packets) * 1500 * 8 * 1_000_000_000 / 7_777_777;
    assert_eq!(u128::from(last.as_nanos()), exact);
    link.invariants();
}

#[test]
fn the_queue_drops_its_tail() {
    let slow = LinkConfig { rate_bps: Some(8_000_000), ..LinkConfig::default() };
    let passed = |queue| {
        let mut link = direction(LinkConfig { queue, ..slow });
        let passed =
            (0..100).filter(|_| matches!(link.offer(Instant::ZERO, 1000), Fate::Passed { .. })).count();
        link.invariants();
        (passed, link.stats().dropped_for(DropReason::Queue), link.stats().queue_bytes_max)
    };
    // The one being sent does not count.
    assert_eq!(passed(QueueLimit::packets(10)), (11, 89, 10_000));
    assert_eq!(passed(QueueLimit::packets(0)), (1, 99, 0));
    assert_eq!(passed(QueueLimit::bytes(4_999)), (5, 95, 4_000));
    assert_eq!(passed(QueueLimit { packets: 3, bytes: 5_000 }), (4, 96, 3_000));

    // A place comes free when a packet begins to be sent, which is when the one before it has left.
    let mut link = direction(LinkConfig { queue: QueueLimit::packets(1), ..slow });
    assert_eq!(arrival(link.offer(at(0), 1000)), at(MS));
    assert_eq!(arrival(link.offer(at(0), 1000)), at(2 * MS));
    assert_eq!(link.offer(at(MS - 1), 1000), Fate::Dropped(DropReason::Queue));
    assert_eq!(arrival(link.offer(at(MS), 1000)), at(3 * MS));
    assert_eq!(link.waiting(at(MS)), (1, 1000));
    assert_eq!(link.waiting(at(2 * MS)), (0, 0));
}

#[test]
fn frame_overhead_and_mtu_are_counted() {
    let config =
        LinkConfig { rate_bps: Some(8_000_000), frame_overhead: 100, mtu: 1000, ..LinkConfig::default() };
    let mut link = direction(config);
    assert_eq!(arrival(link.offer(at(0), 900)), at(MS));
    assert_eq!(arrival(link.offer(at(MS), 1000)), at(MS + 1_100_000));
    assert_eq!(link.offer(at(MS), 1001), Fate::Dropped(DropReason::Mtu));
    let offered =
        Offered { ip_bytes: 1001, fragmentation: Fragmentation::Allowed, flow: &NO_FLOW, ticket: 0 };
    assert!(matches!(link.offer_packet(at(MS), offered), Fate::Passed { .. }));
    link.delivered(900);
    assert_eq!(link.stats().delivered_bytes, 1000);
}

#[test]
fn a_change_of_rate_keeps_the_bits_that_are_left() {
    let mut link = direction(LinkConfig { rate_bps: Some(8_000_000), delay: ms(5), ..LinkConfig::default() });
    let mut flights: Vec<Flight> = (0..3)
        .map(|_| match link.offer(at(0), 1000) {
            Fate::Passed { first, .. } => first.flight,
            fate => panic!("{fate:?}"),
        })
        .collect();
    // At 1.5 ms the first is on the wire, half of the second is sent.
    let effect = link.change(at(MS + MS / 2), Change::Rate(Some(4_000_000)), &mut flights);
    assert_eq!(effect, Effect::Retimed);
    let arrivals: Vec<u64> = flights.iter().map(|flight| flight.arrives.as_nanos() / 100_000).collect();
    assert_eq!(arrivals, [60, 75, 95]);
    assert_eq!(arrival(link.offer(at(2 * MS), 1000)), at(6 * MS + MS / 2 + 5 * MS));
    link.invariants();

    // Without a rate all that waits leaves at once.
    let effect = link.change(at(2 * MS), Change::Rate(None), &mut flights);
    assert_eq!(effect, Effect::Retimed);
    let arrivals: Vec<u64> = flights.iter().map(|flight| flight.arrives.as_nanos() / 100_000).collect();
    assert_eq!(arrivals, [60, 70, 70]);
    assert_eq!(arrival(link.offer(at(2 * MS), 1000)), at(7 * MS));
    link.invariants();
}

#[test]
fn a_link_that_is_down_carries_nothing_and_comes_back_empty() {
    let mut link = direction(LinkConfig { rate_bps: Some(8_000), ..LinkConfig::default() });
    assert_eq!(arrival(link.offer(at(0), 1000)), at(1000 * MS));
    assert_eq!(link.change(at(MS), Change::Down(InFlight::Lost), &mut []), Effect::Lost);
    assert_eq!(link.offer(at(2 * MS), 1000), Fate::Dropped(DropReason::Down));
    assert!(!link.is_up());
    assert_eq!(link.change(at(3 * MS), Change::Up, &mut []), Effect::None);
    assert_eq!(arrival(link.offer(at(3 * MS), 1000)), at(1003 * MS));
    assert_eq!(link.change(at(4 * MS), Change::Down(InFlight::Delivered), &mut []), Effect::None);
    link.change(at(5 * MS), Change::Up, &mut []);
    assert_eq!(arrival(link.offer(at(5 * MS), 1000)), at(2003 * MS), "the queue was kept");
}

#[test]
fn jitter_is_uniform_and_keeps_order_when_told_to() {
    let spread = |keep_order| {
        let config = LinkConfig { delay: ms(10), jitter: ms(10), keep_order, ..LinkConfig::default() };
        let mut link = direction(config);
        // Far apart, so that order never matters.
        let waits: Vec<f64> = (0..50_000_u64)
            .map(|n| (arrival(link.offer(at(n * 100 * MS), 100)) - at(n * 100 * MS)).as_secs_f64())
            .collect();
        near(waits.iter().sum::<f64>() / waits.len() as f64, 0.015, 0.01);
        assert!(waits.iter().all(|wait| (0.010..0.020).contains(wait)));
        let late = 50_000 * 100 * MS;
        let close: Vec<Instant> = (0..1000).map(|n| arrival(link.offer(at(late + n * MS), 100))).collect();
        (close.is_sorted(), link.stats().reordered)
    };
    assert_eq!(spread(true), (true, 0));
    let (sorted, reordered) = spread(false);
    assert!(!sorted);
    assert!(reordered > 300, "{reordered}");
}

#[test]
fn detours_duplicates_and_corruption_happen_as_often_as_told() {
    let config = LinkConfig {
        delay: ms(1),
        duplicate: 0.1,
        corrupt: 0.2,
        reorder: Reorder { probability: 0.05, extra: ms(10) },
        ..LinkConfig::default()
    };
    let mut link = direction(config);
    let packets = 100_000_u64;
    let mut late = 0;
    for n in 0..packets {
        let Fate::Passed { first, duplicate } = link.offer(at(n * MS), 100) else { panic!("no loss here") };
        for copy in [Some(first), duplicate].into_iter().flatten() {
            let wait = copy.flight.arrives - at(n * MS);
            assert!(wait == ms(1) || wait == ms(11), "{wait:?}");
            late += u64::from(wait == ms(11));
        }
    }
    let copies = packets as f64 * 1.1;
    near(link.stats().duplicated as f64, packets as f64 * 0.1, 0.03);
    near(link.stats().corrupted as f64, copies * 0.2, 0.03);
    near(late as f64, copies * 0.05, 0.03);
    assert_eq!(link.stats().reordered, late);
}

#[test]
fn flipped_bits_never_cancel() {
    let mut link = direction(LinkConfig::default());
    let mut seen = [0_u32; 5];
    for length in (1..40).cycle().take(4000) {
        let mut bytes = vec![0_u8; length];
        link.flip_bits(&mut bytes);
        let flipped: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
        seen[flipped as usize] += 1;
    }
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|&count| count > 800), "{seen:?}");
    link.flip_bits(&mut []);
}

#[test]
fn a_lost_packet_has_used_the_bottleneck() {
    let mut link = direction(LinkConfig {
        rate_bps: Some(8_000_000),
        loss: Loss::Bernoulli(1.0),
        ..LinkConfig::default()
    });
    assert_eq!(link.offer(at(0), 1000), Fate::Dropped(DropReason::Loss));
    link.change(at(0), Change::Loss(Loss::None), &mut []);
    assert_eq!(arrival(link.offer(at(0), 1000)), at(2 * MS));
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Up),
        Just(Change::Down(InFlight::Lost)),
        Just(Change::Down(InFlight::Delivered)),
        prop::option::of(0_u64..20_000_000).prop_map(Change::Rate),
        (0_u64..50).prop_map(|delay| Change::Delay(ms(delay))),
        (0_u64..50).prop_map(|jitter| Change::Jitter(ms(jitter))),
        (0.0..1.0).prop_map(|probability| Change::Loss(Loss::Bernoulli(probability))),
        (0_u32..20).prop_map(|packets| Change::Queue(QueueLimit::packets(packets))),
        Just(Change::Config(LinkConfig { rate_bps: Some(1_000_000), ..LinkConfig::default() })),
    ]
}

#[derive(Clone, Debug)]
enum Operation {
    Offer { after: u64, bytes: u32 },
    Change { after: u64, change: Change },
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (0..2 * MS, 20_u32..1600).prop_map(|(after, bytes)| Operation::Offer { after, bytes }),
        1 => (0..5 * MS, any_change()).prop_map(|(after, change)| Operation::Change { after, change }),
    ]
}

proptest! {
    /// Whatever happens to a link: nothing arrives before it was sent, order is kept, the queue is bounded, and
    /// every packet is accounted for.
    #[test]
    fn any_life_of_a_link_is_sound(operations in prop::collection::vec(any_operation(), 1..200)) {
        let mut link = direction(LinkConfig { rate_bps: Some(2_000_000), delay: ms(3), ..LinkConfig::default() });
        let mut now = Instant::ZERO;
        let mut in_flight: Vec<Flight> = Vec::new();
        let mut accounted = 0;
        for operation in operations {
            let (Operation::Offer { after, .. } | Operation::Change { after, .. }) = operation;
            now += Duration::from_nanos(after);
            let arrived = in_flight.partition_point(|flight| flight.arrives <= now);
            accounted += in_flight.drain(..arrived).count() as u64;
            match operation {
                Operation::Offer { bytes, .. } => if let Fate::Passed { first, .. } = link.offer(now, bytes) {
                    prop_assert!(now <= first.flight.departs && first.flight.departs <= first.flight.arrives);
                    in_flight.push(first.flight);
                },
                Operation::Change { change, .. } => if link.change(now, change, &mut in_flight) == Effect::Lost {
                    in_flight.drain(..).for_each(|_| link.dropped(DropReason::Cut));
                },
            }
            link.invariants();
            prop_assert!(in_flight.iter().all(|flight| flight.arrives >= now));
            prop_assert!(in_flight.is_sorted_by_key(|flight| flight.arrives));
            let stats = link.stats();
            let all = accounted + in_flight.len() as u64 + stats.dropped_packets();
            prop_assert_eq!(stats.offered_packets, all);
        }
    }
}
