use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::{Instant, Rng, Seed};

use super::{Outcome, SharedMedium};

/// A common channel of UMTS, shared by all users of a cell, with RLC in acknowledged mode. The rate is that of RLC payload.
#[derive(Clone, Copy, Debug)]
pub struct UmtsConfig {
    /// Users of the cell.
    pub users: usize,
    /// Packets that each user may have under way.
    pub queue: usize,
    /// Bit/s of RLC payload, shared by all users.
    pub rate_bps: u64,
    /// Transmission time interval: blocks leave at its start and arrive at its end.
    pub tti: Duration,
    /// Bytes of payload in a block. The last block of a packet is padded.
    pub payload: u32,
    /// Probability that a block is lost. It is repeated until it arrives.
    pub block_loss: f64,
    /// Time from the end of a lost block's interval until the sender knows of the loss.
    pub status_delay: Duration,
}

impl UmtsConfig {
    /// 384 kbit/s, intervals of 10 ms, blocks of 40 bytes, no losses, and 400 packets for each of `users`.
    pub const fn common_channel(users: usize) -> Self {
        Self {
            users,
            queue: 400,
            rate_bps: 384_000,
            tti: Duration::from_millis(10),
            payload: 40,
            block_loss: 0.0,
            status_delay: Duration::from_millis(20),
        }
    }
}

#[derive(Debug)]
struct Packet {
    ticket: u32,
    unsent: u32,
    missing: u32,
}

#[derive(Debug, Default)]
struct User {
    packets: VecDeque<Packet>,
    /// Packets that are done: the number of the first in `packets`.
    first: u64,
    /// Lost blocks: when each may be repeated, and the number of its packet.
    lost: VecDeque<(Instant, u64)>,
}

impl User {
    /// The packet whose block is sent next: what was lost goes first.
    fn next_block(&mut self, now: Instant) -> Option<u64> {
        if self.lost.front().is_some_and(|(due, _)| *due <= now) {
            return self.lost.pop_front().map(|(_, number)| number);
        }
        let at = self.packets.iter().position(|packet| packet.unsent > 0)?;
        self.packets[at].unsent -= 1;
        Some(self.first + at as u64)
    }
}

/// A common channel as a pure object: users take turns block by block.
#[derive(Debug)]
pub struct Umts {
    config: UmtsConfig,
    users: Vec<User>,
    next_tti: Instant,
    turn: usize,
    finished: VecDeque<(Instant, Outcome)>,
    losses: Rng,
}

impl Umts {
    /// An idle channel. `id` tells its random stream from those of other channels with the same seed.
    pub fn new(config: UmtsConfig, seed: &Seed, id: u64) -> Self {
        Self {
            users: (0..config.users).map(|_| User::default()).collect(),
            next_tti: Instant::ZERO,
            turn: 0,
            finished: VecDeque::new(),
            losses: seed.stream("umts.loss", id),
            config,
        }
    }

    fn blocks_per_tti(&self) -> u64 {
        let bits = u128::from(self.config.rate_bps) * self.config.tti.as_nanos() / 1_000_000_000;
        (bits / (u128::from(self.config.payload.max(1)) * 8)).max(1) as u64
    }

    fn is_busy(&self) -> bool {
        self.users.iter().any(|user| !user.packets.is_empty())
    }

    /// Sends the blocks of one interval.
    fn send_interval(&mut self) {
        let begins = self.next_tti;
        let ends = begins + self.config.tti.max(Duration::from_nanos(1));
        for _ in 0..self.blocks_per_tti() {
            let Some((user, number)) = self.next_turn(begins) else { break };
            let user = &mut self.users[user];
            if self.losses.chance(self.config.block_loss) {
                user.lost.push_back((ends + self.config.status_delay, number));
            } else if let Some(packet) = user.packets.get_mut((number - user.first) as usize) {
                packet.missing -= 1;
            }
        }
        self.next_tti = ends;
        for (station, user) in self.users.iter_mut().enumerate() {
            // In order: a packet waits for those before it.
            while user.packets.front().is_some_and(|packet| packet.missing == 0) {
                let Some(Packet { ticket, .. }) = user.packets.pop_front() else { break };
                user.first += 1;
                self.finished.push_back((ends, Outcome { station, ticket, delivered: true }));
            }
        }
    }

    fn next_turn(&mut self, now: Instant) -> Option<(usize, u64)> {
        let users = self.users.len();
        for step in 0..users {
            let user = (self.turn + step) % users;
            if let Some(number) = self.users[user].next_block(now) {
                self.turn = (user + 1) % users;
                return Some((user, number));
            }
        }
        None
    }
}

impl SharedMedium for Umts {
    fn offer(&mut self, now: Instant, station: usize, ticket: u32, ip_bytes: u32) -> bool {
        if !self.is_busy() && self.next_tti < now {
            let tti = (self.config.tti.as_nanos() as u64).max(1);
            self.next_tti = Instant::from_nanos(now.as_nanos().div_ceil(tti).saturating_mul(tti));
        }
        let Some(user) = self.users.get_mut(station) else { return false };
        if user.packets.len() >= self.config.queue {
            return false;
        }
        let blocks = ip_bytes.div_ceil(self.config.payload.max(1)).max(1);
        user.packets.push_back(Packet { ticket, unsent: blocks, missing: blocks });
        true
    }

    fn next_event(&self) -> Option<Instant> {
        self.finished.front().map(|(at, _)| *at).or_else(|| self.is_busy().then_some(self.next_tti))
    }

    fn advance(&mut self, now: Instant) -> Option<Outcome> {
        while self.next_event()? <= now {
            if let Some((_, outcome)) = self.finished.pop_front() {
                return Some(outcome);
            }
            self.send_interval();
        }
        None
    }

    fn waiting(&self, station: usize) -> usize {
        self.users.get(station).map_or(0, |user| user.packets.len())
    }
}

#[cfg(test)]
#[path = "umts_tests.rs"]
mod tests;
