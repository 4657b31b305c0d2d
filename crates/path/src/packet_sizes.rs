//! What SACKs tell of the size of packets (RFC 8899 §4.3).

/// How large packets with DATA were of which a SACK has told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketSizes {
    /// The largest that arrived and was sent once; 0 if there was none.
    pub arrived: usize,
    /// So many are lost.
    pub lost: u32,
    /// The smallest of them.
    pub least_lost: usize,
}

impl Default for PacketSizes {
    fn default() -> Self {
        Self { arrived: 0, lost: 0, least_lost: usize::MAX }
    }
}
