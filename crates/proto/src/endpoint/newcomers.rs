//! Associations whose peers have not shown yet that they have the right keys.
//!
//! Whoever can receive at an address can have one, with a TLS connection behind it. So there are few at a time, and few of one network. The oldest
//! makes way for a new one: who has the keys needs some round trips, and who has none waits for as long as it is let.

use core::net::IpAddr;
use std::collections::VecDeque;

use whimbrel_machine::Instant;

use super::Endpoint;
use crate::association::Association;
use crate::interface::AssociationId;

/// At a time, in all.
const MOST: usize = 256;
/// Of one network.
const MOST_OF_NETWORK: usize = 16;

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
    /// Which of them makes way for one from `network`.
    fn in_the_way(&self, network: Network) -> Option<usize> {
        let of_network = |(_, other): &&(AssociationId, Network)| *other == network;
        if self.0.iter().filter(of_network).count() >= MOST_OF_NETWORK {
            return self.0.iter().position(|(_, other)| *other == network);
        }
        (self.0.len() >= MOST).then_some(0)
    }
}

impl Endpoint {
    /// The association at `index` was set up from `address`.
    pub(super) fn note_newcomer(&mut self, now: Instant, index: usize, address: IpAddr) {
        let Some(association) = self.table.get(index).filter(|one| one.awaits_keys()) else {
            return;
        };
        let (id, network) = (association.identity.id, Network::of(address));
        let mut newcomers = core::mem::take(&mut self.table.newcomers);
        newcomers.0.retain(|(id, _)| self.table.by_id(*id).is_some_and(Association::awaits_keys));
        let oldest = newcomers.in_the_way(network).and_then(|oldest| newcomers.0.remove(oldest));
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
