use core::time::Duration;

use whimbrel_netsim::InFlight;

use super::*;

const MS: Duration = Duration::from_millis(1);

fn drain(lane: &mut Lane<()>, until: Instant) -> Vec<(Instant, Vec<u8>)> {
    core::iter::from_fn(|| lane.pop_due(until)).map(|due| (due.flight.arrives, due.bytes)).collect()
}

#[test]
fn datagrams_come_out_in_the_order_of_their_arrival() {
    let config = LinkConfig { jitter: 20 * MS, keep_order: false, duplicate: 0.3, ..LinkConfig::default() };
    let mut lane = Lane::new(config, &Seed::from_u64(1), 0);
    for number in 0..100_u8 {
        assert_eq!(lane.offer(Instant::ZERO + u32::from(number) * MS, &(), 100, &[number]), None);
    }
    let half = Instant::ZERO + 60 * MS;
    let (early, late) = (drain(&mut lane, half), drain(&mut lane, Instant::FAR_FUTURE));
    assert!(early.iter().all(|&(at, _)| at <= half) && late.iter().all(|&(at, _)| at > half));
    let all = [early, late].concat();
    assert!(all.is_sorted_by_key(|&(at, _)| at));
    assert!(!all.is_sorted_by_key(|(_, bytes)| bytes[0]), "jitter reorders");
    let doubled = lane.link().stats().duplicated;
    assert!(doubled > 10);
    assert_eq!(all.len() as u64, 100 + doubled);
    assert_eq!(lane.link().stats().delivered_packets, 100 + doubled);
}

#[test]
fn a_change_reaches_what_is_pending() {
    let config = LinkConfig { rate_bps: Some(8_000_000), ..LinkConfig::default() };
    let mut lane = Lane::new(config, &Seed::from_u64(1), 0);
    for number in 0..4 {
        lane.offer(Instant::ZERO, &(), 1000, &[number]);
    }
    lane.change(Instant::ZERO + MS, Change::Rate(Some(4_000_000)));
    let arrivals: Vec<u64> =
        drain(&mut lane, Instant::ZERO + 5 * MS).iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
    assert_eq!(arrivals, [1, 3, 5]);
    lane.change(Instant::ZERO + 6 * MS, Change::Down(InFlight::Lost));
    assert_eq!(lane.next_due(), None);
    assert_eq!(lane.link().stats().dropped_for(DropReason::Cut), 1);
}

#[test]
fn pending_datagrams_are_bounded() {
    let config = LinkConfig { delay: 1000 * MS, ..LinkConfig::default() };
    let mut lane = Lane::new(config, &Seed::from_u64(1), 0);
    let refused = (0..PENDING_MAX + 5)
        .filter(|_| lane.offer(Instant::ZERO, &(), 100, b"x") == Some(DropReason::Limit))
        .count();
    assert_eq!((refused, lane.len()), (5, PENDING_MAX));
    while let Some(due) = lane.pop_due(Instant::FAR_FUTURE) {
        lane.recycle(due.bytes);
    }
    assert_eq!(lane.spare.len(), SPARE_BUFFERS_MAX);
}
