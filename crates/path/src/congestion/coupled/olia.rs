use core::cmp::Ordering;

use super::{FRACTION_BITS, Increase, Shared, SharedPath, linked};

/// Opportunistic linked increases (draft-khalili-mptcp-congestion-control-05): a window grows by its own part of what linked increases give, and by α / cwnd, which
/// moves windows from the paths that have the largest ones to those that have carried most between losses.
#[derive(Debug)]
pub(super) struct Olia;

impl Increase for Olia {
    fn avoidance(&self, bytes: usize, mss: usize, shared: &Shared<'_>) -> i128 {
        let own = shared.own();
        let part = i128::try_from(linked(bytes, mss, own.acceleration(), shared.rate())).unwrap_or(i128::MAX);
        let alone = (bytes as i128 * mss as i128) << FRACTION_BITS;
        let (sign, share) = alpha(shared);
        part + sign * (alone / (share * own.cwnd.max(1) as i128))
    }
}

/// α of the path: its sign, and what 1 is divided by.
fn alpha(shared: &Shared<'_>) -> (i128, i128) {
    let paths = shared.paths;
    let largest = paths.iter().map(|path| path.cwnd).max().unwrap_or_default();
    let is_largest = |path: &SharedPath| path.cwnd == largest;
    let is_best = |path: &SharedPath| paths.iter().all(|other| compare_best(path, other) != Ordering::Less);
    let collected = paths.iter().filter(|path| is_best(path) && !is_largest(path)).count();
    let count = |of: usize| (paths.len() * of.max(1)) as i128;
    let own = shared.own();
    match (collected, is_largest(&own), is_best(&own)) {
        (0, ..) => (0, 1),
        (_, true, _) => (-1, count(paths.iter().filter(|path| is_largest(path)).count())),
        (_, false, true) => (1, count(collected)),
        (_, false, false) => (0, 1),
    }
}

/// Compares l² / rtt.
fn compare_best(a: &SharedPath, b: &SharedPath) -> Ordering {
    let squared = |path: &SharedPath| u128::from(path.between_losses).pow(2);
    squared(a).saturating_mul(b.micros()).cmp(&squared(b).saturating_mul(a.micros()))
}
