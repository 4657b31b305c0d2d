//! Associations that are set up and not up: their peers have not shown yet that they have the right keys, or have not said Hello.
//!
//! Whoever can receive at an address can have one, with a TLS connection behind it. So there are few at a time. Once there are as many as there may be the oldest makes
//! way for a new one: who has the keys needs some round trips, and who has none waits for as long as it is let. A network that has more than its share makes way
//! before others do, and who has keys after all who have none.

use core::net::IpAddr;
use std::collections::VecDeque;

use whimbrel_machine::Instant;

use super::Endpoint;
use crate::association::Association;
use crate::interface::AssociationId;

/// At a time, in each shard.
const MOST: usize = 256;
/// As many of one network are no reason to have them make way before others.
const SHARE: usize = 16;

/// The first 24 bits of an IPv4 address, or 64 of an IPv6 address: what one party has all of, often enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Network(u64);

impl Network {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            // No global IPv6 address begins with zeros.
            IpAddr::V4(v4) => Self(u64::from(v4.to_bits() >> 8)),
            IpAddr::V6(v6) => Self((v6.to_bits() >> 64) as u64),
        }
    }
}

/// The oldest first.
#[derive(Debug, Default)]
pub(super) struct Newcomers(VecDeque<(AssociationId, Network)>);

impl Newcomers {
    /// Which of them makes way for one more, where there may be so many: one of those without keys, if there are any.
    fn in_the_way(&self, most: usize, lacks_keys: impl Fn(AssociationId) -> bool) -> Option<usize> {
        if self.0.len() < most {
            return None;
        }
        let all_have_keys = !self.0.iter().any(|&(id, _)| lacks_keys(id));
        let candidates: Vec<(usize, Network)> = self
            .0
            .iter()
            .enumerate()
            .filter(|(_, (id, _))| all_have_keys || lacks_keys(*id))
            .map(|(at, &(_, network))| (at, network))
            .collect();
        let mut counts: Vec<(Network, usize)> = Vec::new();
        for &(_, network) in &candidates {
            match counts.iter_mut().find(|(other, _)| *other == network) {
                Some((_, count)) => *count += 1,
                None => counts.push((network, 1)),
            }
        }
        let largest = counts.into_iter().max_by_key(|&(_, count)| count).filter(|&(_, count)| count > SHARE);
        let wanted = largest.map(|(network, _)| network);
        let chosen = candidates.iter().find(|(_, network)| wanted.is_none_or(|wanted| wanted == *network));
        chosen.map(|&(at, _)| at)
    }
}

impl Endpoint {
    /// The association at `index` was set up from `address`.
    pub(super) fn note_newcomer(&mut self, now: Instant, index: usize, address: IpAddr) {
        let Some(association) = self.table.get(index).filter(|one| one.is_pending()) else {
            return;
        };
        let (id, network) = (association.identity.id, Network::of(address));
        // Half of all places are for those who have keys.
        let places = self.table.shard.part(self.config.limits.associations);
        let most = MOST.min(places / 2).max(1);
        let mut newcomers = core::mem::take(&mut self.table.newcomers);
        newcomers.0.retain(|(id, _)| self.table.by_id(*id).is_some_and(Association::is_pending));
        let lacks_keys = |id| self.table.by_id(id).is_some_and(Association::awaits_keys);
        let oldest = newcomers.in_the_way(most, lacks_keys).and_then(|oldest| newcomers.0.remove(oldest));
        newcomers.0.push_back((id, network));
        self.table.newcomers = newcomers;
        let Some(oldest) = oldest.and_then(|(id, _)| self.table.index(id)) else { return };
        if let Some(association) = self.table.touch(oldest) {
            association.make_way(now);
        }
    }
}

#[cfg(test)]
#[path = "newcomers_tests.rs"]
mod tests;
