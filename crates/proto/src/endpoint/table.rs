use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use whimbrel_machine::Instant;

use super::deadlines::Deadlines;
use super::newcomers::Newcomers;
use super::peers::{Found, Place};
use super::shard::Shard;
use crate::association::Association;
use crate::association::claim::Claim;
use crate::interface::{AssociationId, ConnectToken, Totals};

/// The two SCTP ports of a packet, as seen from here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Lookup {
    pub(super) local: u16,
    pub(super) remote: u16,
}

/// The associations of an endpoint and the ways to find them.
///
/// An association that has ended stays until it has said its last word, and is not found by packets any more: what comes in the
/// same step belongs to the next one.
///
/// Packets are found by the tag we issued, so a change of address needs no update. The peer's addresses are
/// indexed for the rest: INIT, COOKIE ECHO, reflected tags, ICMP. An address there includes the UDP encapsulation
/// port: two hosts behind one NAT may well choose the same SCTP port, and must not be taken for a restart of each
/// other.
///
/// Where an endpoint has several shards, each has a table, and the peers' addresses are in the directory of all.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) shard: Shard,
    pub(super) newcomers: Newcomers,
    slots: Vec<Slot>,
    free: Vec<usize>,
    live: usize,
    created: u64,
    /// Never iterated: its order is not defined.
    by_tag: FxHashMap<u32, usize>,
    by_token: BTreeMap<ConnectToken, usize>,
    /// Never later than the true ones, and renewed when they come up too early. So a timer that is pushed back with every SACK
    /// costs nothing here.
    deadlines: Deadlines,
    touched: VecDeque<usize>,
    /// What the associations have done that are gone.
    past: Totals,
}

/// Where the association is that a packet or an address leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// In this table.
    Here(usize),
    /// In another shard of the endpoint.
    Elsewhere(u32),
}

#[derive(Debug, Default)]
struct Slot {
    association: Option<Box<Association>>,
    generation: u32,
    /// The number of the association in the order in which they were made.
    born: u64,
    tag: u32,
    /// As they are in the index.
    claims: SmallVec<[(SocketAddr, Claim); 2]>,
    touched: bool,
}

impl Table {
    pub(super) fn new(shard: Shard) -> Self {
        Self {
            shard,
            newcomers: Newcomers::default(),
            slots: Vec::new(),
            free: Vec::new(),
            live: 0,
            created: 0,
            by_tag: FxHashMap::default(),
            by_token: BTreeMap::new(),
            deadlines: Deadlines::default(),
            touched: VecDeque::new(),
            past: Totals::default(),
        }
    }

    /// Every association's place, in no particular but a fixed order.
    pub(super) fn indices(&self) -> Vec<usize> {
        (0..self.slots.len()).filter(|&index| self.slots[index].association.is_some()).collect()
    }

    /// Every association, in the order of [`Self::indices`].
    pub(super) fn iter(&self) -> impl Iterator<Item = &Association> {
        self.slots.iter().filter_map(|slot| slot.association.as_deref())
    }

    /// What all associations have done, those that are gone included.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = self.past;
        self.iter().for_each(|association| totals.add(&association.totals()));
        totals
    }

    // ---- changes

    /// Adds an association made by `make` from its name and a number that is never used twice.
    pub(super) fn insert(&mut self, make: impl FnOnce(AssociationId, u64) -> Association) -> usize {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        slot.generation = slot.generation.wrapping_add(1);
        let id = AssociationId((u64::from(slot.generation) << 32) | self.shard.unique(index as u64));
        self.created += 1;
        slot.born = self.shard.unique(self.created);
        let association = make(id, slot.born);
        let (token, port) = (association.identity.token, association.identity.local_port);
        slot.association = Some(Box::new(association));
        self.live += 1;
        self.shard.directory.use_port(port);
        if let Some(token) = token {
            self.by_token.insert(token, index);
        }
        self.reindex(index);
        index
    }

    /// Brings the indices up to date with the association's tag and peer addresses.
    pub(super) fn reindex(&mut self, index: usize) {
        self.unindex(index);
        let slot = &mut self.slots[index];
        let Some(association) = &slot.association else { return };
        if association.is_closed() {
            return;
        }
        let lookup = lookup(association);
        slot.tag = association.identity.local_tag;
        slot.claims = association.claims();
        self.by_tag.insert(slot.tag, index);
        let place = Place { shard: self.shard.number(), index: index as u32 };
        self.shard.directory.insert(lookup, &slot.claims, slot.born, place);
    }

    /// As [`Self::reindex`], unless the association is found by the right tag and addresses already: a handshake mostly
    /// brings no other addresses than the one it was made with.
    pub(super) fn follow(&mut self, index: usize) {
        let slot = &self.slots[index];
        let Some(association) = &slot.association else { return };
        let up_to_date = association.identity.local_tag == slot.tag && association.claims() == slot.claims;
        if association.is_closed() || !up_to_date {
            self.reindex(index);
        }
    }

    fn unindex(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Some(association) = &slot.association else { return };
        let lookup = lookup(association);
        if self.by_tag.get(&slot.tag) == Some(&index) {
            self.by_tag.remove(&slot.tag);
        }
        self.shard.directory.remove(lookup, &core::mem::take(&mut slot.claims), slot.born);
    }

    /// An association to which something happens now, so that it is asked for output.
    pub(super) fn touch(&mut self, index: usize) -> Option<&mut Association> {
        let slot = &mut self.slots[index];
        if !slot.touched {
            slot.touched = true;
            self.touched.push_back(index);
        }
        slot.association.as_deref_mut()
    }

    pub(super) fn touch_by_id(&mut self, id: AssociationId) -> Option<&mut Association> {
        self.touch(self.index(id)?)
    }

    /// Without touching it: for what does not make it say anything.
    pub(super) fn by_id_mut(&mut self, id: AssociationId) -> Option<&mut Association> {
        self.get_mut(self.index(id)?)
    }

    pub(super) fn first_touched(&self) -> Option<usize> {
        self.touched.front().copied()
    }

    /// The first touched association has nothing more to say: registers its deadline, or removes it if it is
    /// closed, and returns its tag and ports then.
    pub(super) fn settle(&mut self, index: usize) -> Option<(u32, Lookup)> {
        debug_assert_eq!(self.touched.front(), Some(&index));
        self.touched.pop_front();
        self.slots[index].touched = false;
        let association = self.slots[index].association.as_ref()?;
        if association.is_closed() {
            let departed = (association.identity.local_tag, lookup(association));
            self.remove(index);
            return Some(departed);
        }
        if let Some(at) = association.next_deadline()
            && self.deadlines.get(index).is_none_or(|registered| at < registered)
        {
            self.deadlines.set(index, Some(at));
        }
        None
    }

    fn remove(&mut self, index: usize) {
        self.unindex(index);
        self.deadlines.set(index, None);
        let Some(association) = self.slots[index].association.take() else { return };
        self.past.add(&association.totals());
        self.shard.directory.release_port(association.identity.local_port);
        if let Some(token) = association.identity.token {
            self.by_token.remove(&token);
        }
        self.live -= 1;
        self.free.push(index);
    }

    /// An association whose deadline has passed.
    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<usize> {
        while let Some((at, index)) = self.deadlines.first()
            && at <= now
        {
            let due = self.get(index).and_then(Association::next_deadline);
            if due.is_some_and(|due| due <= now) {
                self.deadlines.set(index, None);
                return Some(index);
            }
            self.deadlines.set(index, due);
        }
        None
    }

    // ---- views

    /// The next true deadline.
    pub(super) fn next_deadline(&mut self) -> Option<Instant> {
        loop {
            let (at, index) = self.deadlines.first()?;
            let due = self.get(index).and_then(Association::next_deadline);
            if due == Some(at) {
                return due;
            }
            // Out of date. Renewing it now spares the driver an empty wake-up.
            self.deadlines.set(index, due);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// Whether there are `limit` associations, or this shard's part of them, not counting those that end in this very step.
    pub(super) fn is_full(&self, limit: usize) -> bool {
        let limit = self.shard.part(limit);
        let ended = |index: &&usize| self.get(**index).is_some_and(Association::is_closed);
        self.live >= limit && self.live - self.touched.iter().filter(ended).count() >= limit
    }

    pub(super) fn get(&self, index: usize) -> Option<&Association> {
        self.slots.get(index)?.association.as_deref()
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Association> {
        self.slots.get_mut(index)?.association.as_deref_mut()
    }

    pub(super) fn by_id(&self, id: AssociationId) -> Option<&Association> {
        self.get(self.index(id)?)
    }

    pub(super) fn index(&self, id: AssociationId) -> Option<usize> {
        let number = (id.0 & u64::from(u32::MAX)) as u32;
        let index = (number / self.shard.count()) as usize;
        if number % self.shard.count() != self.shard.number() {
            return None;
        }
        let slot = self.slots.get(index)?;
        (u64::from(slot.generation) == id.0 >> 32 && slot.association.is_some()).then_some(index)
    }

    pub(super) fn has_tag(&self, tag: u32) -> bool {
        self.by_tag.contains_key(&tag)
    }

    /// The association that issued `tag`, if the ports are its own, too.
    pub(super) fn by_tag(&self, tag: u32, ports: Lookup) -> Option<usize> {
        let index = *self.by_tag.get(&tag)?;
        let is_it = |association: &&Association| lookup(association) == ports && !association.is_closed();
        self.get(index).filter(is_it).map(|_| index)
    }

    /// The association whose peer has this address, see [`Peers`](super::peers::Peers).
    pub(super) fn by_peer(&self, peer: SocketAddr, ports: Lookup) -> Option<Owner> {
        self.find(peer, ports).map(|found| self.owner(found.place))
    }

    /// As [`Self::by_peer`], if there is more to it than that the peer has listed the address. Whoever lists another one's address
    /// must not keep that one from a new association with the same ports (RFC 5062 §2).
    pub(super) fn by_own_peer(&self, peer: SocketAddr, ports: Lookup) -> Option<Owner> {
        let found = self.find(peer, ports).filter(|found| found.claim != Claim::Listed);
        found.map(|found| self.owner(found.place))
    }

    fn owner(&self, place: Place) -> Owner {
        let here = place.shard == self.shard.number();
        if here { Owner::Here(place.index as usize) } else { Owner::Elsewhere(place.shard) }
    }

    fn find(&self, peer: SocketAddr, ports: Lookup) -> Option<Found> {
        // Few have ended in this very step; other shards know of theirs.
        let alive = |found: &Found| match self.owner(found.place) {
            Owner::Here(index) => self.get(index).is_some_and(|association| !association.is_closed()),
            Owner::Elsewhere(_) => true,
        };
        self.shard.directory.find(peer, ports, alive)
    }

    /// Whether `peer` has proved to be an address of another association's peer with these ports, and is none of this one's.
    ///
    /// RFC 5061 §5.2 D1, D4, §5.3.2: by that address an ASCONF would be taken for the other one's, before the address that it names is
    /// looked at, and dropped for its tag. Nothing else is let in from an IP address that is not the peer's.
    ///
    /// An address that somebody has merely listed is not his: he could keep the peer of any other association from moving there
    /// (RFC 5062 §2). Nor is one of an association that is not up, as nobody has shown a key there: the peer may have given it up long ago, and come
    /// back. Behind a NAT the IP address alone is no sign, and the port of a peer may change (RFC 6951 §5.4).
    pub(super) fn is_of_another(&self, index: usize, peer: SocketAddr, ports: Lookup) -> bool {
        let own = |slot: &Slot| slot.claims.iter().any(|(own, _)| own.ip() == peer.ip());
        let is_up = |found: &Found| match self.owner(found.place) {
            Owner::Here(other) => {
                let open = self.get(other).and_then(Association::open);
                other != index && !open.is_some_and(|open| open.auth.is_pending())
            }
            Owner::Elsewhere(_) => true,
        };
        let is_other = |found: Found| found.claim == Claim::Proved && is_up(&found);
        !self.slots.get(index).is_some_and(own) && self.find(peer, ports).is_some_and(is_other)
    }

    pub(super) fn by_token(&self, token: ConnectToken) -> Option<usize> {
        self.by_token.get(&token).copied()
    }

    pub(super) fn uses_port(&self, port: u16) -> bool {
        self.shard.directory.uses_port(port)
    }
}

fn lookup(association: &Association) -> Lookup {
    Lookup { local: association.identity.local_port, remote: association.identity.remote_port }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
