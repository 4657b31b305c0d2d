//! Acknowledgements (RFC 9260 §6.2.1, §6.3.2, §7.2.4).

use core::time::Duration;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;
use whimbrel_wire::draft::NrSack;

use super::chunk::ChunkState;
use super::flow::Flow;
use super::loss::Circumstances;
use super::outstanding::SackError;
use super::report::{PathChange, Report, T3};
use super::sender::Sender;
use crate::config::{TailLoss, WindowReduction};
use crate::interface::PathId;
use crate::path::congestion::{Acked, CongestionPhase, Lost, Shared, SharedPath};

/// The peer's window has room if a chunk with so many bytes of user data fits.
const LITTLE: usize = 1_200;

/// What is acknowledged later than this, and later than RTO.Max, was acknowledged before by SACKs that were lost, and the time until now is no
/// round trip.
pub(super) const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(10);

impl Sender {
    /// A SACK, which has come `by` a path.
    ///
    /// # Errors
    /// [`SackError`] if it cannot be true; then nothing has changed.
    pub(crate) fn on_sack(
        &mut self,
        now: Instant,
        sack: &NrSack<'_>,
        by: Option<PathId>,
    ) -> Result<Report, SackError> {
        let NrSack { sack: told, .. } = sack;
        let gaps = told.gap_ack_blocks().map(|block| (block.start, block.end));
        let kept = sack.non_renegable_blocks().map(|block| (block.start, block.end));
        let (cumulative, a_rwnd) = (told.cumulative_tsn_ack, told.a_rwnd as usize);
        let (overtaken, packets) = (self.multipath().overtaken, told.packets.into());
        let Self { outstanding, loss, recovery, flows, .. } = self;
        let met = Circumstances { now, recovery: &**recovery, flows, overtaken, packets };
        let mut report = match outstanding.on_sack(cumulative, gaps, kept, &mut **loss, met) {
            Ok(report) => report,
            Err(SackError::Old) => return self.on_old_sack(now, sack, by),
            Err(error) => return Err(error),
        };
        for tsn in told.duplicate_tsns() {
            self.loss.on_duplicate(tsn, cumulative, self.outstanding.next_tsn());
        }
        self.judge_losses(now, told.duplicate_tsns(), &mut report);
        self.judge_tail(now, cumulative, &mut report);
        self.window.on_sack(a_rwnd, self.outstanding.in_flight_payload());
        self.judge_late(now, &mut report);
        let awaited = self.outstanding.get(cumulative.next());
        report.refused = awaited.is_some_and(|chunk| chunk.payload_len() > a_rwnd);
        let mut report = self.apply(now, cumulative, by, report);
        if self.combines_paths() {
            self.measure_by_own_sack(now, sack, by, &mut report);
        }
        Ok(report)
    }

    /// The Cumulative TSN Ack of a SHUTDOWN; it says nothing about gaps (RFC 9260 §3.3.8).
    ///
    /// # Errors
    /// [`SackError`] if it cannot be true; then nothing has changed.
    pub(crate) fn on_cumulative_ack(&mut self, now: Instant, cumulative: Tsn) -> Result<Report, SackError> {
        let before = self.outstanding.in_flight_payload();
        let mut report = self.outstanding.acknowledge_up_to(cumulative, 0)?;
        self.window.on_acknowledged(before - self.outstanding.in_flight_payload());
        self.outstanding.renege_next(&mut *self.loss, &mut report);
        Ok(self.apply(now, cumulative, None, report))
    }

    /// The time has come at which something may be lost, if no SACK has told otherwise.
    pub(crate) fn on_reordering_timer(&mut self, now: Instant, path: PathId) -> Report {
        let mut report = Report::default();
        // Its timer is to be set anew, whatever has happened.
        _ = report.path(path);
        let (overtaken, packets) = (self.multipath().overtaken, 1);
        let Self { outstanding, loss, recovery, flows, .. } = self;
        let met = Circumstances { now, recovery: &**recovery, flows, overtaken, packets };
        loss.on_time(met, outstanding, &mut report);
        self.apply(now, self.outstanding.cumulative_ack_point(), None, report)
    }

    fn apply(&mut self, now: Instant, cumulative: Tsn, by: Option<PathId>, mut report: Report) -> Report {
        self.held_up = None;
        self.totals.released += report.released;
        for change in report.paths.iter().filter(|change| change.lost_bytes > 0) {
            self.charge(now, change);
        }
        for change in report.paths.iter_mut().filter(|change| change.acked > 0) {
            if self.combines_paths() {
                self.tell_of_others(change.path);
            }
            self.credit(now, cumulative, report.cumulative_advanced, by, report.after_full, change);
        }
        self.recovery.on_cumulative_ack(cumulative);
        let lost_on: SmallVec<[PathId; 4]> =
            report.paths.iter().filter(|change| change.lost).map(|change| change.path).collect();
        if !lost_on.is_empty() {
            self.begin_fast_retransmit(&lost_on);
            self.note_reasons(&report);
        }
        for change in &mut report.paths {
            self.outstanding.forget_late_before(change.path, change.youngest);
            change.t3 = self.guard(change.path, change.reneged);
            self.note_path_point(change.path);
            change.reordering = self.loss.due(change.path);
        }
        self.check();
        report
    }

    /// A path has lost something.
    fn charge(&mut self, now: Instant, change: &PathChange) {
        let (bytes, newest) = (change.lost_bytes, change.lost_newest);
        if let Some((flow, newest_sent)) = self.flow_mut(change.path).zip(newest) {
            flow.congestion.on_lost(&Lost { now, bytes, newest_sent });
            flow.beside_mut().loss_rate.on_lost(change.sizes.lost);
        }
    }

    /// A controller is told of all paths that have data in flight, its own among them.
    fn tell_of_others(&mut self, path: PathId) {
        let busy = |flow: &&Flow| flow.path == path || self.outstanding.flight_size(flow.path) > 0;
        let view = |flow: &Flow| SharedPath {
            cwnd: flow.congestion.cwnd(),
            round_trip: flow.beside().round_trip(),
            between_losses: flow.congestion.between_losses(),
        };
        let own = self.flows.iter().filter(busy).position(|flow| flow.path == path);
        let paths: SmallVec<[SharedPath; 4]> = self.flows.iter().filter(busy).map(view).collect();
        if let Some((flow, own)) = self.flow_mut(path).zip(own) {
            flow.congestion.on_shared(&Shared { paths: &paths, own });
        }
    }

    /// Congestion window and RTT of a path on which something has been acknowledged.
    fn credit(
        &mut self,
        now: Instant,
        cumulative: Tsn,
        cumulative_advanced: bool,
        by: Option<PathId>,
        after_full: bool,
        change: &mut PathChange,
    ) {
        let combines = self.combines_paths();
        let (grows, cumulative_advanced) = self.growth(change.path, cumulative_advanced);
        let waiting = self.waiting();
        let took = change.took(now, after_full);
        let possible = took.filter(|&took| self.is_round_trip(took));
        let outstanding = &self.outstanding;
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.path == change.path) else { return };
        change.round_trip = possible.filter(|&took| flow.has_worked_for(now, took));
        let measures = flow.congestion.phase() == CongestionPhase::ProbeRoundTrip;
        change.waiting = (!measures).then_some(waiting);
        let own_sack = !combines || by == Some(change.path);
        if combines {
            flow.beside_mut().loss_rate.on_arrived(change.packets);
            flow.note_round_trip(now, took);
        }
        flow.note_brought(change.acked);
        flow.acked_since_burst += change.acked - change.late;
        flow.note_sack(cumulative_advanced && !change.lost);
        let acknowledged = |&mut (tsn, _): &mut (Tsn, Instant)| {
            let chunk = outstanding.get(tsn);
            tsn.at_or_before(cumulative)
                || chunk.is_some_and(|chunk| chunk.state == ChunkState::GapAcknowledged)
        };
        let by = if combines { by } else { Some(change.path) };
        let answered = flow.timed.as_mut().is_some_and(acknowledged);
        let timed = if answered { flow.take_timed(now, by) } else { None };
        let timed = timed.map(|sent_at| now.saturating_since(sent_at));
        change.measured = timed.or(change.measured.filter(|_| own_sack));
        if self.repair.tail == TailLoss::Probe {
            // Probes that are sent too early must not keep the round trip from being learnt (RFC 8985 §7.3). Where what was sent again can have
            // been answered, the SACK for what was sent once may have been lost, and the heartbeat that asks measures the path.
            let by_retransmission = change.newest_sent(now, flow.least_wait()) > change.youngest;
            let untimed = change.round_trip.filter(|&took| {
                own_sack && flow.timed.is_none() && !by_retransmission && flow.answers().is_due(now, took)
            });
            change.measured = change.measured.or(untimed);
            flow.answers_mut().note_measured(now, change.measured);
        }
        change.full = flow.is_window_full(flow.utilised);
        flow.note_least(change.round_trip);
        let newest_sent = change.newest_sent(now, flow.least_round_trip);
        // Data that comes by another path than before is acknowledged at once (`NewRoute`).
        let prompt = combines || outstanding.has_gaps();
        let least = flow.least_wait();
        flow.answers_mut().learn(change, newest_sent, prompt, least);
        // Where several paths carry data there is enough that was never on another one.
        let carried = if combines { newest_sent } else { flow.newest_carried(now, change) };
        flow.congestion.on_acked(&Acked {
            now,
            bytes: change.acked,
            flight_size_before: flow.utilised,
            rtt: change.round_trip,
            cumulative_advanced,
            grows,
            in_fast_recovery: self.recovery.covers(change.path),
            all_acknowledged: outstanding.is_empty(),
            in_flight: outstanding.on_the_way(change.path),
            newest_sent: carried,
        });
    }

    /// Whether the window of `path` may grow, and whether the Cumulative TSN Ack Point has advanced for it. Where several paths carry data, the slowest of them
    /// holds that back.
    fn growth(&mut self, path: PathId, advanced: bool) -> (bool, bool) {
        if self.combines_paths() {
            self.judge_advance(path, advanced)
        } else {
            (self.grows_on_one_path(advanced), advanced)
        }
    }

    /// Fast Recovery of a path may be over by what has become of its own chunks.
    fn note_path_point(&mut self, path: PathId) {
        if self.recovery.covers(path) && !self.outstanding.losses().any(|(lost_on, _)| lost_on == path) {
            let lowest = self.flow(path).and_then(|flow| flow.guarded);
            self.recovery.on_path_point(path, lowest);
        }
    }

    /// A SACK that another one has overtaken tells nothing new, but how long it took by its path.
    fn on_old_sack(
        &mut self,
        now: Instant,
        sack: &NrSack<'_>,
        by: Option<PathId>,
    ) -> Result<Report, SackError> {
        let mut report = Report::default();
        if self.combines_paths() {
            self.measure_by_own_sack(now, sack, by, &mut report);
        }
        if report.paths.is_empty() { Err(SackError::Old) } else { Ok(report) }
    }

    /// Round trips of chunks that SACKs by other paths have told of: the one that was sent for the chunk has come, or is waited for no longer.
    fn measure_by_own_sack(
        &mut self,
        now: Instant,
        sack: &NrSack<'_>,
        by: Option<PathId>,
        report: &mut Report,
    ) {
        let mut untold: SmallVec<[PathId; 4]> = SmallVec::new();
        for flow in &mut self.flows {
            let measured = if by == Some(flow.path) {
                flow.take_told_elsewhere(sack).map(|sent_at| now.saturating_since(sent_at))
            } else {
                flow.give_up_own_sack(now).map(|(sent_at, told_at)| told_at.saturating_since(sent_at))
            };
            if let Some(measured) = measured {
                if report.paths.iter().all(|change| change.path != flow.path) {
                    untold.push(flow.path);
                }
                let change = report.path(flow.path);
                change.measured = change.measured.or(Some(measured));
                flow.answers_mut().note_measured(now, Some(measured));
            }
        }
        for path in untold {
            let t3 = self.guard(path, None);
            let change = report.path(path);
            (change.t3, change.reordering) = (t3, self.loss.due(path));
        }
    }

    /// Bytes of new user data that nothing but the windows or the pace of paths holds back: not the peer's window.
    fn waiting(&self) -> usize {
        let queued = self.streams.queued();
        let has_room = self.window.left(self.outstanding.in_flight_payload()) >= queued.min(LITTLE);
        if has_room { queued } else { 0 }
    }

    /// RFC 9260 §7.2.4: chunks last sent on the paths `lost_on` have been reported missing often enough.
    pub(super) fn begin_fast_retransmit(&mut self, lost_on: &[PathId]) {
        let entering = self.recovery.begin(lost_on, self.outstanding.highest_tsn());
        let proportional = self.repair.reduction == WindowReduction::Proportional;
        for flow in self.flows.iter_mut().filter(|flow| entering.contains(&flow.path)) {
            flow.note_reduction();
            flow.congestion.on_fast_retransmit();
            if proportional {
                flow.begin_reduction();
            }
            flow.counters.fast_retransmits += 1;
            // Step 3: one packet goes at once, whatever cwnd says.
            flow.forced = true;
        }
    }

    /// What becomes of T3-rtx of a path whose chunks have changed (RFC 9260 §6.3.2 R2, R3, R4). From `reneged` on some of them are
    /// in flight again.
    pub(super) fn guard(&mut self, path: PathId, reneged: Option<Tsn>) -> T3 {
        let outstanding = &self.outstanding;
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.path == path) else { return T3::Stop };
        let still_first = flow.guarded.and_then(|tsn| outstanding.get(tsn)).is_some_and(|chunk| {
            // Nothing earlier can have been sent since, or the timer would have been restarted.
            chunk.state == ChunkState::InFlight && chunk.path == path
        });
        // R4: the timer goes on, and guards what is in flight again.
        let earlier =
            |guarded: &Tsn| reneged.filter(|reneged| reneged.precedes(*guarded)).unwrap_or(*guarded);
        flow.guarded = flow.guarded.as_ref().map(earlier);
        if still_first {
            return T3::Start;
        }
        // Nothing before what was guarded is in flight, so that this walks over each chunk once.
        let from = flow.guarded.unwrap_or(outstanding.cumulative_ack_point());
        let in_flight = outstanding.flight_size(path) > 0;
        flow.guarded = if in_flight { outstanding.earliest_in_flight_from(from, path) } else { None };
        if flow.guarded.is_some() { T3::Restart } else { T3::Stop }
    }
}
