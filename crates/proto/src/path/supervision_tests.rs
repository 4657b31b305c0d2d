use super::*;
use crate::config::Config;
use crate::interface::{DurationHistogram, PathId};
use crate::path::{Path, testing};

/// Others are asked for 400 ms at a time, and the pauses between double up to 16 times that; a path that has not been silent for 30 s begins anew.
#[test]
fn pauses_between_looking_for_another_network_grow() {
    let mut path = Supervision::new(Instant::ZERO);
    let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
    let time = Duration::from_millis(400);
    let looked: Vec<u64> =
        (0..40_000).step_by(100).filter(|&millis| path.may_look(at(millis), time)).collect();
    let begins: Vec<u64> =
        looked.iter().copied().filter(|millis| !looked.contains(&(millis.wrapping_sub(100)))).collect();
    assert_eq!(begins, [0, 800, 2_000, 4_000, 7_600, 14_400, 21_200, 28_000, 34_800]);
    assert!(
        begins.iter().all(|begins| looked.contains(&(begins + 300)) && !looked.contains(&(begins + 400)))
    );
    assert!(path.may_look(at(100_000), time) && path.may_look(at(100_800), time));
}

/// Several answers to what left before an outage come after it, each as late as the host slept.
#[test]
fn what_spans_an_outage_is_no_round_trip() {
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    let mut path = Path::new(PathId(0), testing::route(1), true, &Config::mobile(), Instant::ZERO);
    let measure = |path: &mut Path, now, took| {
        path.on_measurement(at(now), Duration::from_millis(took), &mut DurationHistogram::default());
    };
    (1..20).for_each(|n| measure(&mut path, n * 20, 20));
    // The one that brings it back, and those behind it.
    measure(&mut path, 10_400, 10_000);
    path.on_return(at(10_400));
    measure(&mut path, 10_410, 9_000);
    measure(&mut path, 10_420, 8_000);
    measure(&mut path, 10_440, 20);
    assert_eq!(path.rto.current(), Duration::from_millis(200));
}
