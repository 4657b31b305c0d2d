use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::{Fragmentation, Instant, Rng, Seed};

use crate::loss::LossProcess;
use crate::{Change, DirectionStats, DropReason, InFlight, LinkConfig};

/// When a packet leaves the bottleneck, and when it is at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flight {
    /// Its last bit has left the bottleneck.
    pub departs: Instant,
    /// It is at the other end. Never before `departs`.
    pub arrives: Instant,
}

/// One copy of a packet on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Its times.
    pub flight: Flight,
    /// Its bits shall flip: pass its bytes to [`LinkDirection::flip_bits`].
    pub corrupted: bool,
}

/// What becomes of a packet offered to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It does not arrive.
    Dropped(DropReason),
    /// It arrives.
    Passed {
        /// The packet.
        first: Arrival,
        /// A second copy, if the wire made one.
        duplicate: Option<Arrival>,
    },
}

/// What a change means for packets already on their way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    None,
    /// Their flights have been rewritten.
    Retimed,
    /// They are lost.
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Queued {
    departs: Instant,
    bytes: u64,
}

/// One direction of a link, as a pure object: packets are offered to it in the order of time, and it says at once
/// when each will arrive. It holds no packet; whoever drives it keeps the packets until then.
///
/// The bottleneck is work-conserving and serves in order, so the departure of a packet is known when it is offered,
/// unless the rate changes later: [`LinkDirection::change`] then rewrites the flights that are under way.
#[derive(Debug)]
pub struct LinkDirection {
    config: LinkConfig,
    up: bool,
    /// Packets whose last bit has not left, the one being sent in front.
    queue: VecDeque<Queued>,
    queue_bytes: u64,
    busy_until: Instant,
    /// What is left of a division by the rate, in bit·ns: carried so that rounding never adds up while busy.
    remainder: u64,
    /// The latest arrival so far, detours aside.
    last_arrival: Instant,
    losses: LossProcess,
    jitter: Rng,
    detours: Rng,
    corruption: Rng,
    duplication: Rng,
    stats: DirectionStats,
}

impl LinkDirection {
    /// A direction that is up and empty. `id` tells its random streams from those of other directions with the
    /// same seed.
    pub fn new(config: LinkConfig, seed: &Seed, id: u64) -> Self {
        Self {
            config,
            up: true,
            queue: VecDeque::new(),
            queue_bytes: 0,
            busy_until: Instant::ZERO,
            remainder: 0,
            last_arrival: Instant::ZERO,
            losses: LossProcess::new(config.loss, seed, id),
            jitter: seed.stream("link.jitter", id),
            detours: seed.stream("link.reorder", id),
            corruption: seed.stream("link.corrupt", id),
            duplication: seed.stream("link.duplicate", id),
            stats: DirectionStats::default(),
        }
    }

    /// Offers an IP packet of `ip_bytes` (IP header included) at time `now`, which never runs backwards, and says
    /// what becomes of it. Whoever keeps the packet calls [`LinkDirection::delivered`] for each copy that arrives.
    pub fn offer(&mut self, now: Instant, ip_bytes: u32) -> Fate {
        self.offer_as(now, ip_bytes, Fragmentation::Forbidden)
    }

    /// As [`LinkDirection::offer`]; if the packet may be fragmented, its size does not matter. Its fragments travel as
    /// one packet: they share its fate, and the headers they would add are not counted.
    pub fn offer_as(&mut self, now: Instant, ip_bytes: u32, fragmentation: Fragmentation) -> Fate {
        let bytes = self.link_bytes(ip_bytes);
        self.stats.offered_packets += 1;
        self.stats.offered_bytes += bytes;
        if !self.up {
            return self.refuse(DropReason::Down);
        }
        if ip_bytes > self.config.mtu && fragmentation == Fragmentation::Forbidden {
            return self.refuse(DropReason::Mtu);
        }
        self.release_sent(now);
        if !self.has_room(bytes) {
            return self.refuse(DropReason::Queue);
        }
        let departs = self.transmit(now, bytes);
        if self.losses.next(departs) {
            return self.refuse(DropReason::Loss);
        }
        let first = self.cross_wire(departs);
        let doubled = self.config.duplicate > 0.0 && self.duplication.chance(self.config.duplicate);
        let duplicate = doubled.then(|| self.cross_wire(departs));
        self.stats.duplicated += u64::from(doubled);
        Fate::Passed { first, duplicate }
    }

    /// Flips one to four bits of `bytes`. A checksum of the kind transports use must notice.
    pub fn flip_bits(&mut self, bytes: &mut [u8]) {
        let bits = bytes.len() as u64 * 8;
        if bits == 0 {
            return;
        }
        // Distinct positions, so that flips never cancel: draw without putting back, by stepping past the others.
        let count = (1 + self.corruption.below(4)).min(bits);
        let start = self.corruption.below(bits);
        let stride = 1 + self.corruption.below((bits / count).max(1));
        for step in 0..count {
            let position = (start + step * stride) % bits;
            bytes[(position / 8) as usize] ^= 1 << (position % 8);
        }
    }

    /// Applies `change` at time `now`. `in_flight` holds the flights of all packets that have not arrived, in the
    /// order they were offered; what [`Effect`] says holds for all of them.
    pub fn change(&mut self, now: Instant, change: Change, in_flight: &mut [Flight]) -> Effect {
        match change {
            Change::Up => self.up = true,
            Change::Down(what) => return self.down(now, what),
            Change::Rate(rate_bps) => return self.set_rate(now, rate_bps, in_flight),
            Change::Delay(delay) => self.config.delay = delay,
            Change::Jitter(jitter) => self.config.jitter = jitter,
            Change::Loss(loss) => self.set_loss(loss),
            Change::Corrupt(probability) => self.config.corrupt = probability,
            Change::Duplicate(probability) => self.config.duplicate = probability,
            Change::Reorder(reorder) => self.config.reorder = reorder,
            Change::Queue(limit) => self.config.queue = limit,
            Change::Mtu(mtu) => self.config.mtu = mtu,
            Change::Config(config) => {
                let effect = self.set_rate(now, config.rate_bps, in_flight);
                self.set_loss(config.loss);
                self.config = config;
                return effect;
            }
        }
        Effect::None
    }

    /// Notes that one copy of a packet of `ip_bytes` has arrived.
    pub fn delivered(&mut self, ip_bytes: u32) {
        self.stats.delivered_packets += 1;
        self.stats.delivered_bytes += self.link_bytes(ip_bytes);
    }

    /// Notes that a packet this direction had let pass was dropped after all, such as one of those that were on
    /// their way when the link went down.
    pub fn dropped(&mut self, reason: DropReason) {
        self.stats.dropped[reason as usize] += 1;
    }

    /// The configuration in force.
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Whether the link carries packets.
    pub const fn is_up(&self) -> bool {
        self.up
    }

    /// What has passed so far.
    pub const fn stats(&self) -> &DirectionStats {
        &self.stats
    }

    /// Packets and bytes that wait at time `now`, without the packet being sent.
    pub fn waiting(&mut self, now: Instant) -> (usize, u64) {
        self.release_sent(now);
        match self.queue.front() {
            Some(sending) => (self.queue.len() - 1, self.queue_bytes - sending.bytes),
            None => (0, 0),
        }
    }

    /// Checks what must hold between calls; for tests.
    pub fn invariants(&self) {
        assert_eq!(self.queue_bytes, self.queue.iter().map(|packet| packet.bytes).sum::<u64>());
        assert!(self.queue.iter().zip(self.queue.iter().skip(1)).all(|(a, b)| a.departs <= b.departs));
        assert!(self.queue.back().is_none_or(|last| last.departs == self.busy_until));
    }

    fn link_bytes(&self, ip_bytes: u32) -> u64 {
        u64::from(ip_bytes) + u64::from(self.config.frame_overhead)
    }

    fn refuse(&mut self, reason: DropReason) -> Fate {
        self.dropped(reason);
        Fate::Dropped(reason)
    }

    fn release_sent(&mut self, now: Instant) {
        while let Some(first) = self.queue.front()
            && first.departs <= now
        {
            self.queue_bytes -= first.bytes;
            self.queue.pop_front();
        }
    }

    fn has_room(&self, bytes: u64) -> bool {
        let Some(sending) = self.queue.front() else { return true };
        let limit = self.config.queue;
        self.queue.len() as u64 <= u64::from(limit.packets)
            && self.queue_bytes - sending.bytes + bytes <= limit.bytes
    }

    /// Sends `bytes` through the bottleneck, and returns when the last bit has left.
    fn transmit(&mut self, now: Instant, bytes: u64) -> Instant {
        let Some(rate) = self.config.rate_bps else { return now };
        let rate = rate.max(1);
        if self.busy_until <= now {
            self.busy_until = now;
            self.remainder = 0;
        }
        // The product fits 64 bits for anything that is a packet; the long way is for what is not.
        let (nanos, remainder) = match (bytes * 8).checked_mul(1_000_000_000) {
            Some(work) if work < u64::MAX - rate => {
                ((work + self.remainder) / rate, (work + self.remainder) % rate)
            }
            _ => ((u128::from(bytes) * 8_000_000_000 / u128::from(rate)) as u64, 0),
        };
        self.remainder = remainder;
        self.busy_until += Duration::from_nanos(nanos);
        self.queue.push_back(Queued { departs: self.busy_until, bytes });
        self.queue_bytes += bytes;
        let (packets, waiting) = (self.queue.len() as u64 - 1, self.queue_bytes - self.queue[0].bytes);
        self.stats.queue_packets_max = self.stats.queue_packets_max.max(packets);
        self.stats.queue_bytes_max = self.stats.queue_bytes_max.max(waiting);
        self.busy_until
    }

    fn cross_wire(&mut self, departs: Instant) -> Arrival {
        let config = &self.config;
        let mut arrives = departs + config.delay;
        if !config.jitter.is_zero() {
            arrives += self.jitter.duration_below(config.jitter);
        }
        let detour = config.reorder.probability > 0.0 && self.detours.chance(config.reorder.probability);
        if detour {
            arrives += config.reorder.extra;
        } else {
            if arrives < self.last_arrival {
                if config.keep_order {
                    arrives = self.last_arrival;
                } else {
                    self.stats.reordered += 1;
                }
            }
            self.last_arrival = self.last_arrival.max(arrives);
        }
        self.stats.reordered += u64::from(detour);
        let corrupted = config.corrupt > 0.0 && self.corruption.chance(config.corrupt);
        self.stats.corrupted += u64::from(corrupted);
        Arrival { flight: Flight { departs, arrives }, corrupted }
    }

    fn down(&mut self, now: Instant, in_flight: InFlight) -> Effect {
        self.up = false;
        match in_flight {
            InFlight::Delivered => Effect::None,
            InFlight::Lost => {
                self.queue.clear();
                self.queue_bytes = 0;
                self.busy_until = now;
                self.remainder = 0;
                self.last_arrival = now;
                Effect::Lost
            }
        }
    }

    fn set_loss(&mut self, loss: crate::Loss) {
        if loss != self.config.loss {
            self.config.loss = loss;
            self.losses.set(loss);
        }
    }

    /// A busy bottleneck has `(departs - now) · rate` bits to send before a packet leaves; at another rate they take
    /// inversely longer, so each departure still ahead is stretched around `now`.
    fn set_rate(&mut self, now: Instant, rate_bps: Option<u64>, in_flight: &mut [Flight]) -> Effect {
        let old = core::mem::replace(&mut self.config.rate_bps, rate_bps);
        self.release_sent(now);
        if old == rate_bps || self.queue.is_empty() {
            return Effect::None;
        }
        let stretch = |departs: Instant| match (old, rate_bps) {
            (Some(old), Some(new)) if departs > now => {
                let left = u128::from((departs - now).as_nanos() as u64) * u128::from(old.max(1));
                let left = left.div_ceil(u128::from(new.max(1))).min(u128::from(u64::MAX)) as u64;
                now + Duration::from_nanos(left)
            }
            _ => departs.min(now),
        };
        for packet in &mut self.queue {
            packet.departs = stretch(packet.departs);
        }
        self.busy_until = stretch(self.busy_until);
        self.remainder = 0;
        self.retime(now, stretch, in_flight);
        if rate_bps.is_none() {
            self.queue.clear();
            self.queue_bytes = 0;
        }
        Effect::Retimed
    }

    fn retime(&mut self, now: Instant, stretch: impl Fn(Instant) -> Instant, in_flight: &mut [Flight]) {
        self.last_arrival = Instant::ZERO;
        for flight in in_flight {
            let on_wire = flight.arrives - flight.departs;
            if flight.departs > now {
                flight.departs = stretch(flight.departs);
                flight.arrives = flight.departs + on_wire;
                if self.config.keep_order && self.config.reorder.probability == 0.0 {
                    flight.arrives = flight.arrives.max(self.last_arrival);
                }
            }
            self.last_arrival = self.last_arrival.max(flight.arrives);
        }
    }
}

#[cfg(test)]
#[path = "direction_tests.rs"]
mod tests;
