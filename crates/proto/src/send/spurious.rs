//! Losses that were none: what was called lost has been late, and the window is again what it was (RFC 5682, RFC 8985 §6.2).

use core::time::Duration;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::flow::Flow;
use super::report::{LostChunk, Report};
use super::sender::Sender;
use crate::config::SpuriousLoss;
use crate::interface::PathId;

/// Chunks that one Fast Recovery may be about and turn out to have been for nothing. Where more are lost that is no disorder.
const MOST: usize = 1024;
/// SACKs after a timer has called something lost that tell whether it was right. Later ones are about something else.
const TELLING: u32 = 5;

/// Why the window of a path was reduced, and cwnd and ssthresh before that, in bytes.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    /// A timer said that something was lost. It may have been late only.
    guess: Option<(usize, usize)>,
    /// How long after its sending a tail-loss probe had called it overdue.
    overdue_after: Option<Duration>,
    /// SACKs for the path since.
    answers: u32,
    /// SACKs said so.
    reduced: Option<Reduced>,
    /// It has been taken back, and no round trip has been measured since.
    taken_back: bool,
    /// Packets that were called lost and have arrived all the same, since this was last asked.
    late: u32,
}

impl Verdicts {
    pub(super) fn note_guess(&mut self, before: (usize, usize), overdue_after: Option<Duration>) {
        (self.answers, self.reduced) = (0, None);
        if self.guess.is_none() {
            (self.guess, self.overdue_after) = (Some(before), overdue_after);
        }
    }

    /// How long the timer had waited, if that was a tail-loss probe's: round trips that are measured later do not change it.
    pub(super) fn overdue_after(&self) -> Option<Duration> {
        self.overdue_after
    }

    /// Whether a timer's guess was taken back, and the round trip that this went by has not been seen again since.
    pub(super) fn is_doubtful(&self) -> bool {
        self.taken_back
    }

    pub(super) fn note_round_trip(&mut self) {
        self.taken_back = false;
    }

    pub(super) fn take_guess(&mut self) -> Option<(usize, usize)> {
        self.guess.take()
    }

    pub(super) fn note_reduction(&mut self, before: (usize, usize)) {
        self.reduced = Some(Reduced { before, lost: Vec::new(), refuted: false });
    }

    pub(super) fn forget_reduction(&mut self) {
        self.reduced = None;
    }

    /// The window before all that.
    fn take(&mut self) -> Option<(usize, usize)> {
        let reduced = self.reduced.take().map(|reduced| reduced.before);
        self.guess.take().or(reduced)
    }

    /// When the chunk had been sent, if it was called lost and has arrived by that transmission.
    fn note_arrived(&mut self, tsn: Tsn) -> Option<Instant> {
        let late = self.reduced.as_mut()?.note_arrived(tsn)?;
        self.late += u32::from(late.is_counted);
        Some(late.sent_at)
    }

    /// Whether all that Fast Recovery is about has arrived without being sent again.
    fn is_refuted(&self) -> bool {
        self.reduced.as_ref().is_some_and(|reduced| reduced.refuted)
    }

    /// Whether a first transmission that has come after all says that a timer was wrong.
    fn is_guess_wrong(&self, returned: &Returned) -> bool {
        let certain = returned.sent_again.is_some() || self.answers > 0;
        self.guess.is_some() && self.answers < TELLING && certain
    }
}

/// What a window was reduced for in Fast Recovery.
#[derive(Debug)]
struct Reduced {
    /// cwnd and ssthresh before, in bytes.
    before: (usize, usize),
    /// What was called lost and has not turned out to have arrived all the same, in the order of TSNs.
    lost: Vec<LostChunk>,
    refuted: bool,
}

impl Reduced {
    /// One chunk more is called lost; false if there are too many.
    fn note_lost(&mut self, lost: LostChunk) -> bool {
        let at = self.lost.partition_point(|known| known.tsn.precedes(lost.tsn));
        match self.lost.get_mut(at).filter(|known| known.tsn == lost.tsn) {
            Some(known) => known.sent_at = lost.sent_at,
            None => self.lost.insert(at, lost),
        }
        self.lost.len() <= MOST
    }

    /// The first transmission of this chunk has arrived. What was said of it, if it had been called lost.
    fn note_arrived(&mut self, tsn: Tsn) -> Option<LostChunk> {
        let at = self.lost.partition_point(|known| known.tsn.precedes(tsn));
        self.lost.get(at).filter(|known| known.tsn == tsn && !known.has_copy)?;
        let late = self.lost.remove(at);
        self.refuted = self.lost.is_empty();
        Some(late)
    }
}

/// A chunk that had been called lost and has been acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Returned {
    pub(super) path: PathId,
    pub(super) tsn: Tsn,
    /// When it was sent again, if it was.
    pub(super) sent_again: Option<Instant>,
}

impl Returned {
    /// Whether it is the first transmission that has arrived: no second one could be answered yet.
    fn is_first(&self, now: Instant, flow: &Flow) -> bool {
        // The first acknowledgements may have been kept back for seconds, and nothing but heartbeats tells.
        let too_soon = |at| flow.least_wait().is_some_and(|least| now.saturating_since(at) < least);
        self.sent_again.is_none_or(too_soon)
    }
}

impl Sender {
    /// A SACK has come. What it acknowledges of what was called lost, and what it says to have come twice, may show that nothing was lost:
    ///
    /// - by SACKs: all of it has arrived by its first transmission;
    /// - by a timer: a first transmission has arrived after it. Is it known because an answer to the second one could not be there yet,
    ///   that is certain. If it has not been sent again, its SACK may have been lost before, so that it takes one more (F-RTO, RFC 5682 §3).
    pub(super) fn judge_losses(
        &mut self,
        now: Instant,
        duplicates: impl Iterator<Item = Tsn>,
        report: &mut Report,
    ) {
        if self.repair.spurious == SpuriousLoss::Ignored {
            return;
        }
        for tsn in duplicates {
            for flow in &mut self.flows {
                if let Some(sent_at) = flow.verdicts.note_arrived(tsn) {
                    self.loss.on_late(now, flow.path, now.saturating_since(sent_at));
                }
            }
        }
        let mut late: SmallVec<[PathId; 2]> = SmallVec::new();
        for returned in &report.returned {
            let Some(flow) = self.flows.iter_mut().find(|flow| flow.path == returned.path) else { continue };
            if returned.is_first(now, flow) {
                if let Some(sent_at) = flow.verdicts.note_arrived(returned.tsn) {
                    self.loss.on_late(now, flow.path, now.saturating_since(sent_at));
                }
                if report.cumulative_advanced && flow.verdicts.is_guess_wrong(returned) {
                    late.push(flow.path);
                }
            }
        }
        for change in report.paths.iter().filter(|change| change.acked > 0) {
            if let Some(flow) = self.flows.iter_mut().find(|flow| flow.path == change.path) {
                flow.verdicts.answers = flow.verdicts.answers.saturating_add(1);
            }
        }
        late.extend(self.flows.iter().filter(|flow| flow.verdicts.is_refuted()).map(|flow| flow.path));
        late.dedup();
        late.into_iter().for_each(|path| self.take_back(now, path, report));
    }

    /// What was called lost on `path` was late.
    fn take_back(&mut self, now: Instant, path: PathId, report: &mut Report) {
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.path == path) else { return };
        let Some(before) = flow.verdicts.take() else { return };
        flow.verdicts.taken_back = true;
        flow.undo(before);
        flow.guarded = None;
        flow.counters.undone += 1;
        self.outstanding.restore(path);
        self.loss.on_restored(path);
        self.recovery.end(path);
        // RFC 4015 §3.2 (Eifel): so long may it take.
        let change = report.path(path);
        change.measured = change.youngest.map(|at| now.saturating_since(at)).or(change.measured);
        self.opportunity();
    }

    /// A HEARTBEAT was answered after this time.
    pub(crate) fn note_answer(&mut self, path: PathId, took: Duration) {
        if let Some(flow) = self.flow_mut(path) {
            flow.note_answer(took);
        }
    }

    /// It may be another network that leads there from now on: how long an answer takes at least is not known.
    pub(crate) fn forget_least(&mut self, path: PathId) {
        if let Some(flow) = self.flow_mut(path) {
            flow.forget_least();
        }
    }

    /// The path works from now on, or has failed.
    pub(crate) fn note_standing(&mut self, now: Instant, path: PathId, works: bool) {
        if let Some(flow) = self.flow_mut(path) {
            flow.note_standing(now, works);
        }
        if works {
            self.outstanding.forgive(path);
        }
    }

    /// How many packets that were called lost on `path` have turned out to be late since this was last asked. Those of timers are not among them.
    pub(crate) fn take_late(&mut self, path: PathId) -> u32 {
        self.flow_mut(path).map_or(0, |flow| core::mem::take(&mut flow.verdicts.late))
    }

    /// A SACK has shown chunks to be lost.
    pub(super) fn note_reasons(&mut self, report: &Report) {
        if self.repair.spurious == SpuriousLoss::Ignored {
            return;
        }
        for &lost in &report.lost {
            let Some(flow) = self.flow_mut(lost.path) else { continue };
            flow.verdicts.reduced.take_if(|reduced| !reduced.note_lost(lost));
        }
    }
}

#[cfg(test)]
#[path = "spurious_tests.rs"]
mod tests;
