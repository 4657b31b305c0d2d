use super::{Increase, Shared, SharedPath, linked};

/// Linked increases (RFC 6356 §3): in each round trip all windows together grow as that of one connection on the best of the paths, and none grows faster than
/// it would alone.
#[derive(Debug)]
pub(super) struct Lia;

impl Increase for Lia {
    fn avoidance(&self, bytes: usize, mss: usize, shared: &Shared<'_>) -> i128 {
        // α · bytes · MSS / cwnd_total, where α is cwnd_total · max(cwnd/rtt²) / (Σ cwnd/rtt)².
        let best = shared.paths.iter().map(SharedPath::acceleration).max().unwrap_or_default();
        let coupled = linked(bytes, mss, best, shared.rate());
        let alone = linked(bytes, mss, shared.own().acceleration(), shared.own().rate());
        i128::try_from(coupled.min(alone)).unwrap_or(i128::MAX)
    }
}
