//! Routers that a host's machine runs.

use whimbrel_machine::Route;

use super::Fabric;
use crate::{Attachment, DropReason, Framing, RouterId};

impl Fabric {
    /// As [`Self::way_out`], from the router that `host` runs: whatever the source address is.
    pub(super) fn way_on(
        &mut self,
        host: u32,
        router: RouterId,
        route: &Route,
    ) -> Result<(Route, Framing, u32, u32), DropReason> {
        let framing = Framing::of(route).ok_or(DropReason::NoSource)?;
        let destination = self.topology.owner(route.remote.ip()).ok_or(DropReason::NoRoute)?;
        if self.topology.interfaces[destination as usize].host == host {
            return Err(DropReason::NoRoute);
        }
        let from = Attachment::Router(router);
        let direction = self.topology.next_hop(from, destination).ok_or(DropReason::NoRoute)?;
        Ok((*route, framing, destination, direction))
    }

    /// Whether a packet is only on its way through `host`.
    pub(crate) fn is_transit(&self, host: u32, slot: u32) -> bool {
        let destination = self.packets[slot].destination;
        self.topology.interfaces[destination as usize].host != host
    }
}
