//! How a path starts that new data goes over to ([`StartUp`]).

use core::time::Duration;

use super::packet_train::header_bytes;
use super::{Context, Open};
use crate::config::StartUp;
use crate::interface::{PathId, PathState};

/// A window is no smaller: a peer acknowledges every second packet, or waits (RFC 9260 §6.2).
const FEWEST_PACKETS: usize = 2;

impl Open {
    /// New data goes over to another path than when this was last asked: that starts as the configuration says.
    pub(super) fn start_up(&mut self, context: &Context<'_>) {
        let StartUp::ByEstimate { no_older_than } = context.config.congestion.start_up else { return };
        let id = self.data_path();
        if self.primary.note_in_use(id) {
            self.start_by_estimate(context, id, no_older_than);
        }
    }

    fn start_by_estimate(&mut self, context: &Context<'_>, id: PathId, no_older_than: Duration) {
        let Some(path) = self.paths.get(id).filter(|path| path.state == PathState::Active) else { return };
        let estimate = path.supervision.estimates().capacity.estimate();
        let fresh = estimate.filter(|found| context.now.saturating_since(found.at) <= no_older_than);
        let Some((estimate, round_trip)) = fresh.zip(path.rto.srtt()) else { return };
        // Of the packets that the capacity was measured with, so much is DATA.
        let packet = path.packet_size() + header_bytes(path.route);
        let share = |bytes: u128| bytes * path.pmdcs() as u128 / packet as u128;
        let rate = share(u128::from(estimate.rate / 8));
        let window = rate * round_trip.as_nanos() / 1_000_000_000;
        let window = usize::try_from(window).unwrap_or(usize::MAX).max(FEWEST_PACKETS * path.pmdcs());
        let (rate, pmdcs) = (u64::try_from(rate).unwrap_or(u64::MAX), path.pmdcs());
        self.sender.start_up(id, window, rate, pmdcs, round_trip);
    }
}
