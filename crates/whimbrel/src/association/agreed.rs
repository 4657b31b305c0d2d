//! What somebody else decides, and tells both hosts: see the crate `whimbrel-gateway`.

use whimbrel_proto::{AgreedChange, Command, PathId, PathShape};

use super::Association;

impl Association {
    /// Takes over changes of addresses that both hosts have agreed on otherwise than by ASCONF, in this order. Whoever calls this answers for it: the peer is not
    /// asked. An address that is new is used once a heartbeat has shown that it leads to the peer (RFC 9260 §5.4), or up to a number of bytes before
    /// that ([`AgreedChange::AddVouchedPeer`]); the last one on either side stays.
    pub fn agree_addresses(&self, changes: Vec<AgreedChange>) {
        self.inbox().command(Command::AgreeAddresses { association: self.id(), changes });
    }

    /// Gives a path a congestion state that somebody knows better than slow start would find it.
    pub fn shape_path(&self, path: PathId, shape: PathShape) {
        self.inbox().command(Command::ShapePath { association: self.id(), path, shape });
    }
}
