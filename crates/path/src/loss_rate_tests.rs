use super::*;

/// After some hundred packets the estimate is what is lost of them.
#[test]
fn follows_what_is_lost() {
    for (every, expected) in [(100, 10_000), (10, 100_000), (2, 500_000)] {
        let mut rate = LossRate::default();
        let (mut sum, rounds) = (0_u64, 5_000);
        for packet in 0..rounds {
            if packet % every == 0 {
                rate.on_lost(1)
            } else {
                rate.on_arrived(1)
            }
            sum += u64::from(rate.per_million());
        }
        let mean = sum / rounds;
        assert!(mean.abs_diff(expected) < expected / 10, "{mean} of {expected}");
    }
}

/// What is over is forgotten, and no number of packets takes it beyond its bounds.
#[test]
fn forgets() {
    let mut rate = LossRate::default();
    rate.on_lost(u32::MAX);
    assert!(rate.per_million() > 990_000);
    rate.on_arrived(64);
    assert!((300_000..450_000).contains(&rate.per_million()), "{}", rate.per_million());
    rate.on_arrived(u32::MAX);
    assert_eq!(rate.per_million(), 0);
}
