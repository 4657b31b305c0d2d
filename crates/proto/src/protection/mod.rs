//! Protected packets: the SCTP DTLS chunk with keys agreed on in user messages.
//!
//! By draft-ietf-tsvwg-sctp-dtls-chunk-04 ("the chunk draft") and draft-porfiri-tsvwg-sctp-dtls-handshake-02 ("the key draft");
//! [why these](https://github.com/whimbrel-transport/whimbrel/blob/main/docs/decisions/0043-packets-are-protected-by-dtls-chunks.md).
//!
//! INIT and INIT ACK say that both sides want it and who begins ([`negotiate`]). Once the association is set up, a [`KeyExchange`] talks
//! to the peer's in user messages on stream 0, and `establish` follows it: keys to read with, then keys to write with,
//! then nothing in clear is taken any more. Only then do both sides hear that the association is up. What packets look like and which of them
//! are taken is [`record`], [`number`], [`replay`] and [`keys`]. No cipher and no TLS is known here: both come by [`KeyExchanges`].

mod config;
mod establish;
mod exchange;
mod hello;
pub(crate) mod keys;
pub(crate) mod negotiate;
mod number;
#[cfg(any(test, fuzzing))]
pub(crate) mod operations;
pub(crate) mod record;
#[cfg(any(test, fuzzing))]
pub(crate) mod record_operations;
mod replay;
#[cfg(any(test, fuzzing))]
pub(crate) mod testing;
pub(crate) mod transcript;

pub use config::Security;
pub(crate) use establish::Protection;
pub use exchange::{
    KEY_EXCHANGE, KeyContext, KeyExchange, KeyExchangeError, KeyExchanges, KeyRole, Keys, PeerKey,
    RecordCipher,
};

use whimbrel_wire::PayloadProtocolId;
use whimbrel_wire::draft::{PPID_KEY_CONTROL, PPID_TLS_RECORDS};

/// Whether a message with this identifier is about the keys of its association (key draft §4): over a protected association no other may
/// have it ([`SendError::ReservedIdentifier`](crate::SendError::ReservedIdentifier)).
#[inline]
pub fn is_about_keys(ppid: PayloadProtocolId) -> bool {
    ppid == PPID_TLS_RECORDS || ppid == PPID_KEY_CONTROL || ppid == hello::PPID_HELLO
}
