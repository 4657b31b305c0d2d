//! Whether the user has more to send than it has handed over.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::sender::Sender;

/// For how long the user has kept the room that it has for data filled.
#[derive(Debug, Default)]
pub(super) struct Filling {
    since: Option<Instant>,
    /// It has handed over more since.
    more: bool,
    /// Until it was last looked at.
    pub(super) lasted: Duration,
}

impl Sender {
    /// The user may have `room` bytes undelivered now. One that has filled half of it hands over more as soon as it can: with each SACK room for a part is told of.
    pub(crate) fn note_filling(&mut self, now: Instant, room: usize) {
        let filled = self.undelivered().saturating_mul(2) >= room;
        let since = if filled { Some(self.streams.filling.since.unwrap_or(now)) } else { None };
        let more = since.is_some() && self.streams.filling.more;
        let lasted = since.filter(|_| more).map_or(Duration::ZERO, |since| now.saturating_since(since));
        self.streams.filling = Filling { since, more, lasted };
    }

    /// The user has handed over a message.
    pub(super) fn note_more(&mut self) {
        self.streams.filling.more = self.streams.filling.since.is_some();
    }
}
