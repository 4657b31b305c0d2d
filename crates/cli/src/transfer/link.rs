//! What the file transfer needs of an association, so that it can be tested without one.

use std::future::Future;

use bytes::Bytes;

/// One SCTP user message (or a part of one, for file data).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// Stream id.
    pub(crate) stream: u16,
    /// Payload protocol identifier.
    pub(crate) ppid: u32,
    /// Never empty.
    pub(crate) bytes: Bytes,
}

/// Why a link carries nothing any more.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// The association is gone. Trying again may help.
    #[error("the connection is lost: {0}")]
    Lost(String),
    /// The peer restarted: whoever it is now may be someone else (RFC 5062 §4).
    #[error("the peer restarted in mid-transfer; its new self may be someone else")]
    Restarted,
}

/// A reliable, ordered-per-stream, message-keeping connection.
pub(crate) trait Link: Send + Sync + 'static {
    /// Outbound streams: ids `0..streams()`.
    fn streams(&self) -> u16;
    /// Queues a frame; waits while the send buffer is full. Cancel-safe: a dropped call has sent nothing.
    fn send(&self, frame: Frame) -> impl Future<Output = Result<(), LinkError>> + Send;
    /// The next frame; `None` when the peer has closed gracefully. Cancel-safe.
    fn recv(&self) -> impl Future<Output = Result<Option<Frame>, LinkError>> + Send;
}
