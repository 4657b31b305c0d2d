use core::time::Duration;

use whimbrel_machine::{Instant, Seed};

use super::{Umts, UmtsConfig};
use crate::medium::SharedMedium;

fn millis(time: Instant) -> u64 {
    time.as_nanos() / 1_000_000
}

/// Each user has `packets` of `bytes`; returns when each was delivered (ms), to whom and which.
fn transfer(config: UmtsConfig, packets: u32, bytes: u32) -> Vec<(u64, usize, u32)> {
    let mut channel = Umts::new(config, &Seed::from_u64(3), 0);
    for user in 0..config.users {
        (0..packets).for_each(|ticket| assert!(channel.offer(Instant::ZERO, user, ticket, bytes)));
    }
    let mut delivered = Vec::new();
    while let Some(now) = channel.next_event() {
        while let Some(outcome) = channel.advance(now) {
            assert!(outcome.delivered);
            delivered.push((millis(now), outcome.station, outcome.ticket));
        }
    }
    delivered
}

/// 12 blocks of 40 bytes in 10 ms are 384 kbit/s.
#[test]
fn users_share_384_kbit_per_second() {
    // 100 packets of 1200 bytes, 30 blocks each: 250 intervals.
    assert_eq!(transfer(UmtsConfig::common_channel(1), 100, 1200).last(), Some(&(2500, 0, 99)));
    let four = transfer(UmtsConfig::common_channel(4), 100, 1200);
    assert_eq!(four.last().map(|last| last.0), Some(10_000));
    for user in 0..4 {
        let half = four.iter().filter(|(at, of, _)| *at <= 5000 && *of == user).count();
        assert_eq!(half, 50, "user {user}");
    }
}

#[test]
fn a_packet_arrives_at_the_end_of_an_interval() {
    for (offered, bytes, arrives) in [(0, 40, 10), (3, 480, 20), (10, 481, 30), (11, 1, 30)] {
        let mut channel = Umts::new(UmtsConfig::common_channel(1), &Seed::from_u64(1), 0);
        assert!(channel.offer(Instant::ZERO + Duration::from_millis(offered), 0, 0, bytes));
        let mut arrived = None;
        while let Some(now) = channel.next_event() {
            arrived = channel.advance(now).map(|_| millis(now)).or(arrived);
        }
        assert_eq!(arrived, Some(arrives), "{bytes} bytes at {offered} ms");
    }
}

#[test]
fn the_last_block_of_a_packet_is_padded() {
    // 41 bytes take two blocks: six packets an interval.
    assert_eq!(transfer(UmtsConfig::common_channel(1), 60, 41).last().map(|last| last.0), Some(100));
    assert_eq!(transfer(UmtsConfig::common_channel(1), 60, 40).last().map(|last| last.0), Some(50));
}

#[test]
fn lost_blocks_are_repeated_and_packets_stay_in_order() {
    let config = UmtsConfig { block_loss: 0.2, ..UmtsConfig::common_channel(2) };
    let delivered = transfer(config, 100, 1200);
    for user in 0..2 {
        let order: Vec<u32> =
            delivered.iter().filter(|(_, of, _)| *of == user).map(|(.., ticket)| *ticket).collect();
        assert_eq!(order, (0..100).collect::<Vec<u32>>());
    }
    // A fifth of all blocks is sent again.
    let ends = delivered.last().map_or(0, |last| last.0);
    assert!((5900..6700).contains(&ends), "{ends} ms instead of 5000 / 0.8");
    assert_eq!(transfer(config, 100, 1200), delivered);
}

#[test]
fn a_user_has_400_packets_under_way() {
    let mut channel = Umts::new(UmtsConfig::common_channel(1), &Seed::from_u64(1), 0);
    assert_eq!((0..500).filter(|&ticket| channel.offer(Instant::ZERO, 0, ticket, 100)).count(), 400);
    assert!(channel.waiting(0) == 400 && !channel.offer(Instant::ZERO, 1, 0, 100));
}
