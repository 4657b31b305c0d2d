//! The tail-loss probe: what was sent last is lost, and no SACK tells, as nothing comes after it (RFC 8985 §7).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::chunk::{ChunkState, Loss};
use super::flow::Flow;
use super::report::{PathChange, Report, T3};
use super::sender::Sender;
use super::turn::{Content, Train, Turn, overhead};
use crate::auth::chunk_writer::ChunkWriter;
use crate::interface::PathId;
use crate::path::Paths;

/// No peer keeps a SACK back for longer (RFC 9260 §6.2).
const LONGEST_SACK_DELAY: Duration = Duration::from_millis(500);

/// What the SACKs for one path have told of when to expect the next one.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// When the last of what has arrived was sent.
    newest: Option<Instant>,
    /// The latest round trip of the last chunk that a SACK was for.
    round_trip: Duration,
    /// When a round trip was last measured by DATA.
    measured: Option<Instant>,
    /// That SACK was for a single packet: it may have been kept back.
    alone: bool,
    /// How long the peer has kept a SACK back, waiting for a second packet. It comes down little by little.
    delay: Duration,
}

impl Answers {
    /// When the last of what has arrived was sent.
    pub(super) fn newest(&self) -> Option<Instant> {
        self.newest
    }

    /// Whether no round trip has been measured for as long as one takes (RFC 9260 §6.3.1 C4).
    pub(super) fn is_due(&self, now: Instant, round_trip: Duration) -> bool {
        self.measured.is_none_or(|at| at + round_trip <= now)
    }

    /// Such a round trip is measured now.
    pub(super) fn note_measured(&mut self, now: Instant, measured: Option<Duration>) {
        self.measured = measured.map(|_| now).or(self.measured);
    }

    /// Takes in what a SACK newly acknowledges, and when the last of that left.
    /// `prompt`: something is missing, so that the peer keeps no SACK back. `least`: no answer takes less.
    pub(super) fn learn(
        &mut self,
        change: &PathChange,
        newest: Option<Instant>,
        prompt: bool,
        least: Option<Duration>,
    ) {
        self.newest = self.newest.max(newest);
        self.alone = change.packets < 2 && !prompt;
        self.round_trip = change.round_trip.unwrap_or(self.round_trip);
        if let (true, Some(took), Some(least)) =
            (self.alone && change.sent_again.is_none(), change.round_trip, least)
        {
            // A SACK that was lost looks as if it had been kept back until the next one.
            let waited = took.saturating_sub(least);
            self.delay = self.delay.min(waited.max(self.delay * 7 / 8));
        }
        // Of more packets some SACK was lost, and what was sent again had one of its own.
        if !prompt
            && change.sent_again.is_none()
            && let (2, Some(oldest), Some(youngest)) = (change.packets, change.oldest, change.youngest)
        {
            let waited = youngest.saturating_since(oldest).min(LONGEST_SACK_DELAY);
            self.delay = waited.max(self.delay * 7 / 8);
        }
    }
}

/// What is in flight on a path and nothing has arrived that was sent later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// When the packet left whose SACK is due next, or will have been kept back for as long as a peer does.
    pub(crate) since: Instant,
    /// The latest round trip, without the peer's delay.
    pub(crate) round_trip: Duration,
    /// Detection of losses looks at the path before long.
    pub(crate) reordering: Option<Instant>,
}

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
    /// No answer comes later, if times say anything: what does rather answers the first transmission.
    answer_until: Option<Instant>,
    /// By the other path no answer can come earlier: what does answers the copy, which the path itself has brought.
    elsewhere_from: Option<Instant>,
    /// The answer to what was sent on the path is overdue after this.
    timeout: Duration,
    /// Bytes of the packet that the chunk was the first of; 0 if it was not.
    pub(super) packet: usize,
    /// Another chunk was in the packet that the chunk was the first of.
    beside: Option<Tsn>,
    /// Nothing else was in flight on its path, so that nothing else tells of that.
    alone: bool,
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
    /// The tail of what is in flight on `path`, to a peer that may keep back a SACK for `delay`; `None` if nothing is in flight.
    ///
    /// A SACK is sent for every second packet (RFC 9260 §6.2): the one for the first packet comes with that for the second, unless it
    /// has been kept back for long enough.
    pub(crate) fn tail_of(&self, path: PathId, delay: Duration) -> Option<Tail> {
        let flow = self.flow(path)?;
        let first = flow.guarded.filter(|&tsn| self.outstanding.is_in_flight_by(tsn, path));
        let first = first.or_else(|| self.outstanding.earliest_in_flight(path))?;
        let Answers { newest, round_trip, alone, delay: waited, .. } = *flow.answers();
        let round_trip = if alone { round_trip.saturating_sub(delay) } else { round_trip };
        // What was sent before something that has arrived is for loss detection to judge.
        let sent_at = self.outstanding.get(first)?.sent_at.max(newest.unwrap_or(Instant::ZERO));
        // Where something is missing none is kept back (RFC 9260 §6.7).
        let kept_back = if self.outstanding.has_gaps() { sent_at } else { sent_at + delay.max(waited) };
        let second = self.outstanding.next_packet_in_flight(first, path);
        let since = second.map_or(kept_back, |second| kept_back.min(second.max(sent_at)));
        Some(Tail { since, round_trip, reordering: self.loss.due(path) })
    }

    /// The answer to what is in flight on `path` has been overdue since `timeout` after its sending: the chunk that has waited longest goes out once more, on
    /// the best other active path if there is one, and on this one. Returns what becomes of T3-rtx of the path; `None` if
    /// nothing is in flight there or a probe is out already.
    pub(crate) fn probe_tail(
        &mut self,
        paths: &Paths,
        path: PathId,
        now: Instant,
        timeout: Duration,
    ) -> Option<T3> {
        if self.is_probing() || self.window.probes > 0 {
            return None;
        }
        let tsn = self.outstanding.earliest_in_flight(path)?;
        self.held_up = None;
        let packet = self.outstanding.get(tsn).map_or(0, |chunk| chunk.packet.into());
        let beside = self.beside(tsn);
        self.outstanding.lose_one(tsn);
        let target = self.retransmission_path(paths, path, Loss::Timeout).unwrap_or(path);
        let elsewhere = target != path;
        // One of the two goes by each path.
        let round_trip = |id| paths.get(id).and_then(|path| path.rto.srtt()).unwrap_or(Duration::ZERO);
        let answer_from = now + round_trip(target).min(round_trip(path)) / 2;
        let (sent_at, copied) = (now, !elsewhere);
        // The way there and the way back may be unlike, and the answer may come by the quicker of the two ways back.
        let least = self.flow(target).filter(|_| elsewhere).and_then(Flow::least_wait);
        let elsewhere_from = least.map(|least| now + least / 2);
        let answer_until = (!elsewhere).then(|| now + timeout);
        let guarded = self.outstanding.earliest_in_flight(path);
        let alone = guarded.is_none();
        self.tail = Some(TailProbe {
            path,
            tsn,
            sent_at,
            elsewhere,
            copied,
            answer_from,
            answer_until,
            elsewhere_from,
            timeout,
            packet,
            beside,
            alone,
        });
        self.force(paths, path);
        let flow = self.flow_mut(path)?;
        flow.guarded = guarded;
        flow.timed = None;
        flow.counters.tail_probes += 1;
        self.check();
        Some(if guarded.is_some() { T3::Start } else { T3::Stop })
    }

    /// As [`Self::probe_tail`], where a heartbeat that left after all that is in flight has been answered within `timeout`: it is small, and the answer to the
    /// probe may take longer.
    pub(crate) fn probe_by_order(
        &mut self,
        paths: &Paths,
        path: PathId,
        now: Instant,
        timeout: Duration,
    ) -> Option<T3> {
        let t3 = self.probe_tail(paths, path, now, timeout)?;
        self.tail.iter_mut().for_each(|probe| probe.answer_until = None);
        Some(t3)
    }

    /// As [`Self::probe_tail`], where a probe that went by `path` alone has been lost, or the SACK for it, and the path works.
    pub(crate) fn probe_again(
        &mut self,
        paths: &Paths,
        path: PathId,
        now: Instant,
        timeout: Duration,
    ) -> Option<T3> {
        let outstanding = &self.outstanding;
        let on_path = |probe: &mut TailProbe| {
            probe.path == path && !probe.elsewhere && outstanding.is_in_flight_by(probe.tsn, path)
        };
        self.tail.take_if(on_path)?;
        self.probe_tail(paths, path, now, timeout)
    }

    /// The chunk behind this one, if both are in flight in the same packet.
    fn beside(&self, tsn: Tsn) -> Option<Tsn> {
        let first = self.outstanding.get(tsn).filter(|first| first.packet > 0)?;
        let next = self.outstanding.get(tsn.next()).filter(|next| next.packet == 0)?;
        let together = (next.path, next.sent_at) == (first.path, first.sent_at);
        (together && self.outstanding.is_in_flight_by(tsn.next(), first.path)).then(|| tsn.next())
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
        let mut writer = ChunkWriter::new(turn.auth, turn.out, turn.header, limit);
        let mut data = chunk.data(tsn);
        data.immediate = true;
        let fits = writer.push(auth, &data);
        debug_assert!(fits, "the limit was made for it");
        writer.finish(auth, turn.checksum);
        let segment = turn.out.len() - start;
        Some(Train { path: id, content: Content::Copy, segment, first: tsn, t3: None, timed: false })
    }

    /// A SACK has come. If it answers the probe, what was sent on the path before it and is overdue by now is lost.
    pub(super) fn judge_tail(&mut self, now: Instant, cumulative: Tsn, report: &mut Report) {
        let outstanding = &self.outstanding;
        let answered = |probe: &mut TailProbe| {
            probe.tsn.at_or_before(cumulative)
                || outstanding.get(probe.tsn).is_none_or(|chunk| chunk.state == ChunkState::GapAcknowledged)
        };
        let Some(mut probe) = self.tail.take_if(answered) else { return };
        // The first transmission would have brought what was in the same packet: a path may have become shorter.
        let is_lost = probe.beside.is_some_and(|beside| outstanding.is_in_flight_by(beside, probe.path));
        // If it comes late a thin link has just brought the first transmission. Where all are lost that costs a probe for each.
        let is_late = probe.answer_until.is_some_and(|until| now > until);
        if (now < probe.answer_from || is_late) && !is_lost {
            // What is left of the tail has had its time.
            _ = report.path(probe.path);
            return;
        }
        if probe.elsewhere_from.is_some_and(|from| now < from) {
            probe.elsewhere = false;
            report.ask = Some(probe.path);
        }
        let TailProbe { path, sent_at, timeout, .. } = probe;
        let overdue = sent_at.min(Instant::ZERO + now.saturating_since(Instant::ZERO + timeout));
        // What is lost there is looked at, and its T3-rtx anew. The order of sending may have told already.
        let told = report.path(path).lost;
        report.tail_lost = self.lose_tail(probe, overdue, told);
    }

    /// Neither the probe has been answered, which went to another path, nor its copy on `path`, which has had its time: all that is in flight on
    /// `path` is lost. `None` if there was no such probe.
    pub(crate) fn give_tail_up(&mut self, path: PathId, now: Instant) -> Option<TailLost> {
        let silent = |probe: &mut TailProbe| {
            probe.path == path && probe.elsewhere && probe.copied && probe.sent_at + probe.timeout <= now
        };
        let probe = self.tail.take_if(silent)?;
        self.lose_tail(probe, now, false)
    }

    /// What has been in flight on the path of the probe since before `overdue` is lost. `told`: something is already.
    fn lose_tail(&mut self, probe: TailProbe, overdue: Instant, told: bool) -> Option<TailLost> {
        let TailProbe { path, elsewhere, timeout, packet, alone, .. } = probe;
        let loss = if elsewhere { Loss::Timeout } else { Loss::Missing };
        let largest = self.outstanding.largest_in_flight(path).max(packet);
        // The first transmission of the probe's chunk is lost, whatever else is.
        self.outstanding.note_lost(path);
        let lost_more = self.outstanding.lose_older(path, overdue, loss);
        if !(lost_more || told || alone && elsewhere) {
            return None;
        }
        if let Some(flow) = self.flow_mut(path) {
            flow.note_guess(Some(timeout));
        }
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
        Some(TailLost { path, elsewhere, largest })
    }

    /// Whether a probe of what was sent on `path` has not been answered yet.
    pub(crate) fn is_probed(&self, path: PathId) -> bool {
        self.tail.is_some_and(|probe| probe.path == path)
    }

    /// Whether a probe of any path has not been answered yet: there is one at a time (RFC 8985 §7.3).
    pub(crate) fn is_probing(&self) -> bool {
        self.tail.is_some()
    }

    /// T3-rtx of the path has expired, or nothing leaves by it any more: there is nothing left to ask.
    pub(super) fn forget_probe(&mut self, path: PathId) {
        self.tail.take_if(|probe| probe.path == path);
    }
}
