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
        let Some(carries) = self.flow(slow).map(Flow::capacity) else { return };
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
        let before = if waits && now >= sent_at + round_trip * 2 {
            Instant::ZERO + now.saturating_since(Instant::ZERO + round_trip * 2)
        } else if now >= self.outstanding.bridged_at().max(sent_at + round_trip) + PATIENCE {
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

    /// One that is used alone is not.
    pub(super) fn end_trials(&mut self, paths: &Paths) {
        if self.flows.iter().any(Flow::is_on_trial)
            && let [alone] = *self.scheduler.in_use(paths)
            && let Some(flow) = self.flow_mut(alone)
        {
            flow.end_trial();
        }
    }
}
