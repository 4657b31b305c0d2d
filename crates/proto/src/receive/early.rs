//! Messages that have been acknowledged for good and whose turn in their stream has not come (RFC 9260 §6.6).

use std::collections::BTreeMap;

use bytes::Bytes;
use whimbrel_wire::{Ssn, StreamId};

use super::held::{Header, SSN_REUSED};

/// Whole ordered messages at or below the cumulative TSN. There are some only where a sender gives a stream's messages TSNs in another
/// order than their SSNs, as it may. They cannot be dropped: the window is all that bounds them.
#[derive(Debug, Default)]
pub(super) struct Early {
    messages: BTreeMap<(StreamId, u16), (Header, Bytes)>,
}

impl Early {
    /// Keeps a message until its turn.
    ///
    /// # Errors
    /// If there is one with its SSN already.
    pub(super) fn keep(&mut self, header: Header, payload: Bytes) -> Result<(), &'static str> {
        match self.messages.insert((header.stream, header.ssn.0), (header, payload)) {
            Some(_) => Err(SSN_REUSED),
            None => Ok(()),
        }
    }

    /// Takes the message whose turn has come, if it is here.
    pub(super) fn take(&mut self, stream: StreamId, ssn: Ssn) -> Option<(Header, Bytes)> {
        self.messages.remove(&(stream, ssn.0))
    }

    pub(super) fn contains(&self, stream: StreamId, ssn: Ssn) -> bool {
        self.messages.contains_key(&(stream, ssn.0))
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Bytes of user data. Walks everything.
    #[cfg(any(debug_assertions, test, fuzzing))]
    pub(super) fn bytes(&self) -> usize {
        self.messages.values().map(|(_, payload)| payload.len()).sum()
    }
}
