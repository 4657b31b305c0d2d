//! One association as its user sees it.

use std::collections::{BTreeSet, VecDeque};

use whimbrel_machine::Instant;
use whimbrel_proto::{AssociationId, PathId};

/// So many moves of an association are remembered.
const MOVES: usize = 64;

/// How far the user has come with an association.
pub(crate) struct Talk {
    pub(crate) incarnation: usize,
    pub(crate) association: AssociationId,
    /// The next message of the plan.
    pub(crate) next: u32,
    /// The pause before `next` is over.
    pub(crate) rested: bool,
    pub(crate) resting: bool,
    /// Refused for lack of room, to be offered again.
    pub(crate) again: VecDeque<u32>,
    pub(crate) full: bool,
    /// No more may be sent.
    pub(crate) closed: bool,
    pub(crate) asked_to_close: bool,
    pub(crate) held: usize,
    pub(crate) reading: bool,
    pub(crate) paths: BTreeSet<PathId>,
    /// When the last moves were made, to another path in use.
    moves: VecDeque<Instant>,
    pub(crate) last_event: Instant,
}

impl Talk {
    pub(crate) fn new(incarnation: usize, association: AssociationId, now: Instant) -> Self {
        Self {
            incarnation,
            association,
            next: 0,
            rested: false,
            resting: false,
            again: VecDeque::new(),
            full: false,
            closed: false,
            asked_to_close: false,
            held: 0,
            reading: false,
            paths: BTreeSet::new(),
            moves: VecDeque::new(),
            last_event: now,
        }
    }

    /// It goes on by another path.
    pub(crate) fn note_move(&mut self, now: Instant) {
        self.moves.truncate(MOVES - 1);
        self.moves.push_front(now);
    }

    /// At how many instants it has moved since then, up to [`MOVES`]. Readings of several signals may come at one, and each be followed.
    pub(crate) fn moves_since(&self, since: Instant) -> usize {
        self.moves.iter().filter(|at| **at >= since).collect::<BTreeSet<_>>().len()
    }
}
