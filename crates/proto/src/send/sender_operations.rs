//! Random operations on [`Sender`](super::Sender), driven by bytes: the body of a fuzz target and of a test.
//!
//! What is checked after every one, besides the sender's own invariants: T3-rtx runs where something is in flight and nowhere
//! else; cwnd and the peer's window limit new data; TSNs are dense, and what is sent again is what was sent; every byte of user
//! data is in the sender or has been released. In the end a network that works delivers everything.

mod config;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use whimbrel_wire::{GapAckBlock, Tsn};

use super::chunk::{Chunk, ChunkState, Loss};
use super::outstanding::SackError;
use super::testing::{Rig, STREAMS, Sent, Written};
use super::turn::{Content, Permit};
use crate::config::RetransmissionPath;
use crate::interface::{PathId, PathState};
use crate::script::Script;

/// Bytes of user data that may wait or be outstanding.
const LIMIT: usize = 40_000;

/// Paths at most.
const MAX_PATHS: usize = 6;

/// Sends, turns, SACKs true and false, timeouts, and paths that come, change and go.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, 2048);
    let mut model = Model::new(&mut script);
    while !script.is_empty() {
        model.operate(&mut script);
        model.compare();
    }
    model.finish();
}

/// The sender, and what is known of it from outside.
struct Model {
    rig: Rig,
    initial: Tsn,
    /// Every chunk ever sent, by number: chunk n has the n-th TSN.
    sent: Vec<Sent>,
    /// Packets on their way, as numbers of chunks.
    wire: Vec<Vec<usize>>,
    /// Chunks that the peer has, or is believed to have.
    received: BTreeSet<usize>,
    /// How many of the first chunks the sender has been told of for good.
    cumulative: usize,
    /// The window that the peer told of last.
    advertised: usize,
    /// One chunk may leave whatever the window.
    probe: bool,
    accepted: usize,
    released: usize,
}

impl Model {
    fn new(script: &mut Script<'_>) -> Self {
        let initial = script.pick(&[Tsn(1), Tsn(u32::MAX - 7), Tsn(0x7fff_fff8), Tsn(0)]);
        let advertised = script.pick(&[100_000, 1500, 4000, 20_000]);
        Self {
            rig: Rig::new(config::config(script), initial, advertised as u32),
            initial,
            sent: Vec::new(),
            wire: Vec::new(),
            received: BTreeSet::new(),
            cumulative: 0,
            advertised,
            probe: false,
            accepted: 0,
            released: 0,
        }
    }

    fn operate(&mut self, script: &mut Script<'_>) {
        match script.below(18) {
            0 | 1 => self.send(script),
            2..=4 => {
                let permit = script.pick(&[
                    Permit::Everything,
                    Permit::Everything,
                    Permit::Retransmissions,
                    Permit::Probe,
                    Permit::Nothing,
                ]);
                self.turns(permit, script.pick(&[1, 2, 16]), script.below(8));
            }
            5 | 6 => self.deliver(script),
            7 | 8 => {
                let window = script.pick(&[100_000, 100_000, 20_000, 1500, 99, 0]);
                self.rig.sack_by = Some(self.some_path(script));
                self.honest_sack(window);
            }
            9 => self.hostile_sack(script),
            11 => self.rig.pass(Duration::from_millis(u64::from(script.u16()))),
            12 => self.change_path(script),
            13 => self.forget(script),
            timer @ 15..=17 => {
                let path = self.some_path(script);
                [Rig::expire, Rig::probe_tail, Rig::look][timer - 15](&mut self.rig, path);
            }
            14 => {
                let (path, cwnd) = (self.some_path(script), script.pick(&[1500, 4380, 100_000]));
                self.rig.sender.install(path, Some(cwnd), None);
            }
            _ => {
                self.rig.sender.on_window_probe();
                self.probe = true;
            }
        }
        self.released += self.rig.sender.take_released();
    }

    fn send(&mut self, script: &mut Script<'_>) {
        let (stream, len) = (script.below(4) as u16, script.pick(&[0, 1, 64, 1000, 1453, 5000, 30_000]));
        let room = self.accepted - self.released + len <= LIMIT || self.accepted == self.released;
        let accepted = self.rig.send(stream, len, LIMIT);
        assert_eq!(accepted, stream < STREAMS && len > 0 && room);
        if accepted {
            self.accepted += len;
        }
    }

    /// Up to `count` turns, while something leaves.
    fn turns(&mut self, permit: Permit, max_segments: usize, count: usize) -> bool {
        for number in 0..count {
            let flight: Vec<usize> = self.flights();
            let lost = self.lost();
            self.probe |= permit == Permit::Probe;
            let Some(written) = self.rig.turn(permit, max_segments) else { return number > 0 };
            assert_ne!(permit, Permit::Nothing);
            let usable = self.rig.paths.get(written.train.path).is_some_and(|path| path.confirmed);
            assert!(usable, "DATA goes to confirmed addresses only (RFC 9260 section 5.4)");
            match written.train.content {
                Content::Retransmission => self.note_retransmission(&written, &lost),
                Content::Copy => self.note_copy(&written),
                Content::First | Content::New => self.note_new(&written, permit),
            }
            assert!(flight != self.flights() || written.train.content == Content::Copy);
            self.released += self.rig.sender.take_released();
        }
        true
    }

    /// `lost` is where the lost chunks belonged.
    fn note_retransmission(&mut self, written: &Written, lost: &BTreeMap<usize, Option<PathId>>) {
        let numbers: Vec<usize> = written.packets.iter().flatten().map(|chunk| self.number(chunk)).collect();
        for (number, chunk) in numbers.iter().zip(written.packets.iter().flatten()) {
            assert_eq!(self.sent.get(*number), Some(chunk), "the same again");
            let belongs = lost.get(number).copied().expect("lost");
            // Who has room is not known before the turn has begun.
            let anywhere = self.rig.config.retransmission.path == RetransmissionPath::WithRoom;
            assert!(anywhere || belongs == Some(written.train.path), "{belongs:?}: lost, and belongs here");
        }
        self.wire.push(numbers);
    }

    fn note_copy(&mut self, written: &Written) {
        let numbers: Vec<usize> = written.packets.iter().flatten().map(|chunk| self.number(chunk)).collect();
        for (number, chunk) in numbers.iter().zip(written.packets.iter().flatten()) {
            assert_eq!(self.sent.get(*number), Some(chunk), "the same again");
        }
        self.wire.push(numbers);
    }

    fn note_new(&mut self, written: &Written, permit: Permit) {
        assert_ne!(permit, Permit::Retransmissions);
        let path = self.rig.paths.get(written.train.path).expect("a path");
        let last: usize = written.packets.last().expect("a packet").iter().map(wire_len).sum();
        let flight = self.rig.sender.outstanding.on_the_way(path.id);
        let flow = self.rig.sender.flow(path.id).expect("a flow");
        let free = permit == Permit::Probe || flow.is_reducing();
        assert!(free || flight - last < flow.congestion.cwnd(), "RFC 9260 section 6.1 B");
        let in_flight = self.rig.sender.outstanding.in_flight_payload();
        let may_probe = core::mem::take(&mut self.probe);
        assert!(may_probe || in_flight <= self.advertised, "RFC 9260 section 6.1 A");
        assert!(written.train.segment <= path.packet_size(), "a new chunk fits its path");
        for packet in &written.packets {
            let first = self.sent.len();
            for chunk in packet {
                assert_eq!(self.number(chunk), self.sent.len(), "TSNs are dense");
                self.sent.push(chunk.clone());
            }
            self.wire.push((first..self.sent.len()).collect());
        }
    }

    /// Some packets arrive, or are lost.
    fn deliver(&mut self, script: &mut Script<'_>) {
        for _ in 0..=script.below(8) {
            if self.wire.is_empty() {
                return;
            }
            let packet = self.wire.remove(script.below(self.wire.len().min(4)));
            if !script.one_in(4) {
                self.received.extend(packet);
            }
        }
    }

    /// What the peer has, told truly.
    fn honest_sack(&mut self, window: u32) {
        let mut cumulative = self.cumulative;
        while self.received.contains(&cumulative) {
            cumulative += 1;
        }
        let mut gaps: Vec<GapAckBlock> = Vec::new();
        for &number in self.received.range(cumulative..) {
            let offset = (number + 1 - cumulative) as u16;
            match gaps.last_mut() {
                Some(last) if last.end + 1 == offset => last.end = offset,
                _ => gaps.push(GapAckBlock { start: offset, end: offset }),
            }
        }
        let told = self.rig.sack(self.tsn(cumulative).prev(), &gaps, window);
        // A receiver that has dropped something looks as if its SACK had been overtaken.
        let overtaken = self.measures_old() && cumulative == self.cumulative;
        assert!(told.is_ok() || overtaken && told == Err(SackError::Old), "{told:?}");
        self.cumulative = cumulative;
        self.note_window(window);
    }

    /// A SACK that leaves something of its window ends the leave to probe it.
    fn note_window(&mut self, window: u32) {
        if self.measures_old() {
            // Whether it has counted only the sender knows.
            let window = &self.rig.sender.window;
            (self.advertised, self.probe) = (window.advertised(), self.probe && window.probe_allowed);
            return;
        }
        self.advertised = window as usize;
        let in_flight = self.rig.sender.outstanding.in_flight_payload();
        self.probe &= in_flight >= self.advertised;
    }

    /// Whatever the peer says, true or not.
    fn hostile_sack(&mut self, script: &mut Script<'_>) {
        let cumulative = self.cumulative as i64 + script.pick(&[0, 0, 1, 5, -1, 70_000]);
        let mut gaps = Vec::new();
        for _ in 0..script.below(4) {
            gaps.push(GapAckBlock { start: script.pick(&[0, 1, 2, 4, 9]), end: script.pick(&[0, 2, 3, 12]) });
        }
        let tsn = self.initial.plus(cumulative as u32).prev();
        let window = script.u32();
        let told = if script.one_in(3) {
            gaps.clear();
            self.shutdown_ack(tsn)
        } else {
            let told = self.rig.sack(tsn, &gaps, window);
            told.inspect(|()| self.note_window(window))
        };
        let end = cumulative + gaps.iter().map(|gap| i64::from(gap.end)).max().unwrap_or(0);
        let expected = match cumulative {
            old if old < self.cumulative as i64 => Err(SackError::Old),
            _ if end > self.sent.len() as i64 => Err(SackError::NeverSent),
            _ => Ok(()),
        };
        let overtaken = self.measures_old() && cumulative <= self.cumulative as i64;
        assert!(told == expected || overtaken && expected != Err(SackError::NeverSent), "{told:?}");
        if expected.is_ok() {
            // Nobody will ask the sender for these again.
            self.cumulative = cumulative as usize;
            self.received.extend(0..self.cumulative);
        }
    }

    /// A SHUTDOWN says nothing of the window: there is as much room in it as before, but for what the peer has reneged on.
    fn shutdown_ack(&mut self, tsn: Tsn) -> Result<(), SackError> {
        let before = self.rig.sender.outstanding.in_flight_payload();
        let left = self.rig.sender.window.left(before);
        let next = |state, rig: &Rig| {
            let chunk = rig.sender.outstanding.get(tsn.next()).filter(|chunk| chunk.state == state);
            chunk.map_or(0, |chunk| chunk.payload_len())
        };
        let was_held = next(ChunkState::GapAcknowledged, &self.rig);
        let told = self.rig.shutdown_ack(tsn);
        let reneged = was_held.min(next(ChunkState::InFlight, &self.rig));
        let in_flight = self.rig.sender.outstanding.in_flight_payload();
        let expected = left.saturating_sub(reneged);
        assert_eq!(self.rig.sender.window.left(in_flight), expected, "RFC 9260 section 6.2.1 D ii");
        self.advertised = self.advertised.saturating_sub(before + reneged - in_flight);
        told
    }

    /// The receiver drops what it has not acknowledged for good (RFC 9260 §6.2.1 D iii).
    fn forget(&mut self, script: &mut Script<'_>) {
        let keep = self.cumulative + script.below(4);
        self.received.retain(|&number| number < keep);
    }

    fn change_path(&mut self, script: &mut Script<'_>) {
        let path = self.some_path(script);
        match script.below(9) {
            0 if self.rig.paths.len() < MAX_PATHS => self.rig.add(script.byte() % 4, script.byte() % 4),
            1 => self.rig.remove(path),
            2 => self.rig.close(path),
            3 => self.rig.open(path),
            4 => self.rig.set_state(path, script.pick(&[PathState::PotentiallyFailed, PathState::Inactive])),
            5 => self.rig.give_up(path),
            6 => {
                self.rig.paths.set_primary(path);
                self.rig.sender.opportunity();
            }
            7 => self.rig.sender.end_recovery(path),
            _ => {
                let (size, now) = (usize::from(script.u16()), self.rig.now);
                let entry = self.rig.paths.get_mut(path).expect("a path");
                entry.pmtu.on_packet_too_big(size, now);
                self.rig.sender.on_packet_size(path, entry.pmdcs());
            }
        }
    }

    fn compare(&self) {
        let sender = &self.rig.sender;
        sender.invariants();
        assert!(self.rig.ids().into_iter().eq(sender.flows.iter().map(|flow| flow.path)));
        for path in self.rig.ids() {
            let in_flight = sender.outstanding.flight_size(path) > 0;
            assert_eq!(self.rig.timers.contains(&path), in_flight, "T3-rtx of {path:?}");
        }
        assert_eq!(sender.undelivered(), self.accepted - self.released);
        assert_eq!(sender.cumulative_ack_point(), self.tsn(self.cumulative).prev());
        assert_eq!(sender.outstanding.next_tsn(), self.tsn(self.sent.len()));
    }

    /// Everything arrives in the end: all of it is released, once.
    fn finish(&mut self) {
        for path in self.rig.ids() {
            self.rig.open(path);
        }
        self.honest_sack(200_000);
        self.released += self.rig.sender.take_released();
        let mut rounds_without = 0;
        while self.rig.sender.undelivered() > 0 {
            self.rig.pass_until_departure();
            let left = self.turns(Permit::Everything, 16, usize::MAX);
            self.received.extend(self.wire.drain(..).flatten());
            let before = self.cumulative;
            self.honest_sack(200_000);
            self.released += self.rig.sender.take_released();
            self.compare();
            // What the network lost before is lost only once its T3-rtx expires.
            let expired = (self.cumulative == before).then(|| self.rig.timers.first().copied()).flatten();
            expired.into_iter().for_each(|path| self.rig.expire(path));
            let progress = left || expired.is_some() || self.cumulative > before;
            rounds_without = if progress { 0 } else { rounds_without + 1 };
            // A round may go by with gap ack blocks only, or with nothing but the loss that they show.
            assert!(rounds_without < 3, "stuck for ever");
        }
        let carried: usize = self.sent.iter().map(|chunk| chunk.payload.len()).sum();
        assert_eq!((self.released, carried), (self.accepted, self.accepted));
        assert!(self.rig.timers.is_empty() && self.rig.sender.is_all_acknowledged());
    }

    // ---- views

    /// The chunks that are lost, and where each belongs.
    fn lost(&self) -> BTreeMap<usize, Option<PathId>> {
        let Rig { sender, paths, .. } = &self.rig;
        let belongs = |(tsn, chunk, loss): (Tsn, &Chunk, Loss)| {
            let number = tsn.distance_from(self.initial) as usize;
            (number, sender.retransmission_path(paths, chunk.path, loss))
        };
        sender.outstanding.lost().map(belongs).collect()
    }

    /// Whether SACKs that have been overtaken are of use, or what looks like them is ignored.
    fn measures_old(&self) -> bool {
        self.rig.sender.combines_paths()
    }

    fn flights(&self) -> Vec<usize> {
        self.rig.ids().into_iter().map(|path| self.rig.sender.outstanding.flight_size(path)).collect()
    }

    fn some_path(&self, script: &mut Script<'_>) -> PathId {
        script.pick(&self.rig.ids())
    }

    fn tsn(&self, number: usize) -> Tsn {
        self.initial.plus(number as u32)
    }

    fn number(&self, chunk: &Sent) -> usize {
        chunk.tsn.distance_from(self.initial) as usize
    }
}

fn wire_len(chunk: &Sent) -> usize {
    super::chunk::data_chunk_len(chunk.payload.len())
}

#[cfg(test)]
#[path = "sender_operations_tests.rs"]
mod tests;
