//! What the draft does not have: losses that are few, while the path holds no queue.
//!
//! A round that has lost something lowers the draft's bound to what that round has delivered, which is less than what was sent by what was lost. Where
//! each round loses 1 %, as radio does, the rate falls by 1 % a round until more is looked for, some sixty rounds later. While looking for more, BBR puts up
//! with 2 %. So few do not lower the bound, and lift it again, unless the least round trip of that round says that there is a queue: flows that share a
//! bottleneck lose as little, and come to equal shares by the bound (four of 100 ms did not without that condition).

use super::Bbr;
use super::steady_loss::Stretch;

/// How much longer than without a queue the least round trip of a round may be, in percent.
const QUEUE_PERCENT: u32 = 25;

/// What was delivered and lost of late: the present stretch and the one before it, 128 to 256 packets. In fewer a single loss is too much.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecentLoss {
    present: Stretch,
    before: Stretch,
}

impl RecentLoss {
    const PACKETS: u64 = 128;

    fn count(&mut self, told: Stretch, mss: u64) {
        self.present = self.present.and(told);
        if self.present.told() >= Self::PACKETS * mss {
            self.before = core::mem::take(&mut self.present);
        }
    }

    fn is_at_most(&self, percent: u64) -> bool {
        let all = self.present.and(self.before);
        all.lost * 100 <= all.told() * percent
    }
}

impl Bbr {
    pub(super) fn count_recent(&mut self, told: Stretch) {
        let mss = self.mss();
        self.recent_loss.count(told, mss);
    }

    /// Whether what was lost of late is no more than what looking for more puts up with, and the round that ends has no queue.
    pub(super) fn losses_are_slight(&self) -> bool {
        let few = self.recent_loss.is_at_most(u64::from(self.parameters.loss_threshold_percent));
        let round_trips = self.latest.least_rtt.zip(self.min_rtt.get());
        few && round_trips.is_some_and(|(lately, least)| lately <= least * (100 + QUEUE_PERCENT) / 100)
    }
}
