use super::*;
use crate::tcp::Cubic;

const MSS: u64 = 1000;
const RTT: Duration = Duration::from_millis(100);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The acknowledgements of a round: `count` segments, `gap` apart, with this round trip. Returns whether slow start goes on.
fn round(
    controller: &mut dyn CongestionControl,
    begin: Instant,
    first: u64,
    count: u64,
    gap: Duration,
    rtt: Duration,
) -> bool {
    for number in 0..count {
        let now = begin + gap * number as u32;
        let acknowledged = (first + number + 1) * MSS;
        controller.on_measurement(now, rtt, acknowledged, (first + 2 * count) * MSS);
        controller.on_acknowledged(now, MSS, rtt);
    }
    controller.is_in_slow_start()
}

/// Acknowledgements that come in one train for more than half of a round trip: what is in flight fills the path.
#[test]
fn a_long_train_ends_slow_start() {
    for (gap_us, expected) in [(400, true), (600, false)] {
        let mut controller = Cubic::with_hystart(MSS, 100 * MSS);
        let goes_on = round(&mut *controller, Instant::ZERO, 0, 100, Duration::from_micros(gap_us), RTT);
        assert_eq!(goes_on, expected, "{gap_us} us apart");
    }
    let mut spread = Cubic::with_hystart(MSS, 30 * MSS);
    assert!(round(&mut *spread, Instant::ZERO, 0, 30, ms(3), RTT), "no train: they are too far apart");
}

/// The least of a round is longer by an eighth: a queue grows.
#[test]
fn a_longer_round_trip_ends_slow_start() {
    for (longer, expected) in [(12, true), (13, false)] {
        let mut controller = Cubic::with_hystart(MSS, 20 * MSS);
        assert!(round(&mut *controller, Instant::ZERO, 0, 20, ms(3), RTT));
        let begin = Instant::ZERO + RTT;
        assert_eq!(round(&mut *controller, begin, 41, 40, ms(3), RTT + ms(longer)), expected, "{longer} ms");
    }
}

/// Nothing is judged below 16 segments.
#[test]
fn small_windows_are_left_alone() {
    for (segments, expected) in [(15, true), (16, false)] {
        let mut controller = Cubic::with_hystart(MSS, segments * MSS);
        controller.on_measurement(Instant::ZERO, RTT, MSS, 40 * MSS);
        for number in 0..12 {
            controller.on_measurement(Instant::ZERO + RTT + ms(3) * number, RTT * 2, 41 * MSS, 80 * MSS);
        }
        assert_eq!(controller.is_in_slow_start(), expected, "{segments} segments");
    }
}
