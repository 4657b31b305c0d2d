//! Changes of addresses that are translated on the way (RFC 6951 §5.7): we do not know by which address the peer knows them,
//! so the wildcard stands for them, and the chunk leaves from the address that is meant (RFC 5061 §4.2.1, §4.2.2, §4.2.4).

use core::net::{IpAddr, SocketAddr};

use super::super::open::Open;
use super::super::translation::{may_be_translated, wildcard_for};
use super::request::{Draft, Verdict, pin};
use crate::config::Config;
use crate::interface::{AddressChange, AddressChangeError};

impl Open {
    /// Whether the peer knows this address of ours by another one.
    pub(super) fn is_translated(&self, config: &Config, address: IpAddr) -> bool {
        let known = self.locals.all().find(|local| local.ip() == address);
        let local = self.locals.up(address).or(known);
        local.is_some_and(|local| may_be_translated(config.dar.naming, local, &self.peer.addresses))
    }

    /// What stands in a packet for this address of ours.
    pub(super) fn name_of(&self, config: &Config, address: IpAddr) -> IpAddr {
        if self.is_translated(config, address) { wildcard_for(address) } else { address }
    }

    /// RFC 5061 §4.2.2 has one name for addresses that nobody can name: all but the source. That serves if nothing else
    /// is to be kept.
    pub(super) fn judge_translated_delete(&self, draft: &mut Draft, address: IpAddr) -> Verdict {
        if draft.deleted.contains(&address) {
            return Verdict::Take(None);
        }
        let is_to_go =
            |ip| ip == address || self.asconf.outgoing.waiting.contains(&AddressChange::Delete(ip));
        let usable = |local: &SocketAddr| !is_to_go(local.ip()) && self.locals.up(local.ip()).is_some();
        let in_use = self.route_to_use().map(|route| route.local.ip());
        let mut good = draft.members.iter().copied().filter(usable).map(|local| local.ip());
        let kept = match draft.pinned {
            Some(pinned) if pinned == address => return Verdict::Later,
            Some(pinned) => pinned,
            None => {
                match in_use.filter(|in_use| good.clone().any(|local| local == *in_use)).or(good.next()) {
                    Some(kept) => kept,
                    None => return Verdict::Wrong(AddressChangeError::LastAddress),
                }
            }
        };
        let lost: Vec<IpAddr> = draft.members.iter().map(SocketAddr::ip).filter(|ip| *ip != kept).collect();
        if !lost.iter().all(|&ip| is_to_go(ip)) {
            return Verdict::Wrong(AddressChangeError::CannotBeNamed);
        }
        if let Err(verdict) = pin(draft, kept) {
            return verdict;
        }
        for ip in lost {
            draft.delete(ip);
        }
        Verdict::Take(None)
    }
}
