//! DATA goes out: retransmissions first, then new data (RFC 9260 §6.1, §6.9, §6.10).

use core::time::Duration;

use smallvec::SmallVec;
use whimbrel_wire::{DATA_HEADER_LEN, Tsn, chunk_type};

use super::chunk_writer::ChunkWriter;
use super::context::Context;
use super::open::Open;
use super::output::SACK_ROOM;
use super::primary_change::Permit;
use super::shutdown::Closing;
use crate::interface::PathId;
use crate::path::Path;
use crate::send::outstanding::{Loss, Outstanding, data_chunk_len};
use crate::timers::TimerId;

/// A message is not cut just to fill a packet if less user data than this would fit.
const MIN_FRAGMENT: usize = 256;

/// Chunks sent and not acknowledged, at most: per stream no more than 2¹⁶ − 1 ordered messages may be in the send
/// window (RFC 9260 §6.1), and gap ack blocks reach no further.
const MAX_OUTSTANDING: usize = 65_534;

/// Bytes in a train at most: what one UDP datagram, and so one GSO send, can hold.
const MAX_TRAIN: usize = 65_000;

/// One packet of a train as it turned out.
enum Packet {
    /// Nothing could be sent.
    None,
    /// Written; its length in bytes.
    Written(usize),
}

impl Open {
    /// The next train of DATA packets: its path and segment size.
    pub(crate) fn poll_data(
        &mut self,
        context: &mut Context<'_>,
        max_segments: usize,
        out: &mut Vec<u8>,
    ) -> Option<(PathId, usize)> {
        if matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_)) {
            return None;
        }
        let permit = self.primary_change.permits(self);
        if permit == Permit::Probe {
            return self.poll_probe(context, out);
        }
        if permit == Permit::Nothing {
            return None;
        }
        if self.outstanding.has_lost() {
            let sent = self.poll_retransmission(context, out);
            if sent.is_some() || !context.config.retransmission_order.lets_new_data_pass() {
                return sent;
            }
        }
        if self.streams.is_empty() || permit == Permit::Retransmissions {
            return None;
        }
        let path = self.path_choice.for_new_data(&self.paths)?;
        self.notice_path_in_use(context);
        self.poll_new_data(context, path, max_segments, out)
    }

    // ---- retransmission

    /// A packet of lost chunks for the first path that has room (RFC 9260 §6.1 C).
    fn poll_retransmission(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Option<(PathId, usize)> {
        let candidates: SmallVec<[PathId; 4]> =
            self.paths.iter().filter(|path| path.forced || path.may_send()).map(|path| path.id).collect();
        candidates.into_iter().find_map(|path| self.retransmit_on(context, path, out).map(|len| (path, len)))
    }

    /// The lost chunks, lowest TSN first, that belong on `path` and fit one packet.
    fn lost_for(&self, path: PathId, room: usize) -> SmallVec<[(Tsn, Loss); 16]> {
        let mut chosen = SmallVec::new();
        let mut used = 0;
        let mut target: Option<((PathId, Loss), Option<PathId>)> = None;
        for (tsn, chunk, loss) in self.outstanding.lost() {
            let key = (chunk.path, loss);
            let destination = match target {
                Some((known, destination)) if known == key => destination,
                _ => self.retransmission_path(chunk.path, loss),
            };
            target = Some((key, destination));
            if destination != Some(path) {
                continue;
            }
            // A chunk too large for the packet goes alone: it cannot be cut again (RFC 9260 §6.9).
            if used > 0 && used + chunk.wire_len() > room {
                break;
            }
            used += chunk.wire_len();
            chosen.push((tsn, loss));
        }
        chosen
    }

    /// Where a lost chunk is retransmitted (RFC 9260 §6.4).
    pub(crate) fn retransmission_path(&self, sent_on: PathId, loss: Loss) -> Option<PathId> {
        match loss {
            Loss::Missing => self.retransmission_choice.for_fast_retransmission(&self.paths, sent_on),
            Loss::Timeout => self.retransmission_choice.for_retransmission(&self.paths, sent_on),
        }
    }

    fn retransmit_on(&mut self, context: &mut Context<'_>, id: PathId, out: &mut Vec<u8>) -> Option<usize> {
        let path = self.paths.get(id)?;
        let limit = path.packet_size();
        let header = self.data_header_len();
        let chosen = self.lost_for(id, limit - header);
        let &(first, _) = chosen.first()?;
        let first_len = self.outstanding.get(first)?.wire_len();
        let limit = limit.max(header + first_len);
        let checksum = self.checksum();
        let start = out.len();
        let mut writer = ChunkWriter::new(out, context.header(self.peer.tag), limit);
        // Control chunks come before DATA (RFC 9260 §6.10), and a full packet has no room for them.
        if writer.room_for(&self.auth, chunk_type::DATA) >= first_len + self.sack_room() {
            let reserve = first_len + self.auth.overhead(chunk_type::DATA);
            self.bundle_sack(context, id, &mut writer, reserve);
        }
        let (mut chunks, mut sent) = (0, 0);
        for &(tsn, loss) in &chosen {
            let Some(chunk) = self.outstanding.get(tsn) else { break };
            let mut data = Outstanding::data(tsn, chunk);
            // The answer is urgent after a timeout (RFC 7053 §4).
            data.immediate |= loss == Loss::Timeout;
            if !writer.push(&self.auth, &data) {
                break;
            }
            chunks += 1;
            sent += chunk.wire_len();
            let payload = chunk.payload.len();
            self.outstanding.retransmit(tsn, id, context.now);
            self.window.rwnd = self.window.rwnd.saturating_sub(payload);
        }
        writer.finish(&self.auth, checksum);
        self.note_retransmitted(context, id, first, chunks, sent);
        Some(out.len() - start)
    }

    fn note_retransmitted(
        &mut self,
        context: &mut Context<'_>,
        id: PathId,
        first: Tsn,
        chunks: u64,
        bytes: usize,
    ) {
        // Karn's rule: no RTT from a chunk at or after a retransmitted one (RFC 9260 §6.3.1 C5).
        for path in self.paths.iter_mut() {
            if path.timed.is_some_and(|(tsn, _)| first.at_or_before(tsn)) {
                path.timed = None;
            }
        }
        let Some(path) = self.paths.get(id) else { return };
        let wait =
            if self.window.probes > 0 { self.probe_interval(context, path) } else { path.rto.current() };
        let Some(path) = self.paths.get_mut(id) else { return };
        path.flight_size += bytes;
        path.utilised = path.flight_size;
        path.forced = false;
        path.last_data = Some(context.now);
        path.counters.data_retransmitted += chunks;
        // RFC 9260 §6.1: restart T3-rtx if the earliest outstanding chunk of the path is retransmitted.
        let timer = TimerId::T3Retransmit(id);
        let earliest = path.earliest.is_none_or(|earliest| first.precedes(earliest));
        if earliest {
            path.earliest = Some(first);
        }
        if earliest || !context.timers.is_set(timer) {
            context.timers.set(timer, context.now + wait);
        }
    }

    // ---- new data

    /// One packet of new data on the primary path, whatever the windows say.
    fn poll_probe(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Option<(PathId, usize)> {
        let id = self.paths.primary();
        let (limit, fragment) = (self.paths.get(id)?.packet_size(), self.fragment_size());
        let first = self.outstanding.next_tsn();
        self.window.probe_allowed = true;
        let Packet::Written(len) = self.write_data_packet(context, id, limit, fragment, true, out) else {
            return None;
        };
        self.with_primary_change(|rule, _| rule.on_probe_sent(context, id, first));
        Some((id, len))
    }

    fn poll_new_data(
        &mut self,
        context: &mut Context<'_>,
        id: PathId,
        max_segments: usize,
        out: &mut Vec<u8>,
    ) -> Option<(PathId, usize)> {
        let fragment = self.fragment_size();
        let path = self.paths.get_mut(id)?;
        path.decay_if_idle(context.now);
        let full = path.packet_size();
        let mut segment = 0;
        for number in 0..max_segments {
            if !self.paths.get(id)?.may_send() {
                break;
            }
            if number > 0 && (!self.fits_train(segment, full) || (number + 1) * segment > MAX_TRAIN) {
                break;
            }
            let limit = if number == 0 { full } else { segment };
            match self.write_data_packet(context, id, limit, fragment, number == 0, out) {
                Packet::None => break,
                Packet::Written(len) if number == 0 => segment = len,
                Packet::Written(len) if len < segment => break,
                Packet::Written(_) => {}
            }
        }
        (segment > 0).then_some((id, segment))
    }

    /// Whether the next packet can continue a train of `segment`-byte packets without being cut short by it.
    fn fits_train(&mut self, segment: usize, full: usize) -> bool {
        let Some(head) = self.streams.head_len() else { return false };
        segment == full || self.data_header_len() + data_chunk_len(head) <= segment
    }

    /// The most user data in one chunk: what fits every path the chunk may have to be retransmitted on
    /// (AMDCS, RFC 9260 §7.3).
    pub(crate) fn fragment_size(&self) -> usize {
        let usable = self.paths.iter().filter(|path| path.confirmed);
        let smallest = usable.map(|path| path.packet_size() - self.data_header_len()).min();
        smallest.unwrap_or(512) - DATA_HEADER_LEN
    }

    /// Room to leave for a SACK, and for AUTH if that is for the SACK's sake alone.
    fn sack_room(&self) -> usize {
        let of_data = self.auth.overhead(chunk_type::DATA);
        SACK_ROOM + self.auth.overhead(chunk_type::SACK).saturating_sub(of_data)
    }

    fn write_data_packet(
        &mut self,
        context: &mut Context<'_>,
        id: PathId,
        limit: usize,
        fragment: usize,
        bundle_sack: bool,
        out: &mut Vec<u8>,
    ) -> Packet {
        if self.next_piece_len(limit.saturating_sub(self.data_header_len()), fragment, true).is_none() {
            self.watch_closed_window(context);
            return Packet::None;
        }
        let checksum = self.checksum();
        let start = out.len();
        let mut writer = ChunkWriter::new(out, context.header(self.peer.tag), limit);
        if bundle_sack {
            self.bundle_sack(context, id, &mut writer, 0);
        }
        let first = self.outstanding.next_tsn();
        let mut bytes = 0;
        let mut chunks = 0;
        while let Some(len) =
            self.next_piece_len(writer.room_for(&self.auth, chunk_type::DATA), fragment, chunks == 0)
        {
            bytes += self.write_chunk(context, id, len, bytes, &mut writer);
            chunks += 1;
        }
        if writer.is_empty() {
            writer.discard();
            return Packet::None;
        }
        writer.finish(&self.auth, checksum);
        if chunks > 0 {
            self.note_sent(context, id, first, chunks, bytes);
        }
        Packet::Written(out.len() - start)
    }

    /// User data in the next chunk, given the room left in the packet; `None` if no chunk goes in.
    pub(crate) fn next_piece_len(&mut self, room: usize, fragment: usize, first: bool) -> Option<usize> {
        if self.outstanding.len() >= MAX_OUTSTANDING {
            return None;
        }
        let head = self.streams.head_len()?;
        let room = room.checked_sub(DATA_HEADER_LEN + 1)? + 1;
        let whole = head <= fragment;
        let len = if whole {
            // Fits a packet of its own: it is not cut, it waits for one.
            (head <= room).then_some(head)?
        } else {
            let len = (room & !3).min(fragment);
            (first || len >= MIN_FRAGMENT).then_some(len)?
        };
        let rwnd = self.window.rwnd;
        if len <= rwnd {
            return Some(len);
        }
        // Sender silly window avoidance (RFC 9260 §6.1 A, RFC 1122 §4.2.3.4): a smaller piece only if it fills at
        // least half of the largest window ever seen, or as a probe.
        let squeezed = rwnd & !3;
        let worthwhile = squeezed * 2 >= self.window.largest || self.window.probe_allowed;
        if !whole && squeezed > 0 && first && worthwhile {
            return Some(squeezed);
        }
        (first && self.window.probe_allowed).then_some(len)
    }

    /// Writes one new chunk; returns its length on the wire. `before` are the bytes of this packet so far.
    fn write_chunk(
        &mut self,
        context: &mut Context<'_>,
        id: PathId,
        len: usize,
        before: usize,
        writer: &mut ChunkWriter<'_>,
    ) -> usize {
        let mut piece = self.streams.take(len).expect("a piece was announced");
        let wire_len = data_chunk_len(piece.payload.len());
        self.window.rwnd = self.window.rwnd.saturating_sub(piece.payload.len());
        self.window.probe_allowed = false;
        // RFC 9260 §6.1: the I bit where the sender cannot go on without the SACK.
        if let Some(path) = self.paths.get(id) {
            let flight = path.flight_size + before + wire_len;
            piece.immediate |=
                flight >= path.congestion.cwnd() && path.flight_size + before < path.congestion.cwnd();
        }
        piece.immediate |= self.closing == Closing::Pending && self.streams.is_empty();
        let (tsn, chunk) = self.outstanding.push(piece, id, context.now);
        let fits = writer.push(&self.auth, &Outstanding::data(tsn, chunk));
        debug_assert!(fits, "the room was measured");
        wire_len
    }

    fn note_sent(&mut self, context: &mut Context<'_>, id: PathId, first: Tsn, chunks: u64, bytes: usize) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.flight_size += bytes;
        path.utilised = path.flight_size;
        path.forced = false;
        path.last_data = Some(context.now);
        path.counters.data_sent += chunks;
        if path.timed.is_none() {
            path.timed = Some((first, context.now));
            path.last_probing = context.now;
        }
        // RFC 9260 §6.3.2 R1.
        let timer = TimerId::T3Retransmit(id);
        if path.earliest.is_none() {
            path.earliest = Some(first);
        }
        if !context.timers.is_set(timer) {
            context.timers.set(timer, context.now + path.rto.current());
        }
        if path.counters.data_sent == chunks {
            self.start_pmtu_search(context);
        }
    }

    /// Data waits and the peer's window is closed with nothing in flight: probe it after one RTO, then ever less
    /// often (RFC 9260 §6.1 A).
    fn watch_closed_window(&mut self, context: &mut Context<'_>) {
        if !self.outstanding.is_empty() || context.timers.is_set(TimerId::ZeroWindowProbe) {
            return;
        }
        let Some(path) = self.paths.get(self.data_path()) else { return };
        let interval = self.probe_interval(context, path);
        context.timers.set(TimerId::ZeroWindowProbe, context.now + interval);
    }

    /// How long to wait for the answer to a probe of a closed window; grows with each one, whatever heartbeats make
    /// of the RTO meanwhile (RFC 9260 §6.1 A).
    fn probe_interval(&self, context: &Context<'_>, path: &Path) -> Duration {
        let interval = path.rto.without_back_off() * 2_u32.saturating_pow(self.window.probes.min(6));
        interval.max(path.rto.current()).min(context.config.rto.max)
    }
}
