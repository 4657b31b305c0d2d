//! User data comes in from the user, and has been read by the user. Both say whether anything may be sent because of that: both come
//! with every message, and to find out by asking for packets costs ten times as much.

use whimbrel_machine::Instant;

use super::{Association, Closing, Open, Phase};
use crate::config::Config;
use crate::interface::{Message, SendError};
use crate::protection::is_about_keys;

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
        if self.closing != Closing::No {
            return Err((message, SendError::ShuttingDown));
        }
        if self.auth.protection.is_some() && is_about_keys(message.ppid) {
            return Err((message, SendError::ReservedIdentifier));
        }
        let limit = match self.sender.undelivered() - self.undelivered() {
            0 => config.limits.send_buffer,
            // What is said about keys takes no room of the user's, for whom the buffer may be empty.
            _ if self.undelivered() == 0 => usize::MAX,
            own => config.limits.send_buffer.saturating_add(own),
        };
        self.sender.send(&self.paths, message, limit, &self.auth)
    }

    /// Bytes of the user's messages that the peer has not acknowledged for good.
    pub(crate) fn undelivered(&self) -> usize {
        let own = self.auth.protection.as_ref().map_or(0, |protection| protection.own_bytes());
        self.sender.undelivered().saturating_sub(own)
    }

    /// The user has read so much. It is an opportunity to send like any other, but only data that wait, or a SACK that tells of the
    /// room, can take it: false without either.
    pub(crate) fn release(&mut self, now: Instant, bytes: usize) -> bool {
        self.receive.release(now, bytes, || self.paths.longest_round_trip());
        self.sender.opportunity();
        self.receive.ack_due(now) || !self.sender.is_idle() || self.sender.has_lost()
    }
}
