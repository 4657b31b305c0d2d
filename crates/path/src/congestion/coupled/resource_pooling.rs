use super::{FRACTION_BITS, Increase, Shared};

/// Resource pooling, version 2 (CMT/RPv2): what a single connection would grow by is divided among the paths by what they carry, and a loss takes half
/// of what all carry from the path that it is found on, or half of its window if that is more.
#[derive(Debug)]
pub(super) struct ResourcePooling;

impl Increase for ResourcePooling {
    fn avoidance(&self, bytes: usize, mss: usize, shared: &Shared<'_>) -> i128 {
        let own = shared.own();
        let alone = ((bytes as u128 * mss as u128) << FRACTION_BITS) / own.cwnd.max(1) as u128;
        i128::try_from(alone.saturating_mul(own.rate()) / shared.rate()).unwrap_or(i128::MAX)
    }

    fn slow_start(&self, bytes: usize, shared: &Shared<'_>) -> usize {
        let share = (bytes as u128 * shared.own().rate()).div_ceil(shared.rate());
        usize::try_from(share).unwrap_or(usize::MAX).min(bytes)
    }

    fn left(&self, cwnd: usize, shared: &Shared<'_>) -> usize {
        let own = shared.own().rate().max(1);
        // Half of what all carry, as a part of what this one does.
        let taken = (cwnd as u128 * shared.rate()).div_ceil(2 * own);
        cwnd.saturating_sub(usize::try_from(taken).unwrap_or(usize::MAX)).min(cwnd / 2)
    }
}
