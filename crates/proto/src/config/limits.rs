/// Limits on what one association may hold.
#[derive(Clone, Debug)]
pub struct LimitConfig {
    /// Bytes of user data accepted but not yet acknowledged by the peer.
    pub send_buffer: usize,
    /// Receive buffer in bytes: what `a_rwnd` advertises when empty.
    pub receive_buffer: usize,
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
            peer_addresses: 16,
            paths: 32,
            associations: 65_536,
        }
    }
}
