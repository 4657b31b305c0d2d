//! A user who has less to send than the path carries. What the draft does not have: such a user's window has room for a sudden delay.
//!
//! What this user has in flight says nothing of the path, and the window only matters when acknowledgements stay away: two of the shortest round trips, and what a user
//! says after that waits. A route that has become longer by 400 ms then costs a pause, and another one until the rate has been found again. With more room the
//! user's own rate goes on until the acknowledgements are back. The room is no part of the model's window, and gone as soon as something that the user did
//! not limit is acknowledged. It comes back as part of the window where a timer was wrong, as the delay made it: without that the model's window is too small again
//! for another round trip, and what the user says comes 1.3 s late after such a jump instead of 0.5 to 0.8 s.

use core::time::Duration;

use super::control::amount;
use super::{Ack, Bbr, State};

/// How much longer a round trip may become without a pause.
const SUDDEN_DELAY: Duration = Duration::from_millis(500);

/// Initial windows that a user with little to send may hand over at a time: what has waited for a repair comes together.
const SMALL_BURST: u64 = 4;

/// What is known of the user.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct User {
    /// What left before so much was delivered may have left when the user had no more.
    limited_until: u64,
    /// Bytes sent since the user had no more.
    burst: u64,
    /// What may be in flight in any case, in bytes.
    pub(super) room: u64,
}

impl Bbr {
    /// The user has no more to send.
    pub(super) fn note_user_limited(&mut self, in_flight: u64) {
        if self.user.burst <= self.small_burst() {
            self.user.limited_until = self.delivery.delivered() + in_flight + self.cwnd;
        }
        self.user.burst = 0;
    }

    /// Something leaves. Who sends much at a time fills queues with it, though the path is idle in between.
    pub(super) fn note_user_sends(&mut self, bytes: u64) {
        self.user.burst += bytes;
        if self.user.burst > self.small_burst() {
            (self.user.limited_until, self.user.room) = (0, 0);
        }
    }

    fn small_burst(&self) -> u64 {
        (SMALL_BURST * self.path.initial_cwnd() as u64).max(self.bdp(self.bandwidth, 100))
    }

    /// Whether what is told of left when the user had no more. Other limits come from ProbeRTT.
    pub(super) fn is_user_limited(&self, app_limited: bool) -> bool {
        app_limited && self.delivery.delivered() <= self.user.limited_until
    }

    /// What such a user may have in flight.
    pub(super) fn update_room(&mut self, ack: &Ack) {
        let has_room = self.state != State::ProbeRtt && self.is_user_limited(ack.sample.app_limited);
        self.user.room = if has_room { amount(self.bandwidth, SUDDEN_DELAY) } else { 0 };
    }
}
