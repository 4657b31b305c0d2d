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

/// Packets that were lost one after the other, while none as large as they arrived (RFC 8899 §4.3).
#[derive(Clone, Debug)]
pub(crate) struct Vanished {
    /// So many of late.
    count: u32,
    /// The smallest of them.
    least: usize,
    /// The most of which one as large arrived after all: the network loses as many in a row by chance.
    by_chance: u32,
}

impl Vanished {
    /// So many are no chance where hardly any are lost.
    const ENOUGH: u32 = 3;

    /// However much a network loses, it is the size then.
    const MOST: u32 = 12;

    /// None.
    pub(crate) fn new() -> Self {
        Self { count: 0, least: usize::MAX, by_chance: 0 }
    }

    /// A SACK has told of packets; those of up to `passes` bytes are known to pass. Returns the smallest of those that were lost in a row, if it is the size.
    pub(crate) fn on_packets(&mut self, sizes: &PacketSizes, passes: usize) -> Option<usize> {
        let least = self.least.min(sizes.least_lost);
        let count = self.count.saturating_add(sizes.lost);
        if least <= passes.max(sizes.arrived) {
            self.by_chance = self.by_chance.max(count);
            self.forget();
            return None;
        }
        (self.count, self.least) = (count, least);
        (count >= (2 * self.by_chance).clamp(Self::ENOUGH, Self::MOST)).then_some(least)
    }

    /// A packet of `lost` bytes was lost, and it took time to tell. Returns whether that may be chance: the network has lost as many for no reason before.
    pub(crate) fn may_be_chance(&mut self, lost: usize, passes: usize) -> bool {
        let sizes = PacketSizes { arrived: 0, lost: 1, least_lost: lost };
        self.by_chance >= Self::ENOUGH && self.on_packets(&sizes, passes).is_none()
    }

    /// A smaller size is used: what has been lost says nothing of that.
    pub(crate) fn forget(&mut self) {
        (self.count, self.least) = (0, usize::MAX);
    }
}

#[cfg(test)]
#[path = "packet_sizes_tests.rs"]
mod tests;
