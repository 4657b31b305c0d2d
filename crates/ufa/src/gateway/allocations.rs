//! What a gateway has given to whom: addresses, throughput and room to wait.

use core::net::IpAddr;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use whimbrel_machine::Instant;

use super::buffer::{Held, HoldingBuffer};
use super::config::{Access, Release, Resources};

/// Bits of the packet that the round trip between gateway and terminal is reckoned with (section V.B of the paper: 1500 bytes).
const PACKET_BITS: f64 = 1500.0 * 8.0;

/// Packets leave at this rate at least, in bit/s: what is left for the last of many terminals may be next to nothing, which does not say how much its network carries.
const LEAST_RATE: u64 = 64_000;

/// Addresses that have been heard without having been given, at most.
const HEARD_MAX: usize = 4096;

/// What one terminal has.
#[derive(Debug)]
pub(super) struct Allocation {
    /// bit/s.
    pub(super) throughput: u64,
    /// Where packets wait until it comes, and until those before them have left; `None` once it is here and nothing waits any more.
    pub(super) waiting: Option<HoldingBuffer>,
    /// It is here.
    leaving: Option<Leaving>,
    /// Bytes of the gateway's buffer that are kept for it.
    reserved: u64,
}

/// How what has waited leaves.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    /// When the terminal has come.
    since: Instant,
    /// When the next packet leaves.
    next: Instant,
}

impl Leaving {
    /// A packet of so many bytes leaves. The rate doubles with each second.
    fn pass(&mut self, size: u64, granted: u64) {
        let seconds = self.next.saturating_since(self.since).as_secs().min(20);
        let rate = granted.max(LEAST_RATE).saturating_mul(1 << seconds);
        self.next += Duration::from_nanos((size * 8).saturating_mul(1_000_000_000) / rate);
    }
}

/// What all terminals have.
#[derive(Debug)]
pub(super) struct Allocations {
    resources: Resources,
    addresses: Vec<IpAddr>,
    /// Where the search for a free address begins: an address that has just become free is given last.
    next: usize,
    given: BTreeMap<IpAddr, Allocation>,
    /// What has waited for terminals that have come, and have nothing here any more: it leaves next.
    behind: VecDeque<HoldingBuffer>,
    /// Addresses of our network in use by somebody whom we have given none.
    heard: BTreeMap<IpAddr, Instant>,
    /// For how long they are taken to have it.
    heard_for: Duration,
}

impl Allocations {
    pub(super) fn new(access: &Access, resources: Resources, heard_for: Duration) -> Self {
        let addresses = access.addresses.clone();
        Self {
            resources,
            addresses,
            next: 0,
            given: BTreeMap::new(),
            behind: VecDeque::new(),
            heard: BTreeMap::new(),
            heard_for,
        }
    }

    // ---- inputs

    /// A packet with this source address has come from our network.
    pub(super) fn hear(&mut self, now: Instant, source: IpAddr) {
        let known = self.heard.contains_key(&source);
        if (known || self.heard.len() < HEARD_MAX)
            && !self.given.contains_key(&source)
            && self.addresses.contains(&source)
        {
            self.heard.insert(source, now);
        }
    }

    /// A terminal is here that has its address from elsewhere.
    pub(super) fn welcome(&mut self, address: IpAddr, throughput: u64) {
        self.heard.remove(&address);
        self.given.entry(address).or_insert(Allocation {
            throughput,
            waiting: None,
            leaving: None,
            reserved: 0,
        });
    }

    /// An address for a terminal that is expected, with room for its bandwidth-delay product. `None` if no address is unique, or there is no room.
    pub(super) fn expect(&mut self, now: Instant, throughput: u64, bdp: u64) -> Option<IpAddr> {
        self.heard.retain(|_, at| now.saturating_since(*at) < self.heard_for);
        let reserved = bdp.max(self.resources.least_buffer);
        if throughput > self.free_throughput() || reserved > self.free_buffer() {
            return None;
        }
        let count = self.addresses.len();
        let at = (0..count)
            .map(|step| (self.next + step) % count)
            .find(|&at| self.is_unique(self.addresses[at]))?;
        let address = self.addresses[at];
        self.next = at + 1;
        let waiting = Some(HoldingBuffer::new(reserved));
        self.given.insert(address, Allocation { throughput, waiting, leaving: None, reserved });
        Some(address)
    }

    /// Whether nobody has this address: we have given it to nobody, and nobody was heard with it.
    fn is_unique(&self, address: IpAddr) -> bool {
        !self.given.contains_key(&address) && !self.heard.contains_key(&address)
    }

    /// The terminal has come: what has waited for it leaves.
    pub(super) fn arrived(&mut self, now: Instant, address: IpAddr) {
        if let Some(allocation) = self.given.get_mut(&address).filter(|one| one.waiting.is_some()) {
            allocation.leaving.get_or_insert(Leaving { since: now, next: now });
        }
    }

    /// A packet that has waited and leaves now. When none is left no more is kept for its terminal.
    pub(super) fn release(&mut self, now: Instant, release: Release) -> Option<Held> {
        while let Some(buffer) = self.behind.front_mut() {
            if let Some((held, _)) = buffer.release() {
                return Some(held);
            }
            self.behind.pop_front();
        }
        for allocation in self.given.values_mut() {
            let Some(leaving) = allocation.leaving.as_mut().filter(|leaving| leaving.next <= now) else {
                continue;
            };
            if let Some((held, size)) = allocation.waiting.as_mut().and_then(HoldingBuffer::release) {
                if release == Release::AtGrantedRate {
                    leaving.pass(size, allocation.throughput);
                }
                return Some(held);
            }
            (allocation.waiting, allocation.leaving, allocation.reserved) = (None, None, 0);
        }
        None
    }

    /// Nobody has this address any more.
    pub(super) fn free(&mut self, address: IpAddr) {
        let had = self.given.remove(&address).filter(|allocation| allocation.leaving.is_some());
        self.behind.extend(had.and_then(|allocation| allocation.waiting));
    }

    pub(super) fn get_mut(&mut self, address: IpAddr) -> Option<&mut Allocation> {
        self.given.get_mut(&address)
    }

    // ---- views

    /// When the next packet that has waited leaves.
    pub(super) fn next_release(&self) -> Option<Instant> {
        self.given.values().filter_map(|allocation| Some(allocation.leaving?.next)).min()
    }

    /// Addresses for which packets wait.
    pub(super) fn expected(&self) -> impl Iterator<Item = IpAddr> + '_ {
        self.given.iter().filter(|(_, allocation)| allocation.waiting.is_some()).map(|(address, _)| *address)
    }

    /// Addresses that somebody has.
    #[cfg(test)]
    pub(super) fn given(&self) -> impl Iterator<Item = IpAddr> + '_ {
        self.given.keys().copied()
    }

    pub(super) fn get(&self, address: IpAddr) -> Option<&Allocation> {
        self.given.get(&address)
    }

    /// bit/s that one more terminal would be given.
    pub(super) fn offer(&self) -> u64 {
        self.free_throughput().min(self.resources.per_terminal)
    }

    /// bit/s that nobody has.
    pub(super) fn free_throughput(&self) -> u64 {
        let given = self.given.values().map(|allocation| allocation.throughput).sum();
        self.resources.throughput.saturating_sub(given)
    }

    /// Bytes that are kept for nobody.
    fn free_buffer(&self) -> u64 {
        let reserved = self.given.values().map(|allocation| allocation.reserved).sum();
        self.resources.buffer.saturating_sub(reserved)
    }
}

/// Formulas 1 and 2 of the paper, in bytes: `to_correspondent` is a round trip, `delay` one way to the terminal.
pub(super) fn bdp(throughput: u64, to_correspondent: Duration, delay: Duration) -> u64 {
    if throughput == 0 {
        return 0;
    }
    let bits = throughput as f64;
    let to_terminal = 2.0 * delay.as_secs_f64() + PACKET_BITS / bits;
    ((to_correspondent.as_secs_f64() + to_terminal) * bits / 8.0).round() as u64
}

#[cfg(test)]
#[path = "allocations_tests.rs"]
mod tests;
