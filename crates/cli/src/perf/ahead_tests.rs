use super::*;

/// Of a network that carries a kilobyte in a millisecond two seconds' worth is under way, of a slow one no more than always may be.
#[test]
fn two_seconds_worth_is_under_way() {
    for (rate, most) in [(1000, 2_000_000), (10, LEAST)] {
        let (mut ahead, begun) = (Ahead::default(), Instant::now());
        let told = (0..5000).map(|ms| ahead.most(begun + Duration::from_millis(ms), ms * rate));
        let told: Vec<u64> = told.collect();
        assert_eq!((told[0], told[1500], told[4999]), (LEAST, most, most));
    }
}
