//! Copies of a little DATA by a path in doubt, where the only other way is much slower.
//!
//! What was in flight on a path is lost, and new data avoids it until a HEARTBEAT has been answered. That takes a round trip of the path, and what has
//! gone by a slow one meanwhile takes many: a question in a conversation is answered half a second later although the path works. While little is
//! outstanding it goes by both.

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::chunk::Chunk;
use super::copies::round_trip;
use super::flow::Flow;
use super::sender::Sender;
use super::turn::{Train, Turn, overhead};
use crate::interface::PathId;
use crate::path::{Path, Paths};

/// More chunks than this are no longer a little.
const FEW: usize = 8;

/// The other way is much slower if an answer takes so many times as long there.
const MUCH_SLOWER: u32 = 2;

impl Sender {
    /// Whether such copies may leave now.
    pub(super) fn has_copy_to_doubted(&self, now: Instant, paths: &Paths) -> bool {
        self.doubted(paths)
            .is_some_and(|path| !self.to_copy_to_doubted(now, path, path.packet_size()).is_empty())
    }

    /// A packet with copies of what goes by another path, for a path in doubt that may bring it much sooner.
    pub(super) fn copy_to_doubted(&mut self, turn: &mut Turn<'_>) -> Option<Train> {
        let path = self.doubted(turn.paths)?;
        let chosen = self.to_copy_to_doubted(turn.now, path, path.packet_size() - overhead(turn.auth));
        if chosen.is_empty() { None } else { self.write_copies(path, &chosen, turn) }
    }

    fn doubted<'a>(&self, paths: &'a Paths) -> Option<&'a Path> {
        let little = !self.outstanding.is_empty() && self.outstanding.len() <= FEW && self.streams.is_empty();
        paths.iter().find(|path| path.is_usable() && path.doubt.is_suspect()).filter(|_| little)
    }

    /// What is in flight on paths that are much slower than `path`, if it fits one packet with `room` for so many bytes: once in a round trip all of it, and
    /// what leaves meanwhile.
    fn to_copy_to_doubted(&self, now: Instant, path: &Path, room: usize) -> SmallVec<[Tsn; 8]> {
        let none = SmallVec::new();
        let copied = self.flow(path.id).and_then(|flow| flow.beside().copies.last());
        let least = |id: PathId| self.flow(id).and_then(Flow::least_wait);
        let Some(quick) = least(path.id).filter(|_| copied != Some(now)) else { return none };
        let lately = copied.is_some_and(|at| now < at + round_trip(path));
        let slower = |by: PathId| least(by).is_some_and(|slow| slow > quick * MUCH_SLOWER);
        let wanted = |chunk: &Chunk| {
            chunk.is_in_flight()
                && chunk.path != path.id
                && slower(chunk.path)
                && (!lately || chunk.sent_at == now)
        };
        let all = (0..self.outstanding.len()).filter_map(|index| Some((index, self.outstanding.at(index)?)));
        let chosen = all.filter(|(_, chunk)| wanted(chunk));
        let bytes: usize = chosen.clone().map(|(_, chunk)| chunk.wire_len()).sum();
        if bytes > room { none } else { chosen.map(|(index, _)| self.outstanding.tsn(index)).collect() }
    }
}
