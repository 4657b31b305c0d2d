//! Verification Tags: each names the shard of the endpoint that has issued it.

use super::Endpoint;

impl Endpoint {
    /// A tag of this shard that no association has (RFC 9260 §5.3.1).
    pub(super) fn fresh_tag(&mut self) -> u32 {
        self.fresh_tag_of(self.table.shard.number())
    }

    /// A tag for an association that a peer begins: the shards own such associations in turn, so that it does not matter which of them
    /// gets the INIT. What another shard has issued is not known here; it looks again when the cookie comes back.
    pub(super) fn fresh_tag_of_next(&mut self) -> u32 {
        let owner = self.table.shard.next_owner();
        self.fresh_tag_of(owner)
    }

    fn fresh_tag_of(&mut self, owner: u32) -> u32 {
        loop {
            let random = self.rng.next_u32();
            if let Some(tag) = self.table.shard.tag(random, owner)
                && !self.table.has_tag(tag)
            {
                return tag;
            }
        }
    }

    /// Gives an association that begins its handshake anew another tag (RFC 9260 §5.3.1).
    pub(super) fn renew_tag(&mut self, index: usize) {
        let tag = self.fresh_tag();
        if let Some(association) = self.table.get_mut(index) {
            let identity = &mut association.identity;
            identity.local_tag = tag;
            identity.auth_random = self.supplies.randoms.of(tag, identity.initial_tsn);
            self.table.reindex(index);
        }
    }
}
