//! What the shards of an endpoint have in common: which of them has which peer.

use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use whimbrel_machine::Instant;

use super::peers::{Found, Peers, Place};
use super::spent::SpentCookies;
use super::table::Lookup;
use crate::association::claim::Claim;

/// Associations by the addresses of their peers, the ports in use, and the cookies that have been used.
///
/// Written when an association begins, ends, or its peer's addresses change, and read where the tag does not tell (INIT, COOKIE ECHO, ICMP, tags
/// that are reflected): no packet of an association that is up needs the lock. An endpoint of one shard never waits for it, so it
/// does no harm to repeatability.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    peers: Peers,
    ports: BTreeMap<u16, usize>,
    spent: SpentCookies,
}

impl Directory {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The association at `place`, the `born`th there was, makes these claims.
    pub(super) fn insert(&self, ports: Lookup, claims: &[(SocketAddr, Claim)], born: u64, place: Place) {
        let peers = &mut self.entries().peers;
        for &(peer, claim) in claims {
            peers.insert(ports, peer, claim, born, place);
        }
    }

    pub(super) fn remove(&self, ports: Lookup, claims: &[(SocketAddr, Claim)], born: u64) {
        if claims.is_empty() {
            return;
        }
        let peers = &mut self.entries().peers;
        for &(peer, claim) in claims {
            peers.remove(ports, peer, claim, born);
        }
    }

    /// The first that is `alive` of those whose peer has this address, see [`Peers`].
    pub(super) fn find(
        &self,
        peer: SocketAddr,
        ports: Lookup,
        alive: impl Fn(&Found) -> bool,
    ) -> Option<Found> {
        self.entries().peers.find(peer, ports).find(alive)
    }

    /// Notes that one more association uses this port of ours.
    pub(super) fn use_port(&self, port: u16) {
        *self.entries().ports.entry(port).or_insert(0) += 1;
    }

    pub(super) fn release_port(&self, port: u16) {
        let ports = &mut self.entries().ports;
        if let Some(count) = ports.get_mut(&port) {
            *count -= 1;
            if *count == 0 {
                ports.remove(&port);
            }
        }
    }

    pub(super) fn uses_port(&self, port: u16) -> bool {
        self.entries().ports.contains_key(&port)
    }

    /// See [`SpentCookies::spend`].
    pub(super) fn spend(&self, now: Instant, tag: u32, ports: Lookup, end: Instant) {
        self.entries().spent.spend(now, tag, ports, end);
    }

    /// See [`SpentCookies::contains`].
    pub(super) fn is_spent(&self, created: Instant, tag: u32, ports: Lookup) -> bool {
        self.entries().spent.contains(created, tag, ports)
    }
}
