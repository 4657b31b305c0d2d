use super::*;
use crate::config::{BufferSizing, Config};

const LEAST: usize = 64 << 10;
const MOST: usize = 4 << 20;
const ROUND_TRIP: Duration = Duration::from_millis(50);

fn allowance(sizing: BufferSizing) -> Allowance {
    Allowance::new(&LimitConfig { receive_buffer: MOST, sizing, ..Config::rfc().limits })
}

/// What is allowed after `rounds` round trips in each of which the program has read `bytes`.
fn after(allowance: &mut Allowance, from: Instant, rounds: u32, bytes: usize) -> (Instant, usize) {
    let mut now = from;
    for _ in 0..rounds {
        now += ROUND_TRIP;
        allowance.on_read(now, bytes, || Some(ROUND_TRIP));
    }
    (now, allowance.bytes())
}

#[test]
fn a_whole_buffer_is_allowed_at_once_and_for_ever() {
    let mut allowance = allowance(BufferSizing::Whole);
    assert_eq!(allowance.bytes(), MOST);
    assert_eq!(after(&mut allowance, Instant::ZERO, 1000, 1).1, MOST);
}

#[test]
fn who_reads_nothing_gets_no_more_than_the_least() {
    assert_eq!(allowance(BufferSizing::Measured { least: LEAST }).bytes(), LEAST);
}

/// A peer in slow start doubles what it sends in each round trip, and must not meet the end of what is allowed.
#[test]
fn it_stays_ahead_of_slow_start() {
    let mut allowance = allowance(BufferSizing::Measured { least: LEAST });
    let mut now = Instant::ZERO;
    let mut window = 14_600;
    while window < MOST / 2 {
        now += ROUND_TRIP;
        // It comes packet by packet.
        for _ in 0..window / 1460 {
            allowance.on_read(now, 1460, || Some(ROUND_TRIP));
        }
        window *= 2;
        assert!(allowance.bytes() >= 2 * window.min(MOST / 2), "{window} of {}", allowance.bytes());
    }
}

#[test]
fn it_settles_at_some_times_what_is_read_in_a_round_trip() {
    let mut allowance = allowance(BufferSizing::Measured { least: LEAST });
    let (_, bytes) = after(&mut allowance, Instant::ZERO, 1000, 100_000);
    assert!((8 * 100_000..=16 * 100_000).contains(&bytes), "{bytes}");
}

#[test]
fn it_comes_back_when_the_path_carries_less() {
    let mut allowance = allowance(BufferSizing::Measured { least: LEAST });
    let (now, large) = after(&mut allowance, Instant::ZERO, 100, 1 << 20);
    assert_eq!(large, MOST);
    let (now, some) = after(&mut allowance, now, 1000, 10_000);
    assert!((8 * 10_000..=64 * 10_000).contains(&some), "{some}");
    assert_eq!(after(&mut allowance, now, 1000, 1).1, LEAST);
}

/// Voice or video that pauses for longer than a round trip between its messages is not punished for the pause.
#[test]
fn pauses_between_bursts_take_nothing_away() {
    let mut allowance = allowance(BufferSizing::Measured { least: LEAST });
    let (mut now, before) = after(&mut allowance, Instant::ZERO, 100, 100_000);
    for _ in 0..1000 {
        now += 10 * ROUND_TRIP;
        allowance.on_read(now, 100_000, || Some(ROUND_TRIP));
    }
    assert_eq!(allowance.bytes(), before);
}
