//! Which packets with DATA leave next: retransmissions first, then new data (RFC 9260 §6.1).

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::{Tsn, chunk_type};

use super::chunk::{Loss, data_chunk_len};
use super::report::T3;
use super::sender::Sender;
use super::turn::{Content, Next, Permit, Train, Turn, overhead};
use crate::auth::chunk_writer::ChunkWriter;
use crate::auth::session::Auth;
use crate::config::{BufferSplit, RetransmissionOrder, TailLoss};
use crate::interface::{PathId, PathState};
use crate::path::Path;
use crate::receive::SACK_ROOM;

/// Bytes in a train at most: what one UDP datagram, and so one GSO send, can hold.
const MAX_TRAIN: usize = 65_000;

/// Lost chunks that fit one packet.
type Chosen = SmallVec<[(Tsn, Loss); 16]>;

impl Sender {
    /// Writes the next packets with DATA.
    pub(crate) fn next_packet(&mut self, turn: &mut Turn<'_>) -> Next {
        self.held_up = None;
        let next = match turn.permit {
            Permit::Nothing => Next::Nothing,
            Permit::Probe => self.probe(turn),
            Permit::Everything | Permit::Retransmissions => match self.next_in_order(turn) {
                Next::Train(train) => Next::Train(train),
                nothing => {
                    let copy = if self.copies_all() { self.copy(turn) } else { None };
                    copy.or_else(|| self.copy_to_doubted(turn)).map_or(nothing, Next::Train)
                }
            },
        };
        self.check();
        next
    }

    fn next_in_order(&mut self, turn: &mut Turn<'_>) -> Next {
        if let Some(train) = self.copy_of_probe(turn) {
            return Next::Train(train);
        }
        // What everything is copied for can wait for room; what is urgent cannot wait until there is nothing else to send.
        if !self.copies_all()
            && let Some(train) = self.copy(turn)
        {
            return Next::Train(train);
        }
        if self.outstanding.has_lost() {
            if let Some(train) = self.retransmit(turn) {
                return Next::Train(train);
            }
            if self.repair.order == RetransmissionOrder::LostFirst {
                return Next::Nothing;
            }
        }
        if self.streams.is_empty() {
            self.note_app_limited();
            return Next::Nothing;
        }
        if turn.permit == Permit::Retransmissions {
            return Next::Nothing;
        }
        let (scheduler, offer) = self.scheduling(turn.paths);
        let path = scheduler.next(&offer).and_then(|id| turn.paths.get(id));
        // Where no path works, new data finds out no more than what is lost does, and would only be lost as well.
        let works = |path: &&Path| path.state == PathState::Active || !offer.outstanding.has_lost();
        let path = path.filter(works);
        let shares = path.is_some_and(|path| offer.has_share(path.id));
        match path {
            None => Next::Nothing,
            Some(path) if shares && let Some(train) = self.send_new(path, turn) => Next::Train(train),
            Some(_) => {
                self.note_passed_over(turn.paths);
                Next::NoRoom
            }
        }
    }

    // ---- retransmission

    /// A packet of lost chunks for the first path that has room (RFC 9260 §6.1 C).
    fn retransmit(&mut self, turn: &mut Turn<'_>) -> Option<Train> {
        for path in turn.paths.iter() {
            let flight = self.outstanding.on_the_way(path.id);
            if !self.flow(path.id).is_some_and(|flow| flow.forced || flow.may_send(flight)) {
                continue;
            }
            // There may be very many lost chunks, and none for this path, at every opportunity of a long outage.
            let belongs = |(from, loss)| self.retransmission_path(turn.paths, from, loss) == Some(path.id);
            if !self.outstanding.losses().any(belongs) {
                continue;
            }
            let (chosen, room) = self.lost_for(path, turn);
            if !chosen.is_empty() {
                return self.retransmit_on(path, &chosen, room, turn);
            }
        }
        None
    }

    /// The lost chunks, lowest TSN first, that belong on `path` and fit one packet, and how many bytes of chunks that packet may have.
    fn lost_for(&self, path: &Path, turn: &Turn<'_>) -> (Chosen, usize) {
        let mut room = path.packet_size() - overhead(turn.auth);
        let mut chosen = Chosen::new();
        let mut used = 0;
        let mut target: Option<((PathId, Loss), Option<PathId>)> = None;
        for (tsn, chunk, loss) in self.outstanding.lost() {
            let key = (chunk.path, loss);
            let destination = match target {
                Some((known, destination)) if known == key => destination,
                _ => self.retransmission_path(turn.paths, chunk.path, loss),
            };
            target = Some((key, destination));
            if destination != Some(path.id) {
                continue;
            }
            let doubtful = loss == Loss::Timeout || path.pmtu.is_in_doubt();
            // What the peer has no room for is not lost for its size.
            if doubtful && !self.window.refuses(chunk.payload_len()) {
                room = room.min(self.room_after_timeout(path, turn.auth));
            }
            // A chunk too large for the packet goes alone: it cannot be cut again (RFC 9260 §6.9).
            if used > 0 && used + chunk.wire_len() > room {
                break;
            }
            used += chunk.wire_len();
            chosen.push((tsn, loss));
        }
        (chosen, room)
    }

    /// Bytes of lost chunks in a packet, where a timer says that they are lost: it may be the size, on this path, too.
    fn room_after_timeout(&self, path: &Path, auth: &Auth) -> usize {
        let carried = if self.cut_for().is_some() { path.pmtu.least() } else { path.packet_size() };
        carried - overhead(auth)
    }

    fn retransmit_on(
        &mut self,
        path: &Path,
        chosen: &Chosen,
        room: usize,
        turn: &mut Turn<'_>,
    ) -> Option<Train> {
        let &(first, _) = chosen.first()?;
        let first_len = self.outstanding.get(first)?.wire_len();
        let (auth, start) = (turn.auth, turn.out.len());
        let limit = overhead(auth) + room.max(first_len);
        let mut writer = ChunkWriter::new(turn.auth, turn.out, turn.header, limit);
        // Control chunks come before DATA (RFC 9260 §6.10), and a full packet has no room for them, nor for AUTH for their sake.
        let of_data = auth.overhead(chunk_type::DATA);
        let of_sack = SACK_ROOM + auth.overhead(chunk_type::SACK).saturating_sub(of_data);
        if writer.room_for(auth, chunk_type::DATA) >= first_len + of_sack {
            turn.sack.bundle(auth, &mut writer, path.route, first_len + of_data);
        }
        let (mut chunks, mut bytes) = (0, 0);
        for &(tsn, loss) in chosen {
            let Some(chunk) = self.outstanding.get(tsn) else { break };
            let mut data = chunk.data(tsn);
            // The answer is urgent after a timeout (RFC 7053 §4).
            data.immediate |= loss == Loss::Timeout && self.asks_for_sacks();
            // Some networks lose certain bytes each time, such as those of which a translator makes a UDP checksum of 0. With another I bit, which asks
            // for nothing but an earlier answer, all checksums are others.
            if self.repair.tail == TailLoss::Probe {
                data.immediate = chunk.piece.immediate == chunk.other_bit;
            }
            if !writer.push(auth, &data) {
                break;
            }
            bytes += chunk.wire_len();
            let had_copy = chunk.several_paths;
            self.outstanding.retransmit(tsn, path.id, turn.now, chunks == 0);
            chunks += 1;
            self.loss.on_sent_again(tsn, had_copy, &mut self.outstanding);
        }
        writer.finish(auth, turn.checksum);
        let segment = turn.out.len() - start;
        let t3 = Some(self.note_retransmitted(path.id, turn.now, first, chunks, bytes));
        self.outstanding.note_packet(first, segment);
        Some(Train { path: path.id, content: Content::Retransmission, segment, first, t3, timed: false })
    }

    fn note_retransmitted(
        &mut self,
        path: PathId,
        now: Instant,
        first: Tsn,
        chunks: u64,
        bytes: usize,
    ) -> T3 {
        // Karn's rule: no RTT from a chunk at or after a retransmitted one (RFC 9260 §6.3.1 C5).
        for flow in &mut self.flows {
            flow.timed.take_if(|&mut (tsn, _)| first.at_or_before(tsn));
        }
        let flight = self.outstanding.on_the_way(path);
        let Some(flow) = self.flow_mut(path) else { return T3::Start };
        flow.counters.data_retransmitted += chunks;
        // RFC 9260 §6.1: restart T3-rtx if the earliest outstanding chunk of the path is retransmitted.
        let earliest = flow.guarded.is_none_or(|guarded| first.precedes(guarded));
        if earliest {
            flow.guarded = Some(first);
        }
        flow.note_sent(now, bytes, flight, first);
        if earliest { T3::Restart } else { T3::Start }
    }

    // ---- new data

    /// One packet of new data on the primary path, whatever the windows say.
    fn probe(&mut self, turn: &mut Turn<'_>) -> Next {
        let primary = turn.paths.get(turn.paths.primary());
        let Some(path) = primary.filter(|path| path.is_usable()) else { return Next::Nothing };
        self.window.probe_allowed = true;
        turn.max_segments = 1;
        let next = self.write_train(path, turn).map_or(Next::NoRoom, Next::Train);
        self.window.probe_allowed = false;
        next
    }

    fn send_new(&mut self, path: &Path, turn: &mut Turn<'_>) -> Option<Train> {
        let flight = self.outstanding.flight_size(path.id);
        let on_the_way = self.outstanding.on_the_way(path.id);
        let flow = self.flow_mut(path.id)?;
        flow.decay_if_idle(turn.now, flight, path.rto.current());
        if flow.may_send(on_the_way) { self.write_train(path, turn) } else { None }
    }

    /// Packets of new data for `path`, the first of which leaves whatever its windows say.
    fn write_train(&mut self, path: &Path, turn: &mut Turn<'_>) -> Option<Train> {
        let fragment = self.fragment_size(turn.paths, turn.auth);
        let first = self.outstanding.next_tsn();
        let flow = self.flow(path.id)?;
        let (unused, untimed) = (flow.counters.data_sent == 0, flow.timed.is_none());
        let mut segment = 0;
        for number in 0..turn.max_segments {
            let limit = if number == 0 { path.packet_size() } else { segment };
            if number > 0 && !self.continues(path, segment, number, turn) {
                break;
            }
            let before = self.outstanding.next_tsn();
            let flight = self.outstanding.on_the_way(path.id);
            let Some(len) = self.write_packet(path, limit, fragment, turn) else { break };
            self.note_new(path.id, turn.now, before, flight);
            if number == 0 {
                segment = len;
            } else if len < segment {
                break;
            }
        }
        let sent = self.outstanding.next_tsn() != first;
        let content = if sent && unused { Content::First } else { Content::New };
        let (t3, timed) = (sent.then_some(T3::Start), sent && untimed && self.is_timing(first));
        (segment > 0).then_some(Train { path: path.id, content, segment, first, t3, timed })
    }

    /// Whether a train of `number` packets of `segment` bytes goes on: its path lets another packet out, and the next one
    /// would not be cut short by the size of the others.
    fn continues(&mut self, path: &Path, segment: usize, number: usize, turn: &Turn<'_>) -> bool {
        let flight = self.outstanding.on_the_way(path.id);
        if self.multipath().buffers != BufferSplit::None && !self.offer(turn.paths).has_share(path.id) {
            return false;
        }
        let Some(flow) = self.flow(path.id).filter(|flow| flow.may_send(flight)) else { return false };
        let quantum = flow.quantum();
        let Some(head) = self.streams.head_len() else { return false };
        let fits = segment == path.packet_size() || overhead(turn.auth) + data_chunk_len(head) <= segment;
        let packets = number + 1;
        // The pace is one of DATA chunks.
        let paced = packets * segment.saturating_sub(overhead(turn.auth)) <= quantum;
        fits && paced && packets * segment <= MAX_TRAIN
    }

    /// New data has left by `path`, from `first` on, where so much was in flight before.
    fn note_new(&mut self, path: PathId, now: Instant, first: Tsn, before: usize) {
        let flight = self.outstanding.on_the_way(path);
        let chunks = self.outstanding.next_tsn().distance_from(first);
        // A SACK may leave no room for DATA.
        let timing = self.is_timing(first);
        let Some(flow) = self.flow_mut(path).filter(|_| chunks > 0) else { return };
        flow.counters.data_sent += u64::from(chunks);
        if timing {
            flow.timed.get_or_insert((first, now));
        }
        flow.note_sent(now, flight - before, flight, first);
    }
}

#[cfg(test)]
#[path = "next_tests.rs"]
mod tests;
