//! ICMP (RFC 9260 §10, RFC 6951 §5.5).

use whimbrel_machine::{Instant, Route, Unreachable};
use whimbrel_wire::chunk_type;

use super::Endpoint;
use super::table::{Lookup, Owner};
use crate::arrival::Origin;

/// Bytes of the common header up to the Verification Tag.
const TAG_END: usize = 8;
/// Bytes up to the end of an INIT's Initiate Tag.
const INITIATE_TAG_END: usize = 20;

impl Endpoint {
    /// The tag that is quoted is the peer's, so an error may come to any shard; the peer's address leads to the right one.
    pub(super) fn handle_icmp(
        &mut self,
        now: Instant,
        route: Route,
        reason: Unreachable,
        quoted: &[u8],
        origin: Origin,
    ) {
        // ICMP5: the quoted packet, which we sent, tells the association.
        let Some(head) = quoted.first_chunk::<TAG_END>() else { return };
        let [s0, s1, d0, d1, t0, t1, t2, t3] = *head;
        let ports = Lookup { local: u16::from_be_bytes([s0, s1]), remote: u16::from_be_bytes([d0, d1]) };
        let tag = u32::from_be_bytes([t0, t1, t2, t3]);
        let index = match self.table.by_peer(route.remote, ports) {
            Some(Owner::Here(index)) => index,
            // Every raw socket hears of it, also that of the other shard.
            Some(Owner::Elsewhere(shard)) if origin == Origin::Network && route.local.port() != 0 => {
                return self.hand_over_error(shard, route, reason, quoted);
            }
            Some(Owner::Elsewhere(_)) | None => return,
        };
        let Some(association) = self.table.get_mut(index) else { return };
        // ICMP6: only who has seen a packet of this association knows the tag.
        let init = tag == 0;
        let genuine = if init {
            quoted.get(12) == Some(&chunk_type::INIT)
                && quoted.get(16..INITIATE_TAG_END) == Some(&association.identity.local_tag.to_be_bytes()[..])
        } else {
            association.peer_tag() == Some(tag)
        };
        if !genuine {
            return;
        }
        association.handle_icmp(now, route, reason, init);
        self.table.touch(index);
    }
}
