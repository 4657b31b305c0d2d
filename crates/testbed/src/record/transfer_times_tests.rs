use super::*;
use crate::traffic::{ConstantRate, Traffic};

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Ten messages, one each 100 ms, of which the first is made at 1 s.
fn ten() -> (ConstantRate, Schedule) {
    let video = ConstantRate::every(1000, Duration::from_millis(100), 10);
    let schedule = video.schedule();
    (video, schedule)
}

#[test]
fn messages_are_late_or_lost_from_their_deadline_on() {
    let (mut video, schedule) = ten();
    let mut times = TransferTimes::new(schedule, Some(Duration::from_millis(50)), at(0)..=at(1500));
    times.on_message(at(900));
    assert_eq!((times.mean(), times.late()), (None, None), "nothing can arrive before it is made");
    let mut made = Vec::new();
    let mut next = Some(at(1000));
    while let Some(now) = next {
        next = video.offer(now, 0, &mut |_| made.push(now));
    }
    assert_eq!(made, (10..20).map(|tenth| at(tenth * 100)).collect::<Vec<_>>());
    // Those of 1.0 to 1.4 s have a deadline within the run: in time, at the deadline, late, in time; the fifth is lost.
    for ms in [1010, 1150, 1251, 1320] {
        times.on_message(at(ms));
    }
    let mean = times.mean().unwrap();
    assert!((mean - (0.010 + 0.050 + 0.051 + 0.020) / 4.0).abs() < 1e-9, "{mean}");
    assert!((times.late().unwrap() - 2.0 / 5.0).abs() < 1e-9, "{:?}", times.late());
}

#[test]
fn a_video_ends_with_its_last_frame() {
    let (mut video, schedule) = ten();
    let mut sent = 0;
    assert_eq!(video.offer(at(5000), 0, &mut |_| sent += 1), Some(at(5100)));
    // Whoever asks late gets all that is due, and no more than there is.
    assert_eq!(video.offer(at(60_000), 0, &mut |_| sent += 1), None);
    assert_eq!(video.offer(at(61_000), 0, &mut |_| sent += 1), None);
    assert_eq!((sent, schedule.made_until(at(60_000)), schedule.made_until(at(5150))), (10, 10, 2));
    assert_eq!((schedule.made_until(at(4999)), schedule.made(9)), (0, Some(at(5900))));
}

/// What is made, or due, before the run begins is none of it.
#[test]
fn messages_count_within_the_run() {
    let (video, schedule) = ten();
    let _ = video.starting(at(1000));
    let mut times = TransferTimes::new(schedule, Some(Duration::from_millis(50)), at(1150)..=at(1350));
    // Deadlines within the run have those of 1.1, 1.2 and 1.3 s.
    for ms in [1010, 1110, 1290, 1320, 1410] {
        times.on_message(at(ms));
    }
    assert!((times.late().unwrap() - 1.0 / 3.0).abs() < 1e-9, "{:?}", times.late());
    assert!((times.mean().unwrap() - (0.090 + 0.020) / 2.0).abs() < 1e-9, "{:?}", times.mean());
    let (video, schedule) = ten();
    let _ = video.starting(at(0));
    let times = TransferTimes::new(schedule, Some(Duration::from_millis(50)), at(1000)..=at(2000));
    assert_eq!(times.late(), None, "all are due before it");
}

/// Whether or not somebody can send them.
#[test]
fn messages_are_made_when_they_are_due() {
    let (video, schedule) = ten();
    let mut video = video.starting(at(1000));
    let times = TransferTimes::new(schedule, Some(Duration::from_millis(50)), at(0)..=at(1500));
    assert_eq!((times.mean(), times.late()), (None, Some(1.0)), "none arrives");
    let mut sent = 0;
    assert_eq!((video.offer(at(1250), 0, &mut |_| sent += 1), sent), (Some(at(1300)), 3));
}
