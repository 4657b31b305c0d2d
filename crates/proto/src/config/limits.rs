/// What becomes of a message that the receive buffer has no room for as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LargeMessages {
    /// The program gets it in parts, and has to look at [`Received::part`](crate::Received::part) (RFC 9260 §6.9, partial delivery).
    InParts,
    /// The program gets whole messages only. The association is aborted, with
    /// [`CloseReason::MessageTooLarge`](crate::CloseReason::MessageTooLarge), and the peer is told why.
    Refuse,
}

/// Limits on what one association may hold.
#[derive(Clone, Debug)]
pub struct LimitConfig {
    /// Bytes of user data accepted but not yet acknowledged by the peer.
    pub send_buffer: usize,
    /// Receive buffer in bytes: what `a_rwnd` advertises when empty.
    pub receive_buffer: usize,
    /// What becomes of messages larger than the receive buffer.
    pub large_messages: LargeMessages,
    /// Bytes that all associations of the endpoint may hold together of what their peers have sent, bookkeeping included. At least
    /// four times the receive buffer is taken. It is shared fairly, and a_rwnd shows it: n associations that want all they can get have an
    /// (n + 1)th each. When three quarters are in use, those whose peers have been silent for longest are given up first: what they hold
    /// beyond gaps, then they themselves.
    pub receive_memory: usize,
    /// Peer addresses taken from INIT or INIT ACK, at most.
    pub peer_addresses: usize,
    /// Paths (address pairs), at most.
    pub paths: usize,
    /// Associations per endpoint, at most.
    pub associations: usize,
}

impl LimitConfig {
    /// Enough for a host; RFC 9260 names no numbers.
    pub(super) fn rfc() -> Self {
        Self {
            send_buffer: 1 << 20,
            receive_buffer: 1 << 20,
            large_messages: LargeMessages::InParts,
            receive_memory: 256 << 20,
            peer_addresses: 16,
            paths: 32,
            associations: 65_536,
        }
    }
}
