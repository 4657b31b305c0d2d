//! What the draft does not have: a path that has become another one under the same addresses, by a change of route or of what the link carries.
//!
//! BBR believes its shortest round trip for 10 s, and keeps two of them in flight. Where the round trip is suddenly ten times as long that is a fifth of what
//! the path carries, and four packets for a user who has little to send. What is in flight says how long a queue of one's own can make a packet wait:
//! round trips that are far above that for a whole round are not of the path that was measured, and the model begins anew with them.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::model::MinRtt;
use super::{Ack, Bbr};

/// A round trip may be so many times the shortest one: two of them are in flight, and a quarter more while the sender looks for more.
const TIMES_SHORTEST: u32 = 3;
/// And so many times what the largest amount in flight takes at the rate that is believed.
const TIMES_OWN_QUEUE: u32 = 2;
/// And longer by this much: for SACKs that a peer like this one delays (`Config::mobile()`: 20 ms), and for links that send in bursts.
const SLACK: Duration = Duration::from_millis(30);

/// What the present round has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    least: Option<Duration>,
    in_flight: u64,
}

impl Bbr {
    /// Looks at each round when it ends; after [`update_round`](Self::update_congestion).
    pub(super) fn check_another_path(&mut self, ack: &Ack) {
        // What arrived beyond more gaps than a SACK can tell of is acknowledged when those are filled: that took longer than a round trip.
        if ack.in_fast_recovery {
            self.round_trips = RoundTrips::default();
            return;
        }
        if self.round.starts {
            let RoundTrips { least, in_flight } = core::mem::take(&mut self.round_trips);
            if let Some(least) = least.filter(|least| *least > self.longest_explained(in_flight)) {
                self.begin_anew(ack.now, least);
            }
        }
        let RoundTrips { least, in_flight } = self.round_trips;
        self.round_trips = RoundTrips {
            least: [least, ack.rtt].into_iter().flatten().min(),
            in_flight: in_flight.max(ack.sample.in_flight),
        };
    }

    /// The longest round trip that the model and so many bytes in flight explain.
    fn longest_explained(&self, in_flight: u64) -> Duration {
        let (Some(shortest), rate @ 1..) = (self.min_rtt.get(), self.max_bandwidth.get()) else {
            return Duration::MAX;
        };
        let nanos = u128::from(in_flight) * 1_000_000_000 / u128::from(rate);
        let own_queue = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX / 4));
        (shortest * TIMES_SHORTEST).max(own_queue.saturating_mul(TIMES_OWN_QUEUE)) + SLACK
    }

    /// Startup again, with what is known of the new path: its round trip. What has been delivered and what is being repaired are counted on.
    fn begin_anew(&mut self, now: Instant, round_trip: Duration) {
        let cwnd = self.cwnd.max(self.path.initial_cwnd() as u64);
        let begun = Self::begin(&self.path, self.parameters, self.rng.clone(), cwnd as usize);
        let old = core::mem::replace(self, begun);
        self.min_rtt = MinRtt::measured(round_trip, now);
        (self.delivery, self.round, self.in_flight) = (old.delivery, old.round, old.in_flight);
        self.recovering = old.recovering;
        if self.recovering.is_some() {
            (self.cwnd, self.prior_cwnd) = (old.cwnd, cwnd);
        }
        self.begin_pacing(round_trip);
    }
}
