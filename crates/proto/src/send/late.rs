//! What is on its way on a slow path while another brings what was sent after it: the receiver can deliver nothing of that before.

use core::time::Duration;

use whimbrel_machine::Instant;

use super::flow::Flow;
use super::report::Report;
use super::scheduler::LITTLE;
use super::sender::Sender;
use crate::interface::PathId;
use crate::path::Paths;

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
        let (carries, least) = (slow_flow.likely_capacity(), slow_flow.least_wait().unwrap_or_default());
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
        let stops = self.room() < window && carries.saturating_mul(LITTLE) < quick.capacity();
        let waits = self.streams.is_empty() || stops;
        // What carries about as much is worth waiting for, as long as it takes without a queue.
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
    pub(super) fn end_trials(&mut self, paths: &Paths) {
        if !self.flows.iter().any(Flow::is_on_trial) {
            return;
        }
        let in_use = self.scheduler.in_use(paths);
        let most = self.flows.iter().map(Flow::capacity).max().unwrap_or_default();
        for flow in self.flows.iter_mut().filter(|flow| flow.is_on_trial() && in_use.contains(&flow.path)) {
            if in_use.len() == 1 || flow.likely_capacity() > most.saturating_mul(2) {
                flow.end_trial();
            }
        }
    }

    /// Packet trains have told how many bytes a second `path` can carry, if they have.
    pub(crate) fn note_estimate(&mut self, path: PathId, rate: Option<u64>) {
        if let Some(flow) = self.flow_mut(path) {
            flow.beside_mut().estimate = rate;
        }
    }
}
