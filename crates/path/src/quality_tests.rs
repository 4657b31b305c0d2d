use core::time::Duration;

use whimbrel_machine::{Instant, Seed};

use super::{Arrival, Delay, PathQuality, Quality};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// One packet has arrived.
fn one(round_trip: Option<Duration>, full: bool) -> Arrival {
    Arrival { packets: 1, bytes: 1_000, round_trip, full, waiting: Some(0) }
}

/// A packet every 10 ms, each of which is lost with this probability: after how many the path counts as lossy.
fn until_lossy(probability: f64, seed: u64, most: u64) -> Option<u64> {
    let mut rng = Seed::from_u64(seed).stream("test", 0);
    let mut quality = Quality::default();
    (1..=most).find(|n| {
        if rng.chance(probability) {
            quality.on_lost(1);
        } else {
            quality.on_acknowledged(at(n * 10), &one(Some(millis(20)), false));
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
    quality.on_acknowledged(at(10), &Arrival { packets: 500, ..one(Some(millis(20)), true) });
    quality.on_lost(9);
    assert!(!quality.now().lossy);
}

#[test]
fn one_heartbeat_is_not_enough_to_come_back() {
    let mut quality = Quality::default();
    for span in 0..3 {
        quality.on_lost(8);
        (0..8).for_each(|n| quality.on_acknowledged(at(span * 400 + n * 50), &one(Some(millis(20)), false)));
    }
    assert!(quality.now().lossy);
    let answers = (0..10).take_while(|&n| {
        quality.on_heartbeat(at(5_000 + n * 2_000), millis(20));
        quality.now().lossy
    });
    // The third clears it.
    assert_eq!(answers.count(), 2);
}

/// One packet in ten takes a detour, is called lost, and arrives.
#[test]
fn what_is_late_is_not_lost() {
    let (mut quality, mut rng) = (Quality::default(), Seed::from_u64(1).stream("test", 0));
    for n in 0..10_000 {
        quality.on_acknowledged(at(n * 10), &one(Some(millis(20)), false));
        if rng.chance(0.2) {
            quality.on_lost(1);
            quality.on_late(1);
        }
        assert!(!quality.now().lossy, "{n}");
    }
    assert!(until_lossy(0.2, 1, 10_000).is_some());
}

#[test]
fn what_one_heartbeat_says_is_doubted() {
    let mut quality = Quality::default();
    let mut heartbeat = |second: u64, round_trip: u64| {
        quality.on_heartbeat(at(second * 1_000), millis(round_trip));
        quality.now().delay.map(|delay| (delay.least.as_millis(), delay.most.as_millis()))
    };
    assert_eq!(heartbeat(1, 20), Some((20, 20)));
    assert_eq!(heartbeat(2, 400), Some((20, 400)));
    assert_eq!(heartbeat(3, 410), Some((400, 410)));
    assert_eq!(heartbeat(4, 25), Some((25, 410)));
}

/// Eight of them in a quarter of a second are no chance.
#[test]
fn what_data_says_is_believed_when_it_is_worse() {
    let mut quality = Quality::default();
    let mut span = |from: u64, round_trip: u64| {
        (0..16)
            .for_each(|n| quality.on_acknowledged(at(from + n * 20), &one(Some(millis(round_trip)), false)));
        quality.now().delay.map(|delay| (delay.least.as_millis(), delay.most.as_millis()))
    };
    assert_eq!(span(0, 20), Some((20, 20)));
    span(400, 300);
    assert_eq!(span(1_000, 300), Some((300, 300)));
    span(1_400, 20);
    assert_eq!(span(2_000, 20), Some((20, 20)));
}

/// Round trips vary by 100 ms: the shortest of eight is told, and only changes of it.
#[test]
fn jitter_is_no_delay() {
    let mut quality = Quality::default();
    let mut rng = Seed::from_u64(1).stream("test", 0);
    let mut told = Vec::new();
    for n in 0..10_000 {
        let round_trip = millis(20) + rng.duration_below(millis(100));
        quality.on_acknowledged(at(n * 10), &one(Some(round_trip), false));
        told.extend(quality.take_news());
    }
    assert!(!told.is_empty() && told.len() < 500, "{}", told.len());
    let delays = told.iter().filter_map(|quality| quality.delay);
    assert!(delays.map(|delay| delay.least).max().unwrap() < millis(100), "{told:?}");
}

#[test]
fn a_full_window_is_told() {
    let mut quality = Quality::default();
    (0..40).for_each(|n| quality.on_acknowledged(at(n * 10), &one(Some(millis(20)), n % 8 != 0)));
    let news = quality.take_news().unwrap();
    let delay = Delay { least: millis(20), most: millis(20), waiting: Duration::ZERO, at: at(250) };
    let expected =
        PathQuality { delay: Some(delay), saturated: true, carries: 104_000, ..PathQuality::default() };
    assert_eq!(news, expected);
    assert_eq!(quality.take_news(), None);
}

#[test]
fn who_asks_is_told_what_is_known_already() {
    let mut quality = Quality::default();
    quality.on_heartbeat(at(1_000), millis(20));
    assert!(quality.take_news().is_some());
    quality.ask();
    assert_eq!(quality.take_news(), None);
    quality.on_heartbeat(at(3_000), millis(20));
    assert!(quality.take_news().is_some());
    quality.on_heartbeat(at(5_000), millis(20));
    assert_eq!(quality.take_news(), None);
}

/// A window that is full because a queue of somebody else has made the round trip long says nothing; one that was full before does.
#[test]
fn a_window_full_because_of_the_delay_is_none() {
    for full_before in [false, true] {
        let mut quality = Quality::default();
        let mut send = |from: u64, round_trip: u64, full: bool| {
            (0..30).for_each(|n| {
                quality.on_acknowledged(at(from + n * 20), &one(Some(millis(round_trip)), full))
            });
            quality.now().saturated
        };
        assert_eq!(send(0, 20, full_before), full_before);
        assert_eq!(send(1_000, 400, true), full_before);
    }
}

/// Heartbeats pass and DATA does not: what one of them says does not outweigh what is lost before it.
#[test]
fn heartbeats_do_not_hide_that_data_is_lost() {
    let mut quality = Quality::default();
    for n in 0..10 {
        quality.on_lost(1);
        quality.on_heartbeat(at(n * 1_000), millis(20));
    }
    assert!(quality.now().lossy);
}

/// Heartbeats come back late, while data of the peer comes at a run or at a walk.
#[test]
fn who_only_receives_leaves_the_queue_to_the_sender() {
    for (every, arrived, saturated) in [(2, 0, true), (20, 0, false), (2, 1, false)] {
        let mut quality = Quality::default();
        let mut heartbeat = |second: u64, round_trip: u64| {
            for n in 0..1_000 / every {
                quality.on_received();
                let now = at(second * 1_000 + n * every);
                (0..arrived).for_each(|_| quality.on_acknowledged(now, &one(None, false)));
            }
            quality.on_heartbeat(at((second + 1) * 1_000), millis(round_trip));
            quality.now().saturated
        };
        (0..2).for_each(|second| _ = heartbeat(second, 20));
        assert_eq!([heartbeat(2, 20), heartbeat(3, 300), heartbeat(4, 300)], [saturated; 3], "{every}");
    }
}

/// Both ends send. A queue begins to fill, and for a moment few acknowledgements come and as many packets of the peer as ever: the sender is no
/// mere listener for that, and not to blame.
#[test]
fn who_waits_for_acknowledgements_does_not_just_listen() {
    let mut quality = Quality::default();
    let mut span = |began: u64, received: u64, arrived: u64, round_trip: u64| {
        (0..received).for_each(|_| quality.on_received());
        for n in 0..arrived {
            let now = at(began + (n + 1) * 260 / arrived);
            quality.on_acknowledged(now, &one(Some(millis(round_trip)), false));
        }
        quality.now().saturated
    };
    let spans =
        [(0, 65, 63, 24), (260, 90, 8, 36), (520, 65, 35, 144), (780, 65, 40, 248), (1_040, 65, 40, 344)];
    let saturated = spans.map(|(began, received, arrived, took)| span(began, received, arrived, took));
    assert_eq!(saturated, [false; 5]);
}

/// A user has a record of 1,000 bytes every 4 ms, and each second of the list the path carries so many bytes. What waits goes out with the next. What
/// is known at the end: how long a packet takes, and whether the sender is to blame.
fn steady(seconds: &[u64]) -> (u128, bool) {
    let mut quality = Quality::default();
    let mut waiting = 0;
    for (second, &rate) in (0..).zip(seconds) {
        for n in 0..100 {
            waiting = (waiting + 2_500_u64).saturating_sub(rate / 100);
            let bytes = if waiting > 0 { rate / 100 } else { 2_500 } as usize;
            let backlog = waiting as usize;
            let arrival = Arrival { bytes, waiting: Some(backlog), ..one(Some(millis(20)), waiting > 0) };
            quality.on_acknowledged(at(second * 1_000 + n * 10), &arrival);
        }
    }
    let now = quality.now();
    (now.delay.expect("it is measured").least.as_millis(), now.saturated)
}

/// BBR keeps the network's queue empty, so that what a slower network does not carry waits in the sender.
#[test]
fn what_waits_since_a_path_carries_less_is_delay() {
    assert_eq!(steady(&[1_000_000; 3]), (20, false));
    let (delay, saturated) = steady(&[1_000_000, 1_000_000, 170_000, 170_000]);
    assert!((400..1_000).contains(&delay) && !saturated, "{delay} ms");
}

/// Who has more to send than the path has ever carried waits by their own doing, on whatever path.
#[test]
fn what_waits_since_there_is_more_of_it_is_none() {
    assert_eq!(steady(&[240_000, 240_000]), (20, true));
    assert_eq!(steady(&[1_000_000, 240_000, 240_000]), (20, true));
}

/// Packets of 1,000 bytes for `lasts` ms from `from` on, each of which took `round_trip` ms, while so much waits.
fn carry(quality: &mut Quality, [from, lasts]: [u64; 2], every: u64, round_trip: u64, waiting: usize) {
    for time in (from..from + lasts).step_by(every as usize) {
        let arrival = Arrival { waiting: Some(waiting), ..one(Some(millis(round_trip)), false) };
        quality.on_acknowledged(at(time), &arrival);
    }
}

/// To find out anew whether a path is still thin costs an interruption, and one that carries more is not thin.
#[test]
fn a_limit_is_believed_the_longer_the_more_often_it_is_found() {
    let limit_at = |spans: u64, later: u64| {
        let mut quality = Quality::default();
        quality.expect(250_000);
        carry(&mut quality, [0, 300 * spans], 10, 20, 100_000);
        assert!(quality.now().limit.is_some_and(|limit| (90_000..110_000).contains(&limit)), "{quality:?}");
        quality.on_heartbeat(at(300 * spans + later), millis(20));
        quality.now().limit
    };
    assert!(limit_at(3, 31_000).is_some());
    assert_eq!(limit_at(3, 33_000), None);
    assert_eq!(limit_at(40, 33_000), None, "that is one finding");

    // Found anew, after it was believed no longer.
    let mut quality = Quality::default();
    let mut time = 0;
    let mut believed = || {
        quality.expect(250_000);
        carry(&mut quality, [time, 900], 10, 20, 100_000);
        assert!(quality.now().limit.is_some(), "{time}");
        let seconds = (1..600).find(|second| {
            quality.on_heartbeat(at(time + 900 + second * 1_000), millis(20));
            quality.now().limit.is_none()
        });
        time += 900 + seconds.unwrap() * 1_000 + 1_000;
        seconds.unwrap()
    };
    assert_eq!([(); 6].map(|()| believed()), [32, 64, 128, 256, 256, 256]);
}

/// A span in which a little more got through does not end the next finding at once.
#[test]
fn a_limit_found_again_is_believed_again() {
    let mut quality = Quality::default();
    quality.expect(250_000);
    carry(&mut quality, [0, 900], 10, 20, 100_000);
    assert!(quality.now().limit.is_some());
    carry(&mut quality, [900, 300], 6, 20, 100_000);
    assert_eq!(quality.now().limit, None);
    quality.expect(500_000);
    carry(&mut quality, [1_200, 580], 6, 20, 100_000);
    assert!(quality.now().limit.is_some());
    quality.on_heartbeat(at(6_000), millis(20));
    assert!(quality.now().limit.is_some(), "{quality:?}");
}

/// Nobody asks how a path is that nothing goes by: whoever has left it hears that it may carry more.
#[test]
fn the_end_of_a_limit_is_news() {
    let mut quality = Quality::default();
    quality.expect(250_000);
    carry(&mut quality, [0, 900], 10, 20, 100_000);
    quality.on_heartbeat(at(2_000), millis(20));
    assert!(quality.take_news().unwrap().limit.is_some());
    for second in [6, 8, 10] {
        quality.on_heartbeat(at(second * 1_000), millis(20));
        quality.take_news();
    }
    quality.on_heartbeat(at(12_000), millis(20));
    assert_eq!(quality.take_news(), None);
    quality.on_heartbeat(at(40_000), millis(20));
    assert_eq!(quality.take_news().unwrap().limit, None);
}

#[test]
fn who_sends_much_again_has_found_no_limit() {
    let mut quality = Quality::default();
    quality.expect(250_000);
    for round in 0..10 {
        quality.on_lost(8);
        carry(&mut quality, [300 * round, 300], 10, 20, 100_000);
    }
    assert!(quality.now().lossy);
    assert_eq!(quality.now().limit, None);
}

/// A window needs some round trips to grow with them. What carries too little for longer is too thin.
#[test]
fn a_longer_round_trip_excuses_a_path_for_three_spans() {
    let mut quality = Quality::default();
    carry(&mut quality, [0, 1_000], 4, 20, 0);
    let waits = |quality: &Quality| quality.now().delay.is_some_and(|delay| delay.waiting > Duration::ZERO);
    carry(&mut quality, [1_000, 600], 10, 200, 100_000);
    assert!(!waits(&quality), "{quality:?}");
    carry(&mut quality, [1_600, 800], 10, 200, 100_000);
    assert!(waits(&quality), "{quality:?}");
}

#[test]
fn what_carries_too_little_is_no_alternative() {
    let of = |carries, limit| PathQuality { carries, limit, ..PathQuality::default() };
    assert!(of(0, None).carries_what(&of(1_000_000, None)));
    assert!(of(0, Some(75_000)).carries_what(&of(100_000, None)));
    assert!(!of(0, Some(74_000)).carries_what(&of(100_000, None)));
    assert!(!of(0, Some(u64::MAX / 4)).carries_what(&of(u64::MAX, None)));
}
