//! Whose turn it is to take memory beyond its share, to finish a message that others would keep out for ever.
//!
//! One association at a time has it. It ends when a message of it has been built; and it passes on, if others wait, from whoever gets nothing
//! within some round trips, and later on from whoever has not got [`PART`] of the receive buffer within [`PATIENCE`].

use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::Instant;

use super::Endpoint;
use crate::receive::Standing;

/// Some round trips, and one time-out.
const PATIENCE: Duration = Duration::from_secs(3);
/// Until it has got anything, so many round trips are enough, and no less than [`FIRST_PATIENCE`]: many of those that wait may be gone.
const FIRST_ROUND_TRIPS: u32 = 4;
const FIRST_PATIENCE: Duration = Duration::from_millis(200);
/// Taken for the round trip before one has been measured.
const UNKNOWN: Duration = Duration::from_millis(250);
/// Of the receive buffer: a turn lasts some minutes at most.
const PART: usize = 64;
/// Of those that have lost equally many turns, so many have theirs before anybody is looked for again.
const ROUND: usize = 64;
/// For each association of the endpoint; how long those that wait are not looked for again, since that takes a look at all.
const PAUSE: Duration = Duration::from_micros(1);
/// How long nobody is looked for again who could give back what is lent.
const RECOVERY_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Turns {
    now: Option<Turn>,
    next: VecDeque<usize>,
    /// When those that wait may be looked for again.
    round: Instant,
    /// When those may be looked for that hold the reserve.
    recovery: Instant,
}

#[derive(Debug)]
struct Turn {
    index: usize,
    /// Messages that had been built before.
    built: u64,
    /// When it last got ahead, and what there was of its message then.
    since: Instant,
    bytes: usize,
    /// How long it may take until it gets anything.
    first: Duration,
}

impl Turns {
    /// The place of whose turn it is.
    pub(super) fn holder(&self) -> Option<usize> {
        self.now.as_ref().map(|turn| turn.index)
    }
}

impl Endpoint {
    /// To be called whenever somebody may have finished, may have begun to wait, or may have given memory back.
    #[inline]
    pub(super) fn pass_the_turn(&mut self, now: Instant) {
        let waited_for = self.supplies.buffers.memory().is_waited_for();
        if !waited_for && self.supplies.turns.now.is_none() {
            return;
        }
        let goes_on = self.turn_goes_on(now, waited_for);
        if !goes_on && waited_for {
            self.begin_turn(now);
        }
    }

    /// Whether somebody has the turn and keeps it.
    fn turn_goes_on(&mut self, now: Instant, waited_for: bool) -> bool {
        let Some(mut turn) = self.supplies.turns.now.take() else { return false };
        let Some(standing) = self.standing(turn.index).filter(|standing| standing.has_turn) else {
            return false;
        };
        // Without a ticket it has got something since it waited.
        let finished = standing.built != turn.built || standing.ticket.is_none() && !standing.held_up;
        let part = self.config.limits.receive_buffer / PART;
        if standing.built_bytes >= turn.bytes.saturating_add(part) {
            turn.bytes = standing.built_bytes;
            turn.since = now;
        }
        if standing.refused {
            self.make_room_in_turn(now, &mut turn, standing.lent);
        }
        let patience = if standing.ticket.is_some() { turn.first } else { PATIENCE };
        let lost = waited_for && now.saturating_since(turn.since) >= patience;
        if finished || lost {
            if let Some(association) = self.table.touch(turn.index) {
                association.end_turn(!finished);
            }
            return false;
        }
        self.supplies.turns.now = Some(turn);
        true
    }

    /// Whose turn it is was refused something. That others hold the reserve is no fault of its own; when it has room, its peer is told.
    fn make_room_in_turn(&mut self, now: Instant, turn: &mut Turn, lent: usize) {
        let buffer = self.config.limits.receive_buffer;
        if !self.supplies.buffers.memory().can_lend(buffer, lent) {
            self.recover_reserve(now, lent);
            turn.since = now;
        }
        if self.supplies.buffers.memory().can_lend(buffer, lent)
            && let Some(association) = self.table.touch(turn.index)
        {
            association.begin_turn();
        }
    }

    fn begin_turn(&mut self, now: Instant) {
        let part = self.config.limits.receive_buffer / PART;
        if !self.supplies.buffers.memory().can_lend(part, 0) {
            self.recover_reserve(now, 0);
            if !self.supplies.buffers.memory().can_lend(part, 0) {
                // The user has it, and will read.
                return;
            }
        }
        if self.supplies.turns.next.is_empty() && now >= self.supplies.turns.round {
            self.supplies.turns.round = now + PAUSE * u32::try_from(self.table.len()).unwrap_or(u32::MAX);
            self.line_up();
        }
        while let Some(index) = self.supplies.turns.next.pop_front() {
            let Some(standing) = self.standing(index).filter(|standing| standing.ticket.is_some()) else {
                continue;
            };
            let Some(association) = self.table.touch(index) else { continue };
            let round_trip = association.begin_turn().unwrap_or(UNKNOWN);
            let first = (round_trip * FIRST_ROUND_TRIPS).clamp(FIRST_PATIENCE, PATIENCE);
            let (built, bytes) = (standing.built, standing.built_bytes);
            self.supplies.turns.now = Some(Turn { index, built, since: now, bytes, first });
            return;
        }
    }

    /// Those that have lost the fewest turns are next, in the order in which they have begun to wait: who holds messages that it never
    /// finishes costs the others little. After them comes one of the rest, so that nobody waits for ever.
    fn line_up(&mut self) {
        let waiting = |index: usize| {
            let standing = self.standing(index)?;
            Some((standing.lost, standing.ticket?, index))
        };
        let mut waiting: Vec<(u32, u64, usize)> =
            self.table.indices().into_iter().filter_map(waiting).collect();
        waiting.sort_unstable();
        let Some(&(fewest, ..)) = waiting.first() else { return };
        let rest = waiting.split_off(waiting.partition_point(|&(lost, ..)| lost == fewest));
        let other = rest.into_iter().min_by_key(|&(_, ticket, _)| ticket);
        self.supplies.turns.next =
            waiting.into_iter().take(ROUND).chain(other).map(|(.., index)| index).collect();
    }

    /// Who has lost its turn, and keeps what it has taken in it, must not keep the reserve from the others: where less than a buffer is left for
    /// the one that has `lent` of it, those associations end, the largest holder first. What they hold has been acknowledged for good, so
    /// nothing less gives it back (RFC 9260 §6.2).
    fn recover_reserve(&mut self, now: Instant, lent: usize) {
        if now < self.supplies.turns.recovery {
            return;
        }
        self.supplies.turns.recovery = now + RECOVERY_PAUSE;
        let holder = |index: usize| {
            let standing = self.standing(index)?;
            let keeps = standing.lent > 0 && standing.lost > 0 && standing.held_up && !standing.has_turn;
            keeps.then_some((core::cmp::Reverse(standing.lent), index))
        };
        let mut holders: Vec<_> = self.table.indices().into_iter().filter_map(holder).collect();
        holders.sort_unstable();
        for (_, index) in holders {
            if self.supplies.buffers.memory().can_lend(self.config.limits.receive_buffer, lent) {
                return;
            }
            if let Some(association) = self.table.touch(index) {
                association.give_up_for_memory(now);
            }
        }
    }

    fn standing(&self, index: usize) -> Option<Standing> {
        self.table.get(index)?.standing()
    }
}
