mod medium;

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Fragmentation, Instant, Rng, Route, Seed};

use crate::bottleneck::Bottleneck;
use crate::loss::LossProcess;
use crate::pattern::Replay;
use crate::queue::{self, Admission, Comer, Queue};
use crate::{Change, DirectionStats, DropReason, InFlight, LinkConfig, Oversize, Pattern};

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
    /// It waits, and when it is sent depends on what comes after it: [`LinkDirection::serve`] says later what becomes of it.
    Waits,
}

/// A packet that comes to a link.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// Its length, IP header included.
    pub ip_bytes: u32,
    /// Of a packet that may be fragmented the size does not matter. Its fragments travel as one packet: they share its fate,
    /// and the headers they would add are not counted.
    pub fragmentation: Fragmentation,
    /// The flow it belongs to: source and destination address, with their ports where there are any.
    pub flow: &'a Route,
    /// What [`LinkDirection::serve`] shall call it, if it has to wait.
    pub ticket: u32,
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

/// Of packets whose flow nobody has told.
const NO_FLOW: Route = {
    let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
    Route { local: nowhere, remote: nowhere }
};

/// One direction of a link, as a pure object: packets are offered to it in the order of time, and it says at once
/// when each will arrive. It holds no packet; whoever drives it keeps the packets until then.
///
/// The bottleneck is work-conserving. With a drop-tail queue it serves in order, so the departure of a packet is known when it
/// is offered, unless the rate changes later: [`LinkDirection::change`] then rewrites the flights that are under way. Where
/// flows have queues of their own, a packet may have to wait for its turn: [`LinkDirection::next_service`] tells when to ask
/// [`LinkDirection::serve`] for the next.
#[derive(Debug)]
pub struct LinkDirection {
    config: LinkConfig,
    up: bool,
    queue: Box<dyn Queue>,
    bottleneck: Bottleneck,
    /// The latest arrival so far, detours aside.
    last_arrival: Instant,
    losses: LossProcess,
    pattern: Option<Box<Replay>>,
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
            queue: queue::new(&config),
            bottleneck: Bottleneck::new(config.rate_bps),
            last_arrival: Instant::ZERO,
            losses: LossProcess::new(config.loss, seed, id),
            pattern: None,
            jitter: seed.stream("link.jitter", id),
            detours: seed.stream("link.reorder", id),
            corruption: seed.stream("link.corrupt", id),
            duplication: seed.stream("link.duplicate", id),
            stats: DirectionStats::default(),
        }
    }

    /// Offers an IP packet of `ip_bytes` (IP header included) at time `now`, which never runs backwards, and says
    /// what becomes of it. Whoever keeps the packet calls [`LinkDirection::delivered`] for each copy that arrives.
    ///
    /// All packets offered in this way are of one flow.
    pub fn offer(&mut self, now: Instant, ip_bytes: u32) -> Fate {
        let fragmentation = Fragmentation::Forbidden;
        self.offer_packet(now, Offered { ip_bytes, fragmentation, flow: &NO_FLOW, ticket: 0 })
    }

    /// As [`LinkDirection::offer`], for a packet of which more is known.
    pub fn offer_packet(&mut self, now: Instant, packet: Offered<'_>) -> Fate {
        if let Some(reason) = self.turned_away(now, &packet) {
            return self.refuse(reason);
        }
        let bytes = self.link_bytes(packet.ip_bytes);
        let comer = Comer { bytes, flow: packet.flow, ticket: packet.ticket };
        let admission = self.queue.admit(now, &comer, self.config.queue, &mut self.bottleneck);
        if admission == Admission::Full {
            return self.refuse(DropReason::Queue);
        }
        let (packets, waiting) = self.queue.waiting(now);
        self.stats.queue_packets_max = self.stats.queue_packets_max.max(packets as u64);
        self.stats.queue_bytes_max = self.stats.queue_bytes_max.max(waiting);
        match admission {
            Admission::Departs(departs) => self.leave(departs),
            Admission::Full | Admission::Waits => Fate::Waits,
        }
    }

    /// Counts a packet that comes to the link, and says why it is not even queued, if it is not.
    fn turned_away(&mut self, now: Instant, packet: &Offered<'_>) -> Option<DropReason> {
        let bytes = self.link_bytes(packet.ip_bytes);
        self.stats.offered_packets += 1;
        self.stats.offered_bytes += bytes;
        let lost = self.follow_pattern(now);
        if !self.up {
            return Some(DropReason::Down);
        }
        let whole =
            packet.fragmentation == Fragmentation::Forbidden || self.config.oversize == Oversize::Swallowed;
        if packet.ip_bytes > self.config.mtu && whole {
            return Some(DropReason::Mtu);
        }
        lost.then_some(DropReason::Loss)
    }

    /// When [`LinkDirection::serve`] is to be asked next; `None` if nothing waits to be told when it is sent.
    pub fn next_service(&self) -> Option<Instant> {
        self.queue.is_waiting().then_some(self.bottleneck.busy_until)
    }

    /// Sends one of the packets that were told to wait, if the bottleneck is free at `now`. Returns what the packet was called
    /// when it was offered, and what becomes of it.
    pub fn serve(&mut self, now: Instant) -> Option<(u32, Fate)> {
        let (ticket, departs) = self.queue.serve(now, &mut self.bottleneck)?;
        Some((ticket, self.leave(departs)))
    }

    /// A packet's last bit leaves the bottleneck at `departs`.
    fn leave(&mut self, departs: Instant) -> Fate {
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
    /// order they were offered, without those that wait to be served; what [`Effect`] says holds for all of them, and
    /// [`Effect::Lost`] for those that wait, too. The time of the next service may be another afterwards.
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
            Change::Oversize(oversize) => self.config.oversize = oversize,
            Change::Config(config) => {
                let effect = self.set_rate(now, config.rate_bps, in_flight);
                self.set_loss(config.loss);
                self.config = LinkConfig { queueing: self.config.queueing, ..config };
                return effect;
            }
        }
        Effect::None
    }

    /// Follows `pattern` from `now` on, from its beginning, instead of what was followed before.
    pub fn follow(&mut self, now: Instant, pattern: Arc<Pattern>) {
        self.pattern = Some(Box::new(Replay::new(pattern, now)));
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
        self.queue.waiting(now)
    }

    /// Checks what must hold between calls; for tests.
    pub fn invariants(&self) {
        self.queue.invariants(&self.bottleneck);
        assert_eq!(self.bottleneck.rate_bps, self.config.rate_bps);
    }

    fn link_bytes(&self, ip_bytes: u32) -> u64 {
        u64::from(ip_bytes) + u64::from(self.config.frame_overhead)
    }

    /// Does what the pattern has for a packet that comes now. Returns whether it is lost.
    fn follow_pattern(&mut self, now: Instant) -> bool {
        let Some(verdict) = self.pattern.as_mut().map(|pattern| pattern.next(now)) else { return false };
        if let Some(delay) = verdict.delay {
            self.config.delay = delay;
        }
        if let Some(rate_bps) = verdict.rate {
            self.config.rate_bps = rate_bps;
            self.bottleneck.rate_bps = rate_bps;
            self.bottleneck.remainder = 0;
        }
        verdict.lost
    }

    fn refuse(&mut self, reason: DropReason) -> Fate {
        self.dropped(reason);
        Fate::Dropped(reason)
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
                self.bottleneck.stop(now);
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
        self.bottleneck.rate_bps = rate_bps;
        if old == rate_bps || self.bottleneck.busy_until <= now {
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
        self.queue.retime(&stretch, &self.bottleneck);
        self.bottleneck.busy_until = stretch(self.bottleneck.busy_until);
        self.bottleneck.remainder = 0;
        self.retime(now, stretch, in_flight);
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
