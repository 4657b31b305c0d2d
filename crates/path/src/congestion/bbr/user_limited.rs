//! A user who has less to send than the path carries. What the draft does not have: such a user's window has room for a sudden delay.
//!
//! What this user has in flight says nothing of the path, and the window only matters when acknowledgements stay away: two of the shortest round trips, and what a user
//! says after that waits. A route that has become longer by 400 ms then costs a pause, and another one until the rate has been found again. With more room the
//! user's own rate goes on until the acknowledgements are back. They come before what is sent at the rate of the model fills the room, should
//! the user have much to say all of a sudden, and take it away.

use core::time::Duration;

use super::control::amount;
use super::{Ack, Bbr};

/// How much longer a round trip may become without a pause.
const SUDDEN_DELAY: Duration = Duration::from_millis(500);

impl Bbr {
    /// The user has no more to send.
    pub(super) fn note_user_limited(&mut self, in_flight: u64) {
        self.user_limited_until = self.delivery.delivered() + in_flight + self.cwnd;
    }

    /// Whether what is told of left when the user had no more. Other limits come from ProbeRTT.
    pub(super) fn is_user_limited(&self, app_limited: bool) -> bool {
        app_limited && self.delivery.delivered() <= self.user_limited_until
    }

    /// What such a user may have in flight.
    pub(super) fn room_for_delay(&self, ack: &Ack) -> u64 {
        if self.is_user_limited(ack.sample.app_limited) { amount(self.bandwidth, SUDDEN_DELAY) } else { 0 }
    }
}
