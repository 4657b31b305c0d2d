use core::num::NonZeroU32;

use super::directory::Directory;
use crate::interface::AssociationId;
use crate::path::amplification::StrangerProbes;

/// One of the shards that an endpoint consists of. Each is an [`Endpoint`](crate::Endpoint) by itself, with its own associations, and may run on a
/// processor of its own; to peers they are one.
///
/// A Verification Tag names the shard that has issued it: it is the remainder of the tag by the number of shards. So whoever hands out
/// packets needs to know nothing else, but for an INIT, which has no tag yet (RFC 9260 §8.5.1 A) and may go to any shard.
#[derive(Clone, Debug)]
pub struct Shard {
    number: u32,
    count: NonZeroU32,
    /// Owns the next association of a peer that sends this shard an INIT.
    next_owner: u32,
    pub(super) directory: Directory,
    pub(super) strangers: StrangerProbes,
}

impl Shard {
    /// The shards of one endpoint, in the order of their numbers, which begin with 0. They must all get the same seed, and the
    /// same clock: a cookie that one of them makes is opened by another.
    pub fn all(count: NonZeroU32) -> impl Iterator<Item = Self> {
        let (directory, strangers) = (Directory::default(), StrangerProbes::default());
        (0..count.get()).map(move |number| Self {
            number,
            count,
            next_owner: number,
            directory: directory.clone(),
            strangers: strangers.clone(),
        })
    }

    /// An endpoint that consists of one.
    pub(super) fn alone() -> Self {
        let (directory, strangers) = (Directory::default(), StrangerProbes::default());
        Self { number: 0, count: NonZeroU32::MIN, next_owner: 0, directory, strangers }
    }

    /// Its number.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// How many shards the endpoint has.
    pub const fn count(&self) -> u32 {
        self.count.get()
    }

    /// The shard that has issued a Verification Tag.
    #[inline]
    pub(super) fn of_tag(&self, tag: u32) -> u32 {
        tag % self.count
    }

    /// The tag of the shard `owner` that is next to a random number; `None` if there is none or it is 0.
    pub(super) fn tag(&self, random: u32, owner: u32) -> Option<u32> {
        (random - random % self.count).checked_add(owner).filter(|&tag| tag != 0)
    }

    /// Each shard in turn.
    pub(super) fn next_owner(&mut self) -> u32 {
        let owner = self.next_owner;
        self.next_owner = (owner + 1) % self.count;
        owner
    }

    /// A number that no other shard gives, from one that this shard gives once.
    pub(super) fn unique(&self, own: u64) -> u64 {
        own * u64::from(self.count()) + u64::from(self.number)
    }

    /// The part of a limit of the endpoint that is this shard's.
    pub(super) fn part(&self, limit: usize) -> usize {
        limit.div_ceil(self.count() as usize)
    }
}

impl AssociationId {
    /// The number of the shard that has the association, in an endpoint of so many [`Shard`]s.
    pub const fn shard(self, shards: NonZeroU32) -> u32 {
        self.0 as u32 % shards.get()
    }
}

#[cfg(test)]
#[path = "shard_tests.rs"]
mod tests;
