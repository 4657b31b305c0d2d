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
    let mut times = TransferTimes::new(schedule, Some(Duration::from_millis(50)), at(1500));
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
