use std::collections::VecDeque;

use smallvec::SmallVec;
use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::{LossDetection, SackNews};
use crate::interface::PathId;
use crate::send::chunk::Chunk;
use crate::send::outstanding::Outstanding;
use crate::send::report::{PathChange, Report};

/// Suspects that one SACK passes over without a verdict, at most. What is behind them is left to later ones, and to T3-rtx.
const PASSED_OVER: usize = 512;
/// Fast retransmissions that are kept in mind, at most; no more chunks are ever outstanding.
const MOST_SENT_AGAIN: usize = 1 << 16;
/// Gap ack blocks that every SACK has room for: Linux writes 16 at most, and 100 fit the smallest packet (RFC 9260 §6.7).
const LEAST_ROOM: usize = 16;

/// Miss indications as RFC 9260 §7.2.4 has them, that heed in which order chunks were sent and not only their TSNs.
///
/// A SACK has room for some 350 gap ack blocks, the lowest first (RFC 9260 §6.7). Where an overflowing queue has lost thousands of packets
/// it says nothing about what is beyond them, which by the RFC's own rules is in flight until T3-rtx expires: if that is more than the
/// window after its reduction, nothing leaves until then. And once the lowest gaps are filled, SACKs newly report what came long ago,
/// which is taken for a proof against what was sent again a moment before: a second reduction for nothing. So:
///
/// - What was sent again is missing only if something newly acknowledged was sent after it.
/// - In Fast Recovery, what was sent on a path before something that has arrived there, by more than the time that packets may
///   be out of order, is no longer on its way. It does not fill the window, and it is lost as soon as a SACK that has room for it
///   does not report it.
/// - So are retransmissions, which are lost again then and not only when T3-rtx expires.
///
/// The last two are RACK's (RFC 8985 §6.2) without its timer: a quarter of the least round trip is what it calls the reordering window.
#[derive(Debug)]
pub(in crate::send) struct SendOrder {
    threshold: u8,
    /// Fast retransmissions that may be on their way, in the order of their departure.
    sent_again: VecDeque<SentAgain>,
    /// The most gap ack blocks in a SACK of this Fast Recovery.
    most_blocks: usize,
    /// Chunks before this one have been judged by when they were sent, unless they were sent again since.
    judged_before: Option<Tsn>,
}

#[derive(Clone, Copy, Debug)]
struct SentAgain {
    tsn: Tsn,
    path: PathId,
    at: Instant,
}

impl SentAgain {
    /// Whether nothing has happened to it since.
    fn is_in_flight(&self, outstanding: &Outstanding) -> bool {
        let chunk = outstanding.get(self.tsn);
        chunk.is_some_and(|chunk| chunk.is_in_flight() && chunk.path == self.path && chunk.sent_at == self.at)
    }
}

/// What was sent on a path before this has arrived or is lost.
#[derive(Clone, Copy, Debug)]
struct Horizon {
    path: PathId,
    before: Instant,
}

impl Horizon {
    fn is_past(horizons: &[Self], path: PathId, sent_at: Instant) -> bool {
        horizons.iter().any(|horizon| horizon.path == path && sent_at < horizon.before)
    }
}

impl SendOrder {
    /// `threshold` is 3 in RFC 9260.
    pub(in crate::send) fn new(threshold: u8) -> Self {
        Self { threshold, sent_again: VecDeque::new(), most_blocks: 0, judged_before: None }
    }

    /// One miss indication for the chunk at `index` if it is in flight and has not been fast-retransmitted. What is no longer on
    /// its way needs no second one.
    fn miss(&self, index: usize, outstanding: &mut Outstanding, report: &mut Report) {
        let has_left = outstanding.at(index).is_some_and(|chunk| chunk.has_left);
        let Some((misses, _)) = outstanding.suspected(index) else { return };
        misses.indications = misses.indications.saturating_add(1);
        if has_left || misses.indications >= self.threshold {
            outstanding.lose(index, report);
        }
    }

    /// RFC 9260 §7.2.4, but for what was sent again after `newest`, the last departure of what is newly acknowledged.
    fn count_misses(
        &self,
        newest: Option<Instant>,
        sack: &SackNews<'_>,
        outstanding: &mut Outstanding,
        report: &mut Report,
    ) {
        let (mut from, mut passed_over) = (0, 0);
        // A SACK that advances the Cumulative TSN Ack Point in Fast Recovery tells of all that it reports missing.
        let all = report.cumulative_advanced && sack.met.recovery.is_active();
        let end = if all { sack.end } else { sack.newly_end };
        while let Some(index) = outstanding.next_suspect(from..end) {
            from = index + 1;
            let Some(chunk) = outstanding.at(index) else { return };
            let later = chunk.retransmitted && newest.is_none_or(|newest| chunk.sent_at > newest);
            if later || index >= sack.newly_end && !sack.met.recovery.covers(chunk.path) {
                passed_over += 1;
                if passed_over > PASSED_OVER {
                    return;
                }
            } else {
                self.miss(index, outstanding, report);
            }
        }
    }

    /// What was sent before the horizon of its path has left it: it is lost if the SACK would tell of it otherwise, and may have
    /// arrived if the SACK has no room.
    fn judge_by_time(
        &mut self,
        horizons: &[Horizon],
        sack: &SackNews<'_>,
        outstanding: &mut Outstanding,
        report: &mut Report,
    ) {
        let Some(last) = horizons.iter().map(|horizon| horizon.before).max() else { return };
        let tells_all = sack.blocks < LEAST_ROOM.max(self.most_blocks / 2);
        let judged = self.judged_before.and_then(|tsn| outstanding.index_of(tsn)).unwrap_or(0);
        let (mut from, mut passed_over) = (if tells_all { 0 } else { judged }, 0);
        while let Some(index) = outstanding.next_suspect(from..outstanding.len()) {
            from = index + 1;
            let Some(chunk) = outstanding.at(index) else { return };
            if chunk.sent_at >= last && !chunk.retransmitted {
                // And so was everything behind it.
                return;
            }
            if !Horizon::is_past(horizons, chunk.path, chunk.sent_at) {
                passed_over += 1;
                if passed_over > PASSED_OVER {
                    return;
                }
            } else if tells_all || index < sack.end {
                outstanding.lose(index, report);
            } else {
                outstanding.leave(index);
                self.judged_before = Some(outstanding.tsn(index).next());
            }
        }
    }

    /// Retransmissions that something overtook which was sent after them.
    fn lose_again(&mut self, horizons: &[Horizon], outstanding: &mut Outstanding, report: &mut Report) {
        while let Some(first) = self.sent_again.front() {
            if first.is_in_flight(outstanding) {
                if !Horizon::is_past(horizons, first.path, first.at) {
                    return;
                }
                if let Some(index) = outstanding.index_of(first.tsn) {
                    outstanding.lose(index, report);
                }
            }
            self.sent_again.pop_front();
        }
    }
}

impl LossDetection for SendOrder {
    fn on_sack(&mut self, sack: &SackNews<'_>, outstanding: &mut Outstanding, report: &mut Report) {
        let last = report.paths.iter().filter_map(|change| newest(change, sack)).max();
        self.count_misses(last, sack, outstanding, report);
        if !sack.met.recovery.is_active() {
            (self.most_blocks, self.judged_before) = (0, None);
            self.sent_again.clear();
            measure_entered(sack.met.now, report);
            return;
        }
        self.most_blocks = self.most_blocks.max(sack.blocks);
        let horizons: SmallVec<[Horizon; 2]> = report
            .paths
            .iter()
            .filter(|change| sack.met.recovery.covers(change.path))
            .filter_map(|change| {
                let least = sack.met.least_round_trip(change.path)?;
                Some(Horizon { path: change.path, before: newest(change, sack)? - least / 4 })
            })
            .collect();
        self.judge_by_time(&horizons, sack, outstanding, report);
        self.lose_again(&horizons, outstanding, report);
    }

    fn on_reneged(&mut self, index: usize, outstanding: &mut Outstanding, report: &mut Report) {
        self.miss(index, outstanding, report);
    }

    fn on_sent_again(&mut self, tsn: Tsn, chunk: &Chunk) {
        // What was given up by a timeout is not here: it may be missed again as if it had never been.
        if chunk.misses.fast_retransmitted && self.sent_again.len() < MOST_SENT_AGAIN {
            self.sent_again.push_back(SentAgain { tsn, path: chunk.path, at: chunk.sent_at });
        }
    }
}

/// A round trip of each path that something was lost on, as Fast Recovery begins: retransmissions measure nothing (Karn's rule), and the
/// last measurement may be from before the queue was full, so that T3-rtx would expire before the first of them is answered. It takes the
/// place of the one that is given up for them (RFC 9260 §6.3.1 C4, C5).
fn measure_entered(now: Instant, report: &mut Report) {
    for change in report.paths.iter_mut().filter(|change| change.lost) {
        change.measured = change.youngest.map(|sent_at| now.saturating_since(sent_at));
    }
}

/// When the last of what is newly acknowledged on a path left.
fn newest(change: &PathChange, sack: &SackNews<'_>) -> Option<Instant> {
    change.newest_sent(sack.met.now, sack.met.least_round_trip(change.path))
}

#[cfg(test)]
#[path = "send_order_tests.rs"]
mod tests;
