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
/// And so many times what was in flight at least takes at the rate that is believed.
const TIMES_OWN_QUEUE: u32 = 2;
/// And longer by this much: for SACKs that a peer like this one delays (`Config::mobile()`: 20 ms), and for links that send in bursts.
const SLACK: Duration = Duration::from_millis(30);

/// What the present round has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    /// The shortest round trip.
    least: Option<Duration>,
    /// The least that was in flight when something left, in bytes: a queue of one's own is shortest then.
    in_flight: Option<u64>,
    /// How long a HEARTBEAT took.
    pub(super) answer: Option<Duration>,
}

/// The model of before, until the new path has been seen for some rounds.
#[derive(Debug)]
pub(super) struct Before {
    model: Box<Bbr>,
    rounds_left: u32,
}

/// So many rounds a round trip that is as short as before says that it is the same path after all: it had kept everything back for a while.
const DOUBTED_ROUNDS: u32 = 2;

impl Bbr {
    /// Looks at each round when it ends; after [`update_round`](Self::update_congestion).
    pub(super) fn check_another_path(&mut self, ack: &Ack) {
        self.check_same_path(ack);
        // What arrived beyond more gaps than a SACK can tell of is acknowledged when those are filled: that took longer than a round trip.
        if ack.in_fast_recovery {
            self.round_trips = RoundTrips::default();
            return;
        }
        if self.round.starts {
            let RoundTrips { least, in_flight, answer } = core::mem::take(&mut self.round_trips);
            let explained = self.longest_explained(in_flight.unwrap_or(u64::MAX));
            // Where all DATA is sent again, after an outage, none of it has a round trip (RFC 9260 §6.3.1 C5).
            let least = least.or(answer);
            if let Some(least) = least.filter(|least| *least > explained) {
                self.begin_anew(ack.now, least);
            }
        }
        let RoundTrips { least, in_flight, answer } = self.round_trips;
        let flight = ack.sampled.then_some(ack.sample.in_flight);
        self.round_trips = RoundTrips {
            least: [least, ack.rtt].into_iter().flatten().min(),
            in_flight: [in_flight, flight].into_iter().flatten().min(),
            answer,
        };
    }

    /// A HEARTBEAT was answered after this time.
    pub(super) fn note_answer(&mut self, took: Duration) {
        self.answer = Some(took);
        self.round_trips.answer = Some(took);
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
        // Who has more in flight has sent it at a rate of its own.
        let window = cwnd.max(self.in_flight);
        let begun = Self::begin(&self.path, self.parameters, self.rng.clone(), window as usize);
        let mut old = core::mem::replace(self, begun);
        self.min_rtt = MinRtt::measured(round_trip, now);
        self.count_on(&mut old);
        old.before = None;
        if self.recovering.is_some() {
            (self.cwnd, self.prior_cwnd) = (old.cwnd, cwnd);
        }
        self.pacing_rate = self.pace_of(cwnd, round_trip);
        self.before = Some(Before { model: Box::new(old), rounds_left: DOUBTED_ROUNDS });
    }

    /// The model of before again, if what it was left for was a delay that is over.
    fn check_same_path(&mut self, ack: &Ack) {
        let Some(Before { model, mut rounds_left }) = self.before.take() else { return };
        let shortest = model.min_rtt.get().unwrap_or(Duration::MAX);
        if ack.rtt.is_some_and(|rtt| rtt < shortest.saturating_mul(TIMES_SHORTEST)) {
            let mut left = core::mem::replace(self, *model);
            self.count_on(&mut left);
            return;
        }
        rounds_left -= u32::from(self.round.starts);
        self.before = (rounds_left > 0).then_some(Before { model, rounds_left });
    }

    /// What has been delivered and what is being repaired is the same for any model.
    fn count_on(&mut self, old: &mut Self) {
        core::mem::swap(&mut self.delivery, &mut old.delivery);
        (self.round, self.in_flight) = (old.round, old.in_flight);
        (self.recovering, self.guess) = (old.recovering, old.guess);
    }
}
