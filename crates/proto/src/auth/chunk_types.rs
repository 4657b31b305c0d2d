//! A set of chunk types.

use whimbrel_wire::chunk_type;

/// Chunk types that are only taken authenticated, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ChunkTypes([u64; 4]);

impl ChunkTypes {
    /// The types in a CHUNKS parameter. INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH are ignored there (RFC 4895 §3.2).
    pub(crate) fn required(listed: &[u8]) -> Self {
        let mut types = Self::default();
        for &chunk_type in listed.iter().filter(|&&chunk_type| can_be_required(chunk_type)) {
            types.0[usize::from(chunk_type >> 6)] |= 1 << (chunk_type & 63);
        }
        types
    }

    /// And ASCONF and ASCONF-ACK: these MUST be sent authenticated (RFC 5061 §4.1.1, §4.1.2), even to a peer that forgot to list
    /// them.
    pub(crate) fn with_changes_of_addresses(mut self) -> Self {
        let addresses = Self::required(&[chunk_type::ASCONF, chunk_type::ASCONF_ACK]);
        self.0.iter_mut().zip(addresses.0).for_each(|(types, more)| *types |= more);
        self
    }

    #[inline]
    pub(crate) fn contains(&self, chunk_type: u8) -> bool {
        self.0[usize::from(chunk_type >> 6)] >> (chunk_type & 63) & 1 == 1
    }
}

/// RFC 4895 §3.2: these types MUST NOT be listed in CHUNKS.
pub(crate) const fn can_be_required(chunk_type: u8) -> bool {
    !matches!(
        chunk_type,
        chunk_type::INIT | chunk_type::INIT_ACK | chunk_type::SHUTDOWN_COMPLETE | chunk_type::AUTH
    )
}

#[cfg(test)]
#[path = "chunk_types_tests.rs"]
mod tests;
