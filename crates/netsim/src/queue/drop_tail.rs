use std::collections::VecDeque;

use whimbrel_machine::Instant;

use super::{Admission, Comer, Queue};
use crate::QueueLimit;
use crate::bottleneck::Bottleneck;

#[derive(Clone, Copy, Debug)]
struct Queued {
    departs: Instant,
    bytes: u64,
}

/// One queue, served in the order of arrival: the departure of a packet is known when it comes, unless the rate changes later.
#[derive(Debug, Default)]
pub(crate) struct DropTail {
    /// Packets whose last bit has not left, the one being sent in front.
    queue: VecDeque<Queued>,
    bytes: u64,
}

impl DropTail {
    fn release_sent(&mut self, now: Instant) {
        while let Some(first) = self.queue.front()
            && first.departs <= now
        {
            self.bytes -= first.bytes;
            self.queue.pop_front();
        }
    }

    fn has_room(&self, bytes: u64, limit: QueueLimit) -> bool {
        let Some(sending) = self.queue.front() else { return true };
        self.queue.len() as u64 <= u64::from(limit.packets)
            && self.bytes - sending.bytes + bytes <= limit.bytes
    }
}

impl Queue for DropTail {
    fn admit(
        &mut self,
        now: Instant,
        comer: &Comer<'_>,
        limit: QueueLimit,
        bottleneck: &mut Bottleneck,
    ) -> Admission {
        self.release_sent(now);
        if !self.has_room(comer.bytes, limit) {
            return Admission::Full;
        }
        if bottleneck.rate_bps.is_none() {
            return Admission::Departs(now);
        }
        let departs = bottleneck.send(now, comer.bytes);
        self.queue.push_back(Queued { departs, bytes: comer.bytes });
        self.bytes += comer.bytes;
        Admission::Departs(departs)
    }

    fn serve(&mut self, _now: Instant, _bottleneck: &mut Bottleneck) -> Option<(u32, Instant)> {
        None
    }

    fn is_waiting(&self) -> bool {
        false
    }

    fn waiting(&mut self, now: Instant) -> (usize, u64) {
        self.release_sent(now);
        match self.queue.front() {
            Some(sending) => (self.queue.len() - 1, self.bytes - sending.bytes),
            None => (0, 0),
        }
    }

    fn retime(&mut self, stretch: &dyn Fn(Instant) -> Instant, bottleneck: &Bottleneck) {
        for packet in &mut self.queue {
            packet.departs = stretch(packet.departs);
        }
        if bottleneck.rate_bps.is_none() {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.queue.clear();
        self.bytes = 0;
    }

    fn invariants(&self, bottleneck: &Bottleneck) {
        assert_eq!(self.bytes, self.queue.iter().map(|packet| packet.bytes).sum::<u64>());
        assert!(self.queue.iter().zip(self.queue.iter().skip(1)).all(|(a, b)| a.departs <= b.departs));
        assert!(self.queue.back().is_none_or(|last| last.departs == bottleneck.busy_until));
    }
}
