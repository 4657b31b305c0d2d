//! What is on its way on a slow path while another brings what was sent after it: the receiver can deliver nothing of that before.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::flow::Flow;
use super::report::Report;
use super::scheduler::LITTLE;
use super::sender::Sender;
use crate::interface::PathId;
use crate::path::{PathIds, Paths};

/// So long the receiver may wait for one path while another brings what was sent later.
const PATIENCE: Duration = Duration::from_millis(70);

impl Sender {
    /// A SACK has come. If the lowest chunk outstanding is late, it goes out again by a quicker path, and others of its path with it.
    pub(super) fn judge_late(&mut self, now: Instant, report: &mut Report) {
        if !self.multipath().scheduler.moves_what_is_late() {
            return;
        }
        if report.bridged {
            self.outstanding.note_bridged(now);
        }
        let Some(first) = self.outstanding.at(0).filter(|chunk| chunk.is_in_flight()) else { return };
        let (slow, sent_at) = (first.path, first.sent_at);
        let Some(slow_flow) = self.flow(slow) else { return };
        let (carries, least) = (slow_flow.likely_capacity(now), slow_flow.least_wait().unwrap_or_default());
        let proved = slow_flow.capacity();
        let overtakes = |flow: &&Flow| {
            flow.path != slow
                && flow.answers().newest() > Some(sent_at)
                && flow.capacity().saturating_mul(2) >= carries
        };
        let Some(quick) = self.flows.iter().filter(overtakes).min_by_key(|flow| flow.beside().round_trip())
        else {
            return;
        };
        let (round_trip, window) = (quick.beside().round_trip(), quick.congestion.cwnd());
        let stops = self.room() < window && proved.saturating_mul(LITTLE) < quick.capacity();
        let waits = self.streams.is_empty() || stops;
        // A path that carries about as much is waited for: its least round trip.
        let usual =
            if carries.saturating_mul(2) >= quick.capacity() { round_trip.max(least) } else { round_trip };
        let before = if waits && now >= sent_at + round_trip * 2 {
            Instant::ZERO + now.saturating_since(Instant::ZERO + round_trip * 2)
        } else if now >= self.outstanding.bridged_at().max(sent_at + usual) + PATIENCE {
            sent_at + PATIENCE / 3
        } else {
            return;
        };
        self.outstanding.move_late(slow, before);
        // T3-rtx may have nothing left to guard.
        _ = report.path(slow);
        self.opportunity();
    }

    /// A path that joins others is on trial.
    pub(super) fn begin_trial(&mut self, path: PathId) {
        let joins = self.multipath().scheduler.moves_what_is_late() && self.flows.len() > 1;
        if let Some(flow) = self.flow_mut(path).filter(|_| joins) {
            flow.begin_trial();
        }
    }

    /// One that is used alone is not, nor one that can carry twice what the others do.
    pub(super) fn end_trials(&mut self, now: Instant, paths: &Paths) {
        if !self.flows.iter().any(Flow::is_on_trial) {
            return;
        }
        let in_use = self.scheduler.in_use(paths);
        let others = |path: PathId| {
            let others = self.flows.iter().filter(|other| other.path != path && in_use.contains(&other.path));
            others.map(|other| other.likely_capacity(now)).max().unwrap_or_default()
        };
        let over = |flow: &&Flow| {
            let most = others(flow.path);
            in_use.len() == 1 || most > 0 && flow.likely_capacity(now) > most.saturating_mul(2)
        };
        let on_trial = self.flows.iter().filter(|flow| flow.is_on_trial() && in_use.contains(&flow.path));
        let over: PathIds = on_trial.filter(over).map(|flow| flow.path).collect();
        for flow in self.flows.iter_mut().filter(|flow| over.contains(&flow.path)) {
            flow.end_trial();
        }
    }

    /// Packet trains have told how many bytes a second `path` can carry, if they have.
    pub(crate) fn note_estimate(&mut self, path: PathId, rate: Option<u64>) {
        if let Some(flow) = self.flow_mut(path) {
            flow.beside_mut().estimate = rate;
        }
    }
}
