//! User data comes in from the user, and has been read by the user. Both say whether anything may be sent because of that: both come
//! with every message, and to find out by asking for packets costs ten times as much.

use whimbrel_machine::Instant;

use super::open::Open;
use super::shutdown::Closing;
use super::{Association, Phase};
use crate::config::Config;
use crate::interface::{Message, SendError};
use crate::path::Path;

impl Association {
    /// Takes a message to send; true if something may be sent because of that.
    pub(crate) fn send(&mut self, message: Message) -> Result<bool, (Message, SendError)> {
        match &mut self.phase {
            Phase::Open(open) => open.send(&self.config, message),
            Phase::CookieWait(_) | Phase::CookieEchoed(_) | Phase::Closed => {
                Err((message, SendError::Closed))
            }
        }
    }

    /// The user has read so much; true if something may have to be sent because of that.
    pub(crate) fn release(&mut self, now: Instant, bytes: usize) -> bool {
        match &mut self.phase {
            Phase::Open(open) => open.release(now, bytes),
            _ => false,
        }
    }
}

impl Open {
    /// Takes a message to send; false if it has to wait behind others that wait for a window.
    pub(crate) fn send(&mut self, config: &Config, message: Message) -> Result<bool, (Message, SendError)> {
        let refusal = if self.closing != Closing::No {
            Some(SendError::ShuttingDown)
        } else if message.stream.0 >= self.streams.count() {
            Some(SendError::NoSuchStream)
        } else if message.payload.is_empty() {
            Some(SendError::Empty)
        } else if self.undelivered() > 0
            && self.undelivered() + message.payload.len() > config.limits.send_buffer
        {
            // A message larger than the whole buffer is let into an empty one: it could never be sent otherwise.
            Some(SendError::BufferFull)
        } else {
            None
        };
        if let Some(error) = refusal {
            return Err((message, error));
        }
        self.totals.messages_sent += 1;
        self.totals.bytes_sent += message.payload.len() as u64;
        let first = self.streams.is_empty();
        self.streams.push(message);
        self.opportunity();
        Ok(first || !self.is_window_full())
    }

    /// Whether no new data can go out before something is acknowledged or lost, however large the burst: for cwnd, or because the
    /// peer has no room. With nothing outstanding the latter takes a probe, which nobody has asked for yet (RFC 9260 §6.1 A).
    fn is_window_full(&mut self) -> bool {
        if self.outstanding.has_lost() {
            return false;
        }
        let path = self.path_choice.for_new_data(&self.paths).and_then(|id| self.paths.get(id));
        path.is_some_and(Path::is_window_full) || (!self.outstanding.is_empty() && self.is_peer_full())
    }

    /// Whether no data can follow that which has just gone out, be it for want of data or of room.
    pub(crate) fn is_all_data_out(&mut self) -> bool {
        if self.outstanding.has_lost() {
            return false;
        }
        let path = self.path_choice.for_new_data(&self.paths).and_then(|id| self.paths.get(id));
        self.streams.is_empty()
            || path.is_some_and(|path| !path.may_send())
            || (!self.outstanding.is_empty() && self.is_peer_full())
    }

    /// Whether not even a packet of its own is room enough for what is next.
    fn is_peer_full(&mut self) -> bool {
        let fragment = self.fragment_size();
        self.next_piece_len(usize::MAX, fragment, true).is_none()
    }

    /// The user has read so much. It is an opportunity to send like any other, but only data that wait, or a SACK that tells of the
    /// room, can take it: false without either.
    pub(crate) fn release(&mut self, now: Instant, bytes: usize) -> bool {
        self.receive.release(bytes);
        self.opportunity();
        self.receive.ack_due(now) || !self.streams.is_empty() || self.outstanding.has_lost()
    }
}
