use core::time::Duration;

use whimbrel_machine::{Instant, Rng, Seed};

use super::{PathQuality, Quality};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A packet every 10 ms, each of which is lost with this probability: after how many the path counts as lossy.
fn until_lossy(probability: f64, seed: u64, most: u64) -> Option<u64> {
    let mut rng = Rng::new(Seed::from_u64(seed));
    let mut quality = Quality::default();
    (1..=most).find(|n| {
        if rng.chance(probability) {
            quality.on_lost(1);
        } else {
            quality.on_acknowledged(at(n * 10), 1, Some(millis(20)), false);
        }
        quality.now().lossy
    })
}

#[test]
fn five_in_a_hundred_are_borne_and_thirty_are_not() {
    for seed in 0..20 {
        assert_eq!(until_lossy(0.01, seed, 1_000_000), None, "{seed}");
        let after = until_lossy(0.3, seed, 10_000).expect("it is lossy");
        assert!((9..200).contains(&after), "{seed}: {after}");
    }
}

/// A queue has overflown: half of what was in flight is lost, once.
#[test]
fn one_overflow_makes_no_path_lossy() {
    let mut quality = Quality::default();
    quality.on_lost(500);
    assert!(!quality.now().lossy);
    quality.on_acknowledged(at(10), 500, Some(millis(20)), true);
    quality.on_lost(9);
    assert!(!quality.now().lossy);
}

#[test]
fn one_heartbeat_is_not_enough_to_come_back() {
    let mut quality = Quality::default();
    for span in 0..3 {
        quality.on_lost(8);
        (0..8).for_each(|n| quality.on_acknowledged(at(span * 400 + n * 50), 1, Some(millis(20)), false));
    }
    assert!(quality.now().lossy);
    let answers = (0..10).take_while(|&n| {
        quality.on_heartbeat(at(5_000 + n * 2_000), millis(20));
        quality.now().lossy
    });
    assert_eq!(answers.count(), 3);
}

#[test]
fn a_rise_is_believed_at_once_and_a_fall_when_seen_twice() {
    let mut quality = Quality::default();
    let mut heartbeat = |second: u64, round_trip: u64| {
        quality.on_heartbeat(at(second * 1_000), millis(round_trip));
        quality.now().delay.map(|delay| delay.as_millis())
    };
    assert_eq!(heartbeat(1, 20), Some(20));
    assert_eq!(heartbeat(2, 400), Some(400));
    assert_eq!(heartbeat(3, 30), Some(400));
    assert_eq!(heartbeat(4, 25), Some(30));
}

/// Round trips vary by 100 ms: the shortest of eight is told, and only changes of it.
#[test]
fn jitter_is_no_delay() {
    let mut quality = Quality::default();
    let mut rng = Rng::new(Seed::from_u64(1));
    let mut told = Vec::new();
    for n in 0..10_000 {
        let round_trip = millis(20) + rng.duration_below(millis(100));
        quality.on_acknowledged(at(n * 10), 1, Some(round_trip), false);
        told.extend(quality.take_news());
    }
    assert!(!told.is_empty() && told.len() < 500, "{}", told.len());
    let delays = told.iter().map(|quality| quality.delay.unwrap_or_default());
    assert!(delays.max().unwrap() < millis(100), "{told:?}");
}

#[test]
fn a_full_window_is_told() {
    let mut quality = Quality::default();
    (0..40).for_each(|n| quality.on_acknowledged(at(n * 10), 1, Some(millis(20)), n % 8 != 0));
    let expected = PathQuality { delay: Some(millis(20)), lossy: false, saturated: true };
    assert_eq!(quality.take_news(), Some(expected));
    assert_eq!(quality.take_news(), None);
}
