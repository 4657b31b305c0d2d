//! What goes out again by another path although it is on its way by the first one, where it still takes up room.

use core::time::Duration;
use std::collections::VecDeque;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::Outstanding;
use crate::interface::PathId;
use crate::send::chunk::{ChunkState, Loss, Misses};

/// What is kept for the sake of several paths beside the states of chunks.
#[derive(Debug, Default)]
pub(super) struct SeveralPaths {
    /// Chunks of urgent messages that may still have copies, lowest TSN first (`outstanding/urgent.rs`).
    pub(super) urgent: VecDeque<Tsn>,
    /// What goes out again by another path although it is on its way.
    pub(super) late: SmallVec<[Late; 4]>,
    /// When what had arrived behind a gap was last acknowledged for good.
    bridged_at: Instant,
}

/// What was taken from a path at one time.
#[derive(Debug)]
pub(super) struct Late {
    pub(super) path: PathId,
    /// When the last of it had been sent.
    sent_at: Instant,
    /// As on the wire.
    bytes: usize,
}

impl Outstanding {
    /// What was sent on `path` up to `until` and is in flight is to go out again by another. It counts for the window of the path until
    /// it has left that.
    pub(in crate::send) fn move_late(&mut self, path: PathId, until: Instant) {
        let mut late = Late { path, sent_at: Instant::ZERO, bytes: 0 };
        for index in 0..self.chunks.len() {
            if self.is_in_flight_on(index, path) && self.chunks[index].sent_at <= until {
                let chunk = &mut self.chunks[index];
                chunk.misses = Misses::default();
                late.sent_at = late.sent_at.max(chunk.sent_at);
                late.bytes += chunk.wire_len();
                self.set_state(index, ChunkState::Lost(Loss::Late));
            }
        }
        self.several.late.push(late);
    }

    /// Bytes on the wire that were taken from `path` and may still be on their way there.
    pub(super) fn late_on(&self, path: PathId) -> usize {
        self.several.late.iter().filter(|late| late.path == path).map(|late| late.bytes).sum()
    }

    /// What was sent on `path` at `newest` has arrived: what was sent before has left it.
    pub(in crate::send) fn forget_late_before(&mut self, path: PathId, newest: Option<Instant>) {
        self.several
            .late
            .retain(|late| late.path != path || newest.is_none_or(|newest| late.sent_at >= newest));
    }

    /// Nothing stays on `path` for longer than `rto`.
    pub(in crate::send) fn forget_late(&mut self, path: PathId, now: Instant, rto: Duration) {
        self.several.late.retain(|late| late.path != path || late.sent_at + rto > now);
    }

    /// What had arrived behind a gap has been acknowledged for good.
    pub(in crate::send) fn note_bridged(&mut self, now: Instant) {
        self.several.bridged_at = now;
    }

    /// When that last happened.
    pub(in crate::send) fn bridged_at(&self) -> Instant {
        self.several.bridged_at
    }
}
