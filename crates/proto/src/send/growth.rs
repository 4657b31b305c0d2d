//! Which SACKs let the congestion window of a path grow: the trait, and one rule per file.
//!
//! RFC 4960 §7.2.1 demands that the Cumulative TSN Ack Point advances, RFC 9260 §7.2.1 does not any more. With several paths it is held back by the slowest of
//! them, and each path needs a point of its own (cwnd update for CMT, CUC).

mod acknowledged;
mod cumulative_point;
mod cumulative_point_always;
mod path_point;
mod path_points;

use core::fmt::Debug;

use whimbrel_wire::Tsn;

use self::acknowledged::Acknowledged;
use self::cumulative_point::CumulativePoint;
use self::cumulative_point_always::CumulativePointAlways;
use self::path_point::PathPoint;
use self::path_points::PathPoints;
use super::chunk::{Chunk, ChunkState};
use super::outstanding::Outstanding;
use crate::config::WindowGrowth;
use crate::interface::PathId;

/// Says whether a window may grow.
pub(super) trait Growth: Debug + Send {
    /// Whether the window of `path` may grow for a SACK that newly acknowledges something there.
    fn grows(&mut self, path: PathId, advance: &Advance<'_>) -> bool;

    /// Whether the window of the one path that carries data may grow, for a SACK that has advanced the Cumulative TSN Ack Point or not.
    fn grows_on_one_path(&self, _cumulative: bool) -> bool {
        true
    }

    /// `path` is no more.
    fn remove_path(&mut self, _path: PathId) {}
}

/// How far a SACK has brought things.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advance<'a> {
    /// It has advanced the Cumulative TSN Ack Point.
    pub(super) cumulative: bool,
    /// The lowest TSN that was in flight on the path before.
    pub(super) lowest: Option<Tsn>,
    pub(super) outstanding: &'a Outstanding,
}

impl Advance<'_> {
    /// Whether the lowest TSN that was in flight on the path has been acknowledged.
    pub(super) fn of_path(&self) -> bool {
        self.lowest.is_some_and(|lowest| self.is_acknowledged(lowest))
    }

    /// Whether this TSN, which has been sent, has been acknowledged, for good or by a gap ack block.
    pub(super) fn is_acknowledged(&self, tsn: Tsn) -> bool {
        let chunk = self.outstanding.index_of(tsn).and_then(|index| self.outstanding.at(index));
        chunk.is_none_or(|chunk| chunk.state == ChunkState::GapAcknowledged)
    }

    /// The lowest TSN from `from` on that is in flight and has been sent once, on `path`.
    fn lowest_sent_once(&self, path: PathId, from: Tsn) -> Option<Tsn> {
        let first = self.outstanding.index_of(from).unwrap_or(0);
        let once = |chunk: &Chunk| chunk.path == path && chunk.is_in_flight() && !chunk.retransmitted;
        let index = (first..self.outstanding.len()).find(|&at| self.outstanding.at(at).is_some_and(once))?;
        Some(self.outstanding.tsn(index))
    }
}

/// The rule that is asked for.
pub(super) fn rule(asked: WindowGrowth) -> Box<dyn Growth> {
    match asked {
        WindowGrowth::Acknowledged => Box::new(Acknowledged),
        WindowGrowth::CumulativePoint => Box::new(CumulativePoint),
        WindowGrowth::CumulativePointAlways => Box::new(CumulativePointAlways),
        WindowGrowth::PathPoint => Box::<PathPoint>::default(),
        WindowGrowth::PathPoints => Box::<PathPoints>::default(),
    }
}

#[cfg(test)]
#[path = "growth_tests.rs"]
mod tests;
