use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::{Instant, Rng, Seed};

use super::{Outcome, Phy, SharedMedium};

/// MAC header and checksum (28 bytes) with LLC and SNAP (8 bytes).
const FRAME_OVERHEAD: u64 = 36;

/// A cell of IEEE 802.11 under the distributed coordination function. All stations hear each other.
#[derive(Clone, Debug)]
pub struct DcfConfig {
    /// The physical layer.
    pub phy: Phy,
    /// Packets that may wait at each station, the one in contention included, the one on the air not; an access point is a station with a longer queue.
    pub queues: Vec<usize>,
    /// Frames longer than this many bytes, MAC header included, are announced by RTS and CTS.
    pub rts_threshold: u32,
    /// Attempts of an RTS, or of a frame sent without one.
    pub short_retry: u32,
    /// Attempts of a frame sent after RTS and CTS.
    pub long_retry: u32,
    /// Probability that a data frame is lost though nobody else sends.
    pub frame_loss: f64,
}

impl DcfConfig {
    /// `stations` with 50 packets each and, last, an access point with 400; RTS above 400 bytes, retry limits 7 and 4, no errors.
    pub fn cell(phy: Phy, stations: usize) -> Self {
        let mut queues = vec![50; stations];
        queues.push(400);
        Self { phy, queues, rts_threshold: 400, short_retry: 7, long_retry: 4, frame_loss: 0.0 }
    }
}

#[derive(Debug)]
struct Station {
    waiting: VecDeque<(u32, u32)>,
    limit: usize,
    window: u32,
    /// The slot after `idle_from` at whose start it may send.
    due: u64,
    short: u32,
    long: u32,
}

/// The distributed coordination function as a pure object: who may send next, and what became of each frame.
#[derive(Debug)]
pub struct Dcf {
    config: DcfConfig,
    stations: Vec<Station>,
    /// Slots are counted from here: the medium has been idle for an interframe space.
    idle_from: Instant,
    finished: VecDeque<(Instant, Outcome)>,
    backoff: Rng,
    losses: Rng,
}

impl Dcf {
    /// An idle cell. `id` tells its random streams from those of other cells with the same seed.
    pub fn new(config: DcfConfig, seed: &Seed, id: u64) -> Self {
        let station = |limit: &usize| Station {
            waiting: VecDeque::new(),
            limit: *limit,
            window: config.phy.cw_min,
            due: 0,
            short: 0,
            long: 0,
        };
        Self {
            stations: config.queues.iter().map(station).collect(),
            idle_from: Instant::ZERO + config.phy.difs(),
            finished: VecDeque::new(),
            backoff: seed.stream("dcf.backoff", id),
            losses: seed.stream("dcf.loss", id),
            config,
        }
    }

    fn slot_after(&self, now: Instant) -> u64 {
        let idle = now.saturating_since(self.idle_from).as_nanos() as u64;
        idle.div_ceil((self.config.phy.slot.as_nanos() as u64).max(1))
    }

    fn slot_start(&self, slot: u64) -> Instant {
        let slot_nanos = self.config.phy.slot.as_nanos() as u64;
        self.idle_from + Duration::from_nanos(slot.saturating_mul(slot_nanos))
    }

    fn next_slot(&self) -> Option<u64> {
        self.stations.iter().filter(|station| !station.waiting.is_empty()).map(|station| station.due).min()
    }

    fn uses_rts(&self, bytes: u32) -> bool {
        u64::from(bytes) + FRAME_OVERHEAD > u64::from(self.config.rts_threshold)
    }

    fn data(&self, bytes: u32) -> Duration {
        self.config.phy.frame(u64::from(bytes) + FRAME_OVERHEAD, self.config.phy.rate_bps)
    }

    /// All who are due in `slot` send.
    fn transmit(&mut self, slot: u64) {
        let begins = self.slot_start(slot);
        let mut senders = Vec::new();
        for (number, station) in self.stations.iter_mut().enumerate() {
            if station.due == slot && !station.waiting.is_empty() {
                senders.push(number);
            }
            station.due = station.due.saturating_sub(slot);
        }
        if let [only] = senders[..] {
            self.send_alone(begins, only);
        } else {
            self.collide(begins, &senders);
        }
    }

    fn send_alone(&mut self, begins: Instant, sender: usize) {
        let phy = self.config.phy;
        let Some(&(_, bytes)) = self.stations[sender].waiting.front() else { return };
        let announced = self.uses_rts(bytes);
        let reservation =
            if announced { phy.rts() + phy.sifs + phy.ack() + phy.sifs } else { Duration::ZERO };
        let received = begins + reservation + self.data(bytes);
        let ends = received + phy.sifs + phy.ack();
        self.idle_from = ends + phy.difs();
        if announced {
            self.stations[sender].short = 0;
        }
        if self.losses.chance(self.config.frame_loss) {
            self.fail(ends, sender, announced);
        } else {
            self.finish(received, sender, true);
        }
    }

    /// The medium is busy for as long as the longest of the frames, and nobody can read any.
    fn collide(&mut self, begins: Instant, senders: &[usize]) {
        let phy = self.config.phy;
        let first = |bytes| if self.uses_rts(bytes) { phy.rts() } else { self.data(bytes) };
        let frames = senders.iter().filter_map(|&sender| self.stations[sender].waiting.front());
        let busy = frames.map(|&(_, bytes)| first(bytes)).max().unwrap_or(Duration::ZERO);
        self.idle_from = begins + busy + phy.eifs();
        for &sender in senders {
            self.fail(begins + busy, sender, false);
        }
    }

    fn fail(&mut self, now: Instant, sender: usize, announced: bool) {
        let station = &mut self.stations[sender];
        let count = if announced { &mut station.long } else { &mut station.short };
        *count += 1;
        if station.short >= self.config.short_retry || station.long >= self.config.long_retry {
            return self.finish(now, sender, false);
        }
        station.window = (station.window.saturating_mul(2).saturating_add(1)).min(self.config.phy.cw_max);
        self.draw(sender);
    }

    fn finish(&mut self, now: Instant, sender: usize, delivered: bool) {
        let station = &mut self.stations[sender];
        (station.window, station.short, station.long) = (self.config.phy.cw_min, 0, 0);
        if let Some((ticket, _)) = station.waiting.pop_front() {
            self.finished.push_back((now, Outcome { station: sender, ticket, delivered }));
        }
        self.draw(sender);
    }

    fn draw(&mut self, sender: usize) {
        let window = self.stations[sender].window;
        self.stations[sender].due = self.backoff.below(u64::from(window) + 1);
    }
}

impl SharedMedium for Dcf {
    fn offer(&mut self, now: Instant, station: usize, ticket: u32, ip_bytes: u32) -> bool {
        let slot = self.slot_after(now);
        let busy = now + self.config.phy.difs() < self.idle_from;
        let Some(this) = self.stations.get_mut(station) else { return false };
        if this.waiting.len() >= this.limit {
            return false;
        }
        this.waiting.push_back((ticket, ip_bytes));
        if this.waiting.len() == 1 {
            this.due = this.due.max(slot);
            if busy && this.due == 0 {
                self.draw(station);
            }
        }
        true
    }

    fn next_event(&self) -> Option<Instant> {
        let sends = self.next_slot().map(|slot| self.slot_start(slot));
        self.finished.front().map(|(at, _)| *at).or(sends)
    }

    fn advance(&mut self, now: Instant) -> Option<Outcome> {
        loop {
            if let Some((at, _)) = self.finished.front() {
                return if *at <= now { self.finished.pop_front().map(|(_, outcome)| outcome) } else { None };
            }
            let slot = self.next_slot()?;
            if self.next_event()? > now {
                return None;
            }
            self.transmit(slot);
        }
    }

    fn waiting(&self, station: usize) -> usize {
        self.stations.get(station).map_or(0, |station| station.waiting.len())
    }
}

#[cfg(test)]
#[path = "dcf_tests.rs"]
mod tests;
