//! The tail-loss probe: what was sent last is lost, and no SACK tells, as nothing comes after it (RFC 8985 §7).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::chunk::{ChunkState, Loss};
use super::report::{Report, T3};
use super::sender::Sender;
use super::turn::{Content, Train, Turn, overhead};
use crate::auth::chunk_writer::ChunkWriter;
use crate::interface::PathId;
use crate::path::Paths;

/// A chunk that was sent once more, to learn whether those that were sent on its path before it are lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailProbe {
    /// Where the chunk was in flight.
    pub(super) path: PathId,
    tsn: Tsn,
    sent_at: Instant,
    /// It went to another path; a copy, which nobody keeps an account of, is to go to this one, too.
    elsewhere: bool,
    copied: bool,
    /// No answer can come earlier: what does answers the first transmission.
    answer_from: Instant,
    /// Bytes of the packet that the chunk was the first of; 0 if it was not.
    pub(super) packet: usize,
}

/// A path whose silence a probe has shown to be a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TailLost {
    pub(crate) path: PathId,
    /// What was lost goes out again on another path.
    pub(crate) elsewhere: bool,
    /// Bytes of the largest packet that was in flight there.
    pub(crate) largest: usize,
}

impl Sender {
    /// Nothing in flight on `path` has been acknowledged for two round trips: the chunk that has waited longest goes out once more, on
    /// the best other active path if there is one, and on this one. Returns what becomes of T3-rtx of the path; `None` if
    /// nothing is in flight there or a probe is out already.
    pub(crate) fn probe_tail(&mut self, paths: &Paths, path: PathId, now: Instant) -> Option<T3> {
        if self.tail.is_some_and(|probe| probe.path == path) || self.window.probes > 0 {
            return None;
        }
        let tsn = self.outstanding.earliest_in_flight(path)?;
        self.held_up = None;
        let packet = self.outstanding.get(tsn).map_or(0, |chunk| chunk.packet.into());
        self.outstanding.lose_one(tsn);
        let target = self.retransmission_path(paths, path, Loss::Timeout).unwrap_or(path);
        let elsewhere = target != path;
        // One of the two goes by each path.
        let round_trip = |id| paths.get(id).and_then(|path| path.rto.srtt()).unwrap_or(Duration::ZERO);
        let answer_from = now + round_trip(target).min(round_trip(path)) / 2;
        self.tail =
            Some(TailProbe { path, tsn, sent_at: now, elsewhere, copied: !elsewhere, answer_from, packet });
        self.force(paths, path);
        let guarded = self.outstanding.earliest_in_flight(path);
        let flow = self.flow_mut(path)?;
        flow.guarded = guarded;
        flow.timed = None;
        flow.counters.tail_probes += 1;
        self.check();
        Some(if guarded.is_some() { T3::Start } else { T3::Stop })
    }

    /// Writes the copy of the probe that goes to the path where the chunk was.
    pub(super) fn copy_of_probe(&mut self, turn: &mut Turn<'_>) -> Option<Train> {
        let probe = self.tail.as_mut().filter(|probe| !probe.copied)?;
        probe.copied = true;
        let (id, tsn) = (probe.path, probe.tsn);
        let path = turn.paths.get(id).filter(|path| path.is_usable())?;
        let chunk = self.outstanding.get(tsn).filter(|chunk| chunk.state != ChunkState::GapAcknowledged)?;
        let (auth, start) = (turn.auth, turn.out.len());
        let limit = path.packet_size().max(overhead(auth) + chunk.wire_len());
        let mut writer = ChunkWriter::new(turn.out, turn.header, limit);
        let mut data = chunk.data(tsn);
        data.immediate = true;
        let fits = writer.push(auth, &data);
        debug_assert!(fits, "the limit was made for it");
        writer.finish(auth, turn.checksum);
        let segment = turn.out.len() - start;
        Some(Train { path: id, content: Content::Copy, segment, first: tsn, t3: None, timed: false })
    }

    /// A SACK has come. If it answers the probe, what was sent on the path before it and is still not acknowledged is lost: it had two
    /// round trips more than the probe.
    pub(super) fn judge_tail(&mut self, now: Instant, cumulative: Tsn, report: &mut Report) {
        let outstanding = &self.outstanding;
        let answered = |probe: &mut TailProbe| {
            probe.tsn.at_or_before(cumulative)
                || outstanding.get(probe.tsn).is_none_or(|chunk| chunk.state == ChunkState::GapAcknowledged)
        };
        let Some(probe) = self.tail.take_if(answered).filter(|probe| now >= probe.answer_from) else {
            return;
        };
        let TailProbe { path, sent_at, elsewhere, packet, .. } = probe;
        let loss = if elsewhere { Loss::Timeout } else { Loss::Missing };
        let largest = self.outstanding.largest_in_flight(path).max(packet);
        // The first transmission of the probe's chunk is lost, whatever else is.
        self.outstanding.note_lost(path);
        // What is lost there is looked at, and its T3-rtx anew. The order of sending may have told already.
        let told = report.path(path).lost;
        if !self.outstanding.lose_older(path, sent_at, loss) && !told {
            return;
        }
        if let Some(flow) = self.flow_mut(path) {
            flow.note_guess();
        }
        report.tail_lost = Some(TailLost { path, elsewhere, largest });
        if !elsewhere {
            self.begin_fast_retransmit(&[path]);
            // It is a timer that says so.
            if let Some(flow) = self.flow_mut(path) {
                flow.verdicts.forget_reduction();
            }
        } else if let Some(flow) = self.flow_mut(path) {
            flow.congestion.on_fast_retransmit();
        }
        self.opportunity();
    }

    /// T3-rtx of the path has expired, or nothing leaves by it any more: there is nothing left to ask.
    pub(super) fn forget_probe(&mut self, path: PathId) {
        self.tail.take_if(|probe| probe.path == path);
    }
}
