mod of_path;
mod window;

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use self::of_path::{OfPath, Told};
use super::{Circumstances, LossDetection, SackNews};
use crate::interface::PathId;
use crate::send::chunk::Departure;
use crate::send::outstanding::{LEAST_ROOM, Outstanding};
use crate::send::report::{PathChange, Report};

/// RACK (RFC 8985 §6) of each path: a chunk is lost when something has arrived by its path that was sent later, and it has been waited for as
/// long as packets may be out of order, the reordering window. That is so for retransmissions, too.
///
/// - What was sent once is in the order of TSNs and what was sent again in a queue, so that each look begins where the last one ended.
/// - TSNs in SACKs that came twice are what DSACK is for TCP: the window was too short. So are answers to first transmissions of what
///   was called lost (RFC 8985 §6.2 steps 3 and 4).
/// - A SACK has room for some 350 gap ack blocks, the lowest first (RFC 9260 §6.7). What is overdue beyond them has left the path, does not
///   fill the window any more, and is lost as soon as a SACK that would tell of it does not.
/// - What the receiver has dropped counts as sent when that was told: a SACK that was overtaken looks the same.
#[derive(Debug)]
pub(in crate::send) struct Rack {
    /// DupThresh, in packets: as many have arrived by the path out of turn for the first losses not to wait, where packets come in order.
    threshold: u32,
    paths: Vec<OfPath>,
    told: Told,
    now: Instant,
    /// The most gap ack blocks in a SACK of this Fast Recovery.
    most_blocks: usize,
    recovers: bool,
}

impl Rack {
    /// `threshold` is 3 in RFC 8985.
    pub(in crate::send) fn new(threshold: u8) -> Self {
        Self {
            threshold: threshold.into(),
            paths: Vec::new(),
            told: Told { before: Tsn(0), all: true },
            now: Instant::ZERO,
            most_blocks: 0,
            recovers: false,
        }
    }

    fn of(&mut self, path: PathId) -> &mut OfPath {
        let at = self.paths.iter().position(|of| of.path == path).unwrap_or_else(|| {
            self.paths.push(OfPath::new(path));
            self.paths.len() - 1
        });
        &mut self.paths[at]
    }

    /// Whether Fast Recovery has begun or ended since.
    fn follow(&mut self, recovers: bool) {
        if core::mem::replace(&mut self.recovers, recovers) && !recovers {
            self.paths.iter_mut().for_each(|of| of.window.on_recovered());
        }
        if !recovers {
            self.most_blocks = 0;
        }
    }

    fn judge(&mut self, met: Circumstances<'_>, outstanding: &mut Outstanding, report: &mut Report) {
        let Self { paths, told, threshold, .. } = self;
        for of in paths {
            let certain = met.recovery.covers(of.path) || outstanding.arrived_packets(of.path) >= *threshold;
            of.judge(met, certain, *told, outstanding, report);
        }
    }
}

impl LossDetection for Rack {
    fn on_sack(&mut self, sack: &SackNews<'_>, outstanding: &mut Outstanding, report: &mut Report) {
        let recovers = sack.met.recovery.is_active();
        self.follow(recovers);
        self.now = sack.met.now;
        self.most_blocks = self.most_blocks.max(sack.blocks);
        let all = sack.blocks < LEAST_ROOM.max(self.most_blocks / 2);
        let told = Told { before: outstanding.tsn(sack.end), all };
        let told_before = core::mem::replace(&mut self.told, told);
        // What was sent by a path that is gone says nothing about any other.
        let there = |change: &&PathChange| sack.met.flows.iter().any(|flow| flow.path == change.path);
        for change in report.paths.iter().filter(there).filter(|change| change.acked > 0) {
            self.of(change.path).learn(change, told_before, sack.met);
        }
        self.judge(sack.met, outstanding, report);
        if !recovers {
            measure_entered(sack.met.now, report);
        }
    }

    fn on_time(&mut self, met: Circumstances<'_>, outstanding: &mut Outstanding, report: &mut Report) {
        self.now = met.now;
        self.judge(met, outstanding, report);
    }

    fn on_reneged(&mut self, index: usize, outstanding: &mut Outstanding, _report: &mut Report) {
        let Some((misses, path)) = outstanding.misses(index) else { return };
        misses.indications = 1;
        let tsn = outstanding.tsn(index);
        outstanding.settle(tsn);
        let at = self.now;
        self.of(path).watch(Departure { at, tsn });
    }

    fn on_sent_again(&mut self, tsn: Tsn, had_copy: bool, outstanding: &mut Outstanding) {
        let Some(chunk) = outstanding.get(tsn) else { return };
        let (path, at, verdict) = (chunk.path, chunk.sent_at, chunk.misses.fast_retransmitted && !had_copy);
        outstanding.settle(tsn);
        self.of(path).on_sent_again(tsn, at, verdict);
    }

    fn on_duplicate(&mut self, tsn: Tsn, acknowledged: Tsn, next: Tsn) {
        for of in self.paths.iter_mut().filter(|of| of.has_resent(tsn)) {
            of.window.on_duplicate(acknowledged, next);
        }
    }

    fn on_late(&mut self, now: Instant, path: PathId, took: Duration) {
        self.of(path).on_late_within(now, took);
    }

    fn due(&self, path: PathId) -> Option<Instant> {
        self.paths.iter().find(|of| of.path == path)?.due
    }

    fn is_waiting(&self) -> bool {
        self.paths.iter().any(|of| of.due.is_some())
    }

    fn on_restored(&mut self, path: PathId) {
        self.of(path).start_again();
    }

    fn remove_path(&mut self, path: PathId) {
        self.paths.retain(|of| of.path != path);
    }
}

/// A round trip of each path that something was lost on, as Fast Recovery begins: retransmissions measure nothing (Karn's rule), and the
/// last measurement may be from before the queue was full, so that T3-rtx would expire before the first of them is answered. It takes the
/// place of the one that is given up for them (RFC 9260 §6.3.1 C4, C5).
fn measure_entered(now: Instant, report: &mut Report) {
    let after_full = report.after_full;
    for change in report.paths.iter_mut().filter(|change| change.lost) {
        change.measured = change.took(now, after_full);
    }
}

#[cfg(test)]
#[path = "rack_tests.rs"]
mod tests;
