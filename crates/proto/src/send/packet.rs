//! One packet of new data: how messages are cut into chunks and chunks are bundled (RFC 9260 §6.1, §6.9, §6.10).

use core::time::Duration;

use whimbrel_wire::{DATA_HEADER_LEN, chunk_type};

use super::chunk::data_chunk_len;
use super::sender::Sender;
use super::turn::{Turn, overhead};
use crate::auth::chunk_writer::ChunkWriter;
use crate::auth::session::Auth;
use crate::path::{Path, Paths};

/// A message is not cut just to fill a packet if less user data than this would fit.
const MIN_FRAGMENT: usize = 256;

/// Chunks sent and not acknowledged, at most: per stream no more than 2¹⁶ − 1 ordered messages may be in the send
/// window (RFC 9260 §6.1), and gap ack blocks reach no further.
const MAX_OUTSTANDING: usize = 65_534;

/// Bytes a second. Where more flow by a path, chunks that are cut for the smallest packets cost the hosts more than one in a hundred
/// instructions of a processor, and networks that carry so much carry packets of a decent size.
const FAST: u64 = 20_000_000;

const NANOS: u128 = 1_000_000_000;

/// Many queues are longer.
const SHORT_ROUND_TRIP: Duration = Duration::from_millis(5);

/// What is cut for while no path is confirmed, and nothing leaves.
const LEAST_PACKET: usize = 512;

impl Sender {
    /// Writes a packet of at most `limit` bytes; `None` if not even one chunk goes in. No chunk holds more than `fragment`
    /// bytes of user data.
    pub(super) fn write_packet(
        &mut self,
        path: &Path,
        limit: usize,
        fragment: usize,
        turn: &mut Turn<'_>,
    ) -> Option<usize> {
        let (auth, start) = (turn.auth, turn.out.len());
        self.next_piece_len(limit.saturating_sub(overhead(auth)), fragment, true)?;
        let mut writer = ChunkWriter::new(turn.auth, turn.out, turn.header, limit);
        turn.sack.bundle(auth, &mut writer, path.route, 0);
        let mut flight = self.outstanding.on_the_way(path.id);
        let cwnd = self.flow(path.id)?.congestion.cwnd();
        let (first_tsn, mut first) = (self.outstanding.next_tsn(), true);
        while let Some(len) = self.next_piece_len(writer.room_for(auth, chunk_type::DATA), fragment, first) {
            let mut piece = self.streams.take(len).expect("a piece was announced");
            self.window.probe_allowed = false;
            // RFC 9260 §6.1: the I bit where the sender cannot go on without the SACK.
            let after = flight + data_chunk_len(len);
            let waits = flight < cwnd && after >= cwnd || turn.shuts_down && self.streams.is_empty();
            piece.immediate |= waits && self.asks_for_sacks();
            let urgent = piece.urgent;
            let (tsn, chunk) = self.outstanding.push(piece, path.id, turn.now, first);
            let fits = writer.push(auth, &chunk.data(tsn));
            debug_assert!(fits, "the room was measured");
            (flight, first) = (after, false);
            if urgent {
                self.note_urgent(tsn);
            }
        }
        writer.finish(auth, turn.checksum);
        let bytes = turn.out.len() - start;
        self.outstanding.note_packet(first_tsn, bytes);
        Some(bytes)
    }

    /// Bytes of user data in the next chunk, given the room left in the packet; `None` if no chunk goes in.
    pub(super) fn next_piece_len(&mut self, room: usize, fragment: usize, first: bool) -> Option<usize> {
        if self.outstanding.len() >= MAX_OUTSTANDING {
            return None;
        }
        let head = self.streams.head_len()?;
        let room = room.checked_sub(DATA_HEADER_LEN + 1)? + 1;
        let whole = head <= fragment;
        let len = if whole && (head <= room || !self.streams.has_begun()) {
            // A message that fits a packet of its own is not cut, it waits for one.
            (head <= room).then_some(head)?
        } else {
            let len = (room & !3).min(fragment);
            (first || len >= MIN_FRAGMENT).then_some(len)?
        };
        let rwnd = self.window.left(self.outstanding.in_flight_payload());
        if len <= rwnd {
            return Some(len);
        }
        // Sender silly window avoidance (RFC 9260 §6.1 A, RFC 1122 §4.2.3.4): a smaller piece only if it fills at
        // least half of the largest window ever seen, or as a probe.
        let squeezed = rwnd & !3;
        let worthwhile = squeezed * 2 >= self.window.largest || self.window.probe_allowed;
        // Nothing but the rest of a message that has begun may ever open the window: the peer may hold it until it has all.
        let may_be_cut = !whole || self.streams.has_begun();
        if may_be_cut && squeezed > 0 && first && worthwhile {
            return Some(squeezed);
        }
        (first && self.window.probe_allowed).then_some(len)
    }

    /// The most user data in one chunk: what fits every path that the chunk may have to be retransmitted on (AMDCS,
    /// RFC 9260 §7.3), and the smaller packets that the paths may have shrunk to by then.
    pub(super) fn fragment_size(&self, paths: &Paths, auth: &Auth) -> usize {
        let usable = || paths.iter().filter(|path| path.is_trusted());
        let (carried, most): (fn(&Path) -> usize, usize) = match self.cut_for() {
            None => (Path::packet_size, usize::MAX),
            Some(bytes) if usable().any(|path| self.is_fast(path)) => (|path| path.pmtu.proved(), bytes),
            Some(bytes) => (|path| path.pmtu.least(), bytes),
        };
        let smallest = usable().map(carried).min().unwrap_or(LEAST_PACKET).min(most);
        smallest - overhead(auth) - DATA_HEADER_LEN
    }

    /// Whether so much flows by the path that smaller chunks would be a burden. Where the round trip is short, what is in flight does not tell alone: when a
    /// transfer begins, it is for a round trip that has been measured without the queue which it fills. So a good part of it must have arrived in some
    /// second there.
    fn is_fast(&self, path: &Path) -> bool {
        let in_a_round_trip = |srtt: Duration| srtt.as_nanos() * u128::from(FAST) / NANOS;
        let flight = self.outstanding.flight_size(path.id) as u128;
        let arrives = |srtt| srtt > SHORT_ROUND_TRIP || path.supervision.quality.now().carries > FAST / 4;
        path.rto.srtt().is_some_and(|srtt| flight > in_a_round_trip(srtt) && arrives(srtt))
    }
}
