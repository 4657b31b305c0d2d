//! Round trips of one path among several (RFC 9260 §6.3.1): a SACK goes by the path of the last DATA, so that what was sent on a slow path
//! is told of by a quick one first. The time until then is no round trip of either.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_path::LossRate;
use whimbrel_wire::Tsn;
use whimbrel_wire::draft::NrSack;

use super::Sender;
use super::copies::Copies;
use super::flow::Flow;
use crate::interface::PathId;

/// What one path is like beside others.
#[derive(Debug, Default)]
pub(super) struct BesideOthers {
    /// A chunk that was timed, whose SACK has come by another path.
    told_elsewhere: Option<ToldElsewhere>,
    /// Round trips of chunks that were sent once, smoothed, for controllers that look at other paths.
    smoothed: Option<Duration>,
    /// The share of packets that are lost.
    pub(super) loss_rate: LossRate,
    /// What has gone out as copies.
    pub(super) copies: Copies,
    /// Bytes a second that the path can carry, as packet trains have told.
    pub(super) estimate: Option<u64>,
    pub(super) growth: Growth,
}

/// Whether what a path carries grows, as it does while it starts.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// Bytes a second, and when they had grown to that by a quarter.
    last: Option<(u64, Instant)>,
}

impl Growth {
    /// Round trips in which a path that starts has grown.
    const ROUNDS: u32 = 5;

    pub(super) fn note(&mut self, now: Instant, capacity: u64) {
        let before = self.last.map_or(0, |(capacity, _)| capacity);
        if self.last.is_none() || capacity > before.saturating_add(before / 4) {
            self.last = Some((capacity, now));
        }
    }

    /// Whether it has of late, or has not begun; a round trip takes `least`.
    pub(super) fn goes_on(&self, now: Instant, least: Duration) -> bool {
        self.last.is_none_or(|(_, at)| now <= at + least * Self::ROUNDS)
    }
}

impl BesideOthers {
    /// Nothing is in flight any more.
    pub(super) fn forget_flight(&mut self) {
        self.told_elsewhere = None;
    }

    /// A round trip, smoothed; 0 before there was any.
    pub(super) fn round_trip(&self) -> Duration {
        self.smoothed.unwrap_or_default()
    }
}

/// A timed chunk that has been acknowledged by a SACK that came by another path: the one for it is still on its way.
#[derive(Clone, Copy, Debug)]
struct ToldElsewhere {
    tsn: Tsn,
    sent_at: Instant,
    told_at: Instant,
}

/// The SACK of a path takes no longer than this many times what the quicker one took. If none has come by then, the peer sends them another way.
const PATIENCE: u32 = 4;

impl Sender {
    /// All that is in flight has gone out once more at `sent_at` as it was: when it is acknowledged that tells no round trip (RFC 9260 §6.3.1 C5).
    pub(crate) fn sent_again(&mut self, sent_at: Instant) {
        self.outstanding.sent_again(sent_at);
        for flow in &mut self.flows {
            flow.timed = None;
            flow.last_data = flow.last_data.map(|_| sent_at);
        }
    }
}

impl Flow {
    /// Something has arrived; a chunk that was sent once has taken so long.
    pub(super) fn note_round_trip(&mut self, now: Instant, took: Option<Duration>) {
        if let Some(took) = took {
            let smoothed = &mut self.beside_mut().smoothed;
            *smoothed = Some(smoothed.map_or(took, |before| (before * 7 + took) / 8));
        }
        let capacity = self.capacity();
        self.beside_mut().growth.note(now, capacity);
    }

    /// The chunk that is timed has been acknowledged by a SACK that came by `by`: when it left, if that makes a round trip.
    pub(super) fn take_timed(&mut self, now: Instant, by: Option<PathId>) -> Option<Instant> {
        let (tsn, sent_at) = self.timed.take()?;
        if by == Some(self.path) {
            self.beside_mut().told_elsewhere = None;
            return Some(sent_at);
        }
        self.beside_mut().told_elsewhere.get_or_insert(ToldElsewhere { tsn, sent_at, told_at: now });
        None
    }

    /// A SACK has come by this path: when the chunk left that it was sent for, if another one has told of that before.
    pub(super) fn take_told_elsewhere(&mut self, sack: &NrSack<'_>) -> Option<Instant> {
        self.beside_mut().told_elsewhere.take_if(|told| covers(sack, told.tsn)).map(|told| told.sent_at)
    }

    /// A SACK has come by another path. What that took is all there is to measure if no SACK comes by this one: when the chunk left, and when
    /// it was told of.
    pub(super) fn give_up_own_sack(&mut self, now: Instant) -> Option<(Instant, Instant)> {
        let over = |told: &mut ToldElsewhere| {
            let took = told.told_at.saturating_since(told.sent_at);
            now > told.sent_at + took * PATIENCE
        };
        self.beside_mut().told_elsewhere.take_if(over).map(|told| (told.sent_at, told.told_at))
    }
}

/// Whether a SACK acknowledges `tsn`.
fn covers(sack: &NrSack<'_>, tsn: Tsn) -> bool {
    let cumulative = sack.sack.cumulative_tsn_ack;
    tsn.at_or_before(cumulative)
        || sack.sack.gap_ack_blocks().chain(sack.non_renegable_blocks()).any(|block| {
            let offset = tsn.distance_from(cumulative);
            (u32::from(block.start)..=u32::from(block.end)).contains(&offset)
        })
}

#[cfg(test)]
#[path = "round_trip_tests.rs"]
mod tests;
