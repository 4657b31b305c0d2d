use whimbrel_machine::Seed;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// RFC 9260 §8.3: RTO + HB.interval, ± 50 % of the RTO, and the whole of that span is used.
#[test]
fn the_jitter_is_half_an_rto_both_ways() {
    let mut rng = Seed::from_u64(1).stream("jitter", 0);
    for rto in [SECOND / 5, SECOND, 60 * SECOND] {
        let since = Instant::from_nanos(123_456_789);
        let middle = since + 2 * SECOND + rto;
        let times: Vec<_> = (0..1000).map(|_| next(since, 2 * SECOND, rto, &mut rng)).collect();
        assert!(times.iter().all(|&at| at >= middle - rto / 2 && at <= middle + rto / 2));
        assert!(times.iter().any(|&at| at < middle - rto / 3));
        assert!(times.iter().any(|&at| at > middle + rto / 3));
    }
}

/// Many heartbeats share few moments.
#[test]
fn heartbeats_fall_due_together() {
    let mut rng = Seed::from_u64(2).stream("jitter", 0);
    let mut times: Vec<_> =
        (0..1000).map(|_| next(Instant::ZERO, 2 * SECOND, SECOND / 5, &mut rng)).collect();
    times.sort_unstable();
    times.dedup();
    assert!(times.len() <= 20, "{} different times", times.len());
}

/// An RTO below the grid leaves no room for rounding, and time must not run backwards.
#[test]
fn a_short_rto_is_not_rounded_away() {
    let mut rng = Seed::from_u64(3).stream("jitter", 0);
    let since = Instant::from_nanos(19_000_000);
    let rto = Duration::from_millis(1);
    for _ in 0..100 {
        let at = next(since, Duration::ZERO, rto, &mut rng);
        assert!(at >= since + rto / 2 && at <= since + rto * 3 / 2);
    }
}
