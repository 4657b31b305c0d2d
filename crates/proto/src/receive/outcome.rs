/// What became of a DATA chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DataOutcome {
    /// Accepted.
    New,
    /// Received before; will be reported.
    Duplicate,
    /// Dropped and not acknowledged: the buffer is full (RFC 9260 §6.2).
    NoRoom,
    /// Dropped and not acknowledged: further ahead than TSNs are remembered.
    OutsideWindow,
    /// Acknowledged and discarded; the caller reports the invalid stream identifier (RFC 9260 §6.5).
    InvalidStream,
    /// It is of a message that is larger than the buffer of `limit` bytes, and the program takes whole ones only: the caller aborts.
    TooLarge {
        /// Bytes of the buffer.
        limit: usize,
    },
    /// No correct peer sends this; the caller aborts. No further DATA is taken, but what was complete can be popped.
    Violation(&'static str),
}
