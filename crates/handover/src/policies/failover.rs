use core::net::IpAddr;

use whimbrel_machine::Instant;

use crate::{Fact, Governed, Judge, Need, Pace, Reason, View, Want, Wish};

/// What SCTP does by itself: stays on the primary path, lets the protocol use another while that one fails, and returns when it
/// works again (RFC 9260 §6.4.1, b08 section 4.1.1). Addresses are added and deleted as they come and go. Another path is made primary only when
/// the primary path's own address is gone, or that path is far worse than another though it works ([`Blemish`](crate::Blemish)); and the
/// address that the peer has chosen is returned to once nothing speaks against it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failover;

impl Failover {
    /// As a policy, at this pace.
    pub fn policy(pace: Pace) -> Governed<Self> {
        Governed::new(Self, pace)
    }
}

impl Judge for Failover {
    fn judge(&mut self, _now: Instant, _fact: &Fact, view: &View<'_>) -> Wish {
        Wish { primary: replacement(view), addresses: every_address(view) }
    }
}

/// Every address there is.
pub(super) fn every_address(view: &View<'_>) -> Vec<IpAddr> {
    view.addresses.iter().map(|local| local.address.ip()).collect()
}

/// Another address when the present one is gone: the first that works.
fn replacement(view: &View<'_>) -> Option<Want> {
    let current = view.primary()?;
    if view.address(current).is_some_and(|local| local.up) {
        let reason = view.complaint()?;
        let all = view.addresses.iter().map(|local| local.address.ip());
        let blemish = |ip: &IpAddr| view.usable_path(*ip).map(|path| (view.blemish(path), *ip != current));
        let local = all.filter(|ip| view.usable_path(*ip).is_some()).min_by_key(blemish)?;
        return Some(Want { local, need: Need::Necessity, reason });
    }
    let mut others = view.addresses.iter().map(|local| local.address.ip()).filter(|&ip| ip != current);
    let local = others.find(|&ip| view.usable_path(ip).is_some())?;
    Some(Want { local, need: Need::Necessity, reason: Reason::AddressLost })
}

#[cfg(test)]
#[path = "failover_tests.rs"]
mod tests;
