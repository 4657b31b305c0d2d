use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

#[test]
fn a_burst_is_let_through_then_one_per_refill() {
    let mut bucket = Bucket::new(3, SECOND);
    let start = at(10_000);
    let mut done = 0;
    for step in 0..100 {
        let now = start + Duration::from_millis(100) * step;
        if bucket.next() <= now {
            bucket.take(now);
            done += 1;
        }
    }
    // 9.9 seconds: three at once, then one per second.
    assert_eq!(done, 3 + 9);
}

#[test]
fn a_long_silence_saves_up_no_more_than_the_burst() {
    let mut bucket = Bucket::new(2, SECOND);
    bucket.take(at(0));
    let now = at(3_600_000);
    assert!(bucket.next() <= now);
    bucket.take(now);
    bucket.take(now);
    assert_eq!(bucket.next(), now + SECOND);
}

#[test]
fn early_times_do_not_underflow() {
    let mut bucket = Bucket::new(3, SECOND);
    for _ in 0..3 {
        assert!(bucket.next() <= Instant::ZERO);
        bucket.take(Instant::ZERO);
    }
    assert_eq!(bucket.next(), Instant::ZERO + SECOND);
}
