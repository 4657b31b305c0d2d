use core::net::SocketAddr;
use std::collections::BTreeMap;

use super::table::Lookup;
use crate::association::claim::Claim;

/// Which associations have an address among those of their peer: the strongest claim first, of equal ones that of the eldest
/// association. Whoever has proved an address thus comes before all who have merely listed it, or anybody could keep what comes from
/// there from another one's association by listing it first (RFC 5062 §2). However many list it, nobody is looked at but the first.
#[derive(Debug, Default)]
pub(super) struct Peers {
    /// The ports come first: they are quickly compared, and mostly decide.
    claims: BTreeMap<(Lookup, SocketAddr, Claim, u64), Place>,
}

/// An association that is found by an address of its peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) claim: Claim,
}

/// Where an association is: in which shard of the endpoint, and where in its table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) shard: u32,
    pub(super) index: u32,
}

impl Peers {
    /// The association at `place`, the `born`th there was, has this claim.
    pub(super) fn insert(&mut self, ports: Lookup, peer: SocketAddr, claim: Claim, born: u64, place: Place) {
        self.claims.insert((ports, peer, claim, born), place);
    }

    pub(super) fn remove(&mut self, ports: Lookup, peer: SocketAddr, claim: Claim, born: u64) {
        self.claims.remove(&(ports, peer, claim, born));
    }

    /// Those with this address, the strongest claim first.
    pub(super) fn find(&self, peer: SocketAddr, ports: Lookup) -> impl Iterator<Item = Found> {
        let all = (ports, peer, Claim::Proved, 0)..=(ports, peer, Claim::Listed, u64::MAX);
        self.claims.range(all).map(|(&(_, _, claim, _), &place)| Found { place, claim })
    }
}

#[cfg(test)]
#[path = "peers_tests.rs"]
mod tests;
