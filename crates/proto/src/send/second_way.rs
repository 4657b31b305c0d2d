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
use crate::auth::session::Auth;
use crate::interface::PathId;
use crate::path::{Path, Paths};

/// More chunks than this are no longer a little.
const FEW: usize = 8;

/// The other way is much slower if an answer takes so many times as long there.
const MUCH_SLOWER: u32 = 2;

/// Chunks for one packet.
type Chosen = SmallVec<[Tsn; 8]>;

impl Sender {
    /// Whether such copies may leave now.
    pub(super) fn has_copy_to_doubted(&self, now: Instant, paths: &Paths, auth: &Auth) -> bool {
        self.copies_to_doubted(now, paths, auth).is_some()
    }

    /// A packet with copies of what goes by another path, for a path in doubt that may bring it much sooner.
    pub(super) fn copy_to_doubted(&mut self, turn: &mut Turn<'_>) -> Option<Train> {
        let (path, chosen) = self.copies_to_doubted(turn.now, turn.paths, turn.auth)?;
        self.write_copies(path, &chosen, turn)
    }

    fn copies_to_doubted<'a>(
        &self,
        now: Instant,
        paths: &'a Paths,
        auth: &Auth,
    ) -> Option<(&'a Path, Chosen)> {
        if self.outstanding.is_empty() || self.outstanding.len() > FEW || !self.streams.is_empty() {
            return None;
        }
        let doubted = paths.iter().filter(|path| path.is_usable() && path.doubt.is_suspect());
        let mut copies = doubted.map(|path| (path, self.to_copy_to_doubted(now, path, auth)));
        copies.find(|(_, chosen)| !chosen.is_empty())
    }

    /// What is in flight on paths that are much slower than `path`, lowest TSN first, as much as fits one packet and as the window has room for beside other copies: once in a
    /// round trip all of it, and what leaves meanwhile.
    fn to_copy_to_doubted(&self, now: Instant, path: &Path, auth: &Auth) -> Chosen {
        let none = Chosen::new();
        let Some(flow) = self.flow(path.id) else { return none };
        let copies = &flow.beside().copies;
        let least = |id: PathId| self.flow(id).and_then(Flow::least_wait);
        let Some(quick) = least(path.id).filter(|_| copies.last() != Some(now)) else { return none };
        let lately = copies.last().is_some_and(|at| now < at + round_trip(path));
        let on_the_way = if lately { copies.bytes() } else { 0 };
        if !flow.lets_out(self.outstanding.on_the_way(path.id) + on_the_way) {
            return none;
        }
        let slower = |by: PathId| least(by).is_some_and(|slow| slow > quick * MUCH_SLOWER);
        let wanted = |chunk: &Chunk| {
            let new = !lately || chunk.sent_at == now;
            chunk.is_in_flight() && chunk.path != path.id && slower(chunk.path) && new
        };
        let all = (0..self.outstanding.len()).filter_map(|index| Some((index, self.outstanding.at(index)?)));
        let mut room = path.packet_size() - overhead(auth);
        let fits = |(_, chunk): &(usize, &Chunk)| {
            let fits = chunk.wire_len() <= room;
            room -= if fits { chunk.wire_len() } else { 0 };
            fits
        };
        let chosen = all.filter(|(_, chunk)| wanted(chunk)).take_while(fits);
        chosen.map(|(index, _)| self.outstanding.tsn(index)).collect()
    }
}
