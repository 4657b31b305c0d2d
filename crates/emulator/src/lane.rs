use core::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{
    Arrival, Change, DropReason, Effect, Fate, Flight, LinkConfig, LinkDirection, Pattern, Queueing,
};

/// Datagrams that wait in one direction at most, whatever the link's rate and delay: some 100 MB of full-size ones.
const PENDING_MAX: usize = 65_536;

/// Buffers kept for the next datagrams.
const SPARE_BUFFERS_MAX: usize = 4096;

/// A datagram on its way through a link.
pub(crate) struct Pending<T> {
    flight: Flight,
    /// Its place in the order of offers.
    order: u64,
    ip_bytes: u32,
    /// Whose it is.
    pub(crate) owner: T,
    pub(crate) bytes: Vec<u8>,
}

impl<T> PartialEq for Pending<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Pending<T> {}

impl<T> PartialOrd for Pending<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Pending<T> {
    /// The earliest arrival is the greatest, for a heap that pops the greatest; ties go by order of offer.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.flight.arrives, other.order).cmp(&(self.flight.arrives, self.order))
    }
}

/// One direction in real time: the link model and the datagrams it has let pass, until they are due. Each has an owner
/// of type `T`.
pub(crate) struct Lane<T> {
    link: LinkDirection,
    pending: BinaryHeap<Pending<T>>,
    offers: u64,
    spare: Vec<Vec<u8>>,
}

impl<T: Clone> Lane<T> {
    /// Whose a datagram is says nothing about flows: all share one queue, whatever `config` has there.
    pub(crate) fn new(config: LinkConfig, seed: &Seed, id: u64) -> Self {
        let config = LinkConfig { queueing: Queueing::DropTail, ..config };
        let link = LinkDirection::new(config, seed, id);
        Self { link, pending: BinaryHeap::new(), offers: 0, spare: Vec::new() }
    }

    /// A datagram comes to the link. Returns why it was dropped, if it was.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        owner: &T,
        ip_bytes: u32,
        bytes: &[u8],
    ) -> Option<DropReason> {
        let (first, duplicate) = match self.link.offer(now, ip_bytes) {
            Fate::Dropped(reason) => return Some(reason),
            Fate::Passed { first, duplicate } => (first, duplicate),
            // Nothing does in a drop-tail queue.
            Fate::Waits => return None,
        };
        self.offers += 1;
        for arrival in [Some(first), duplicate].into_iter().flatten() {
            if self.pending.len() >= PENDING_MAX {
                self.link.dropped(DropReason::Limit);
                return Some(DropReason::Limit);
            }
            self.keep(arrival, owner, ip_bytes, bytes);
        }
        None
    }

    fn keep(&mut self, arrival: Arrival, owner: &T, ip_bytes: u32, bytes: &[u8]) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        if arrival.corrupted {
            self.link.flip_bits(&mut buffer);
        }
        let (flight, order, owner) = (arrival.flight, self.offers, owner.clone());
        self.pending.push(Pending { flight, order, ip_bytes, owner, bytes: buffer });
    }

    /// When the next datagram is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.pending.peek().map(|next| next.flight.arrives)
    }

    /// The next datagram that is due by `now`.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Pending<T>> {
        if self.next_due()? > now {
            return None;
        }
        let next = self.pending.pop()?;
        self.link.delivered(next.ip_bytes);
        Some(next)
    }

    /// Gives a buffer back.
    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS_MAX {
            self.spare.push(buffer);
        }
    }

    pub(crate) fn change(&mut self, now: Instant, change: Change) {
        let mut pending = core::mem::take(&mut self.pending).into_vec();
        pending.sort_unstable_by_key(|pending| pending.order);
        let mut flights: Vec<Flight> = pending.iter().map(|pending| pending.flight).collect();
        match self.link.change(now, change, &mut flights) {
            Effect::None => {}
            Effect::Retimed => {
                for (pending, flight) in pending.iter_mut().zip(flights) {
                    pending.flight = flight;
                }
            }
            Effect::Lost => pending.drain(..).for_each(|lost| {
                self.link.dropped(DropReason::Cut);
                self.recycle(lost.bytes);
            }),
        }
        self.pending = pending.into();
    }

    pub(crate) fn follow(&mut self, now: Instant, pattern: Arc<Pattern>) {
        self.link.follow(now, pattern);
    }

    pub(crate) const fn link(&self) -> &LinkDirection {
        &self.link
    }

    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
