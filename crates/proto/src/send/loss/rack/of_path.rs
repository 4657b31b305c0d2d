use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::window::ReorderingWindow;
use crate::interface::PathId;
use crate::send::chunk::Departure;
use crate::send::loss::Circumstances;
use crate::send::outstanding::Outstanding;
use crate::send::report::{PathChange, Report};

/// Chunks of other paths that one look passes over, at most. What is behind them is left to later ones.
const PASSED_OVER: usize = 512;
/// Retransmissions that are kept in mind, at most; no more chunks are ever outstanding.
const MOST_SENT_AGAIN: usize = 1 << 16;

/// What a SACK tells of: what is not reported up to there is not there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// All is told before this TSN.
    pub(super) before: Tsn,
    /// It had room for more: all is told.
    pub(super) all: bool,
}

impl Told {
    fn covers(self, tsn: Tsn) -> bool {
        self.all || tsn.precedes(self.before)
    }
}

/// What is known of the order of one path.
#[derive(Debug)]
pub(super) struct OfPath {
    pub(super) path: PathId,
    pub(super) window: ReorderingWindow,
    /// What was sent last of what has arrived, and how long that took.
    newest: Option<Departure>,
    round_trip: Duration,
    smoothed: Option<Duration>,
    /// When duplicates last had the window doubled.
    doubled_at: Option<Instant>,
    /// The highest TSN that has arrived.
    highest: Option<Tsn>,
    /// Chunks before this one have been judged, unless they were sent again since.
    judged_before: Option<Tsn>,
    /// What was sent again, and what the receiver has dropped, in the order of departure; that counts as sent when it was told.
    again: VecDeque<Departure>,
    /// The lowest and the highest TSN that was sent again because of a verdict, since the present losses began.
    resent: Option<(Tsn, Tsn)>,
    /// When the next chunk is lost, if nothing is heard of it.
    pub(super) due: Option<Instant>,
}

/// Timers and busy hosts are not exact.
const SLACK: Duration = Duration::from_millis(10);

impl OfPath {
    pub(super) fn new(path: PathId) -> Self {
        Self {
            path,
            window: ReorderingWindow::default(),
            newest: None,
            round_trip: Duration::ZERO,
            smoothed: None,
            doubled_at: None,
            highest: None,
            judged_before: None,
            again: VecDeque::new(),
            resent: None,
            due: None,
        }
    }

    /// Takes in what a SACK newly acknowledges (RFC 8985 §6.2 steps 2 and 3). What the one before, which has `told` of so much, had no room to tell of
    /// may have arrived long ago, and says nothing about the order.
    pub(super) fn learn(&mut self, change: &PathChange, told: Told, met: Circumstances<'_>) {
        if let Some((lowest, highest)) = change.once {
            let took = change.oldest.map(|at| met.now.saturating_since(at)).unwrap_or_default();
            if self.highest.is_some_and(|known| lowest.precedes(known)) && told.covers(lowest) {
                self.window.on_reordering();
                self.window.on_late(took.saturating_sub(self.round_trip));
            }
            if self.highest.is_none_or(|known| known.precedes(highest)) {
                self.highest = Some(highest);
            }
        }
        let Some(newest) = change.newest_departure(met.now, met.least_round_trip(self.path)) else { return };
        let took = met.now.saturating_since(newest.at);
        // As long as a handshake of small packets is all that has measured the path, the first full ones may take much longer, and what seems to
        // answer a retransmission late is rather the answer to the first transmission.
        let least = met.least_round_trip(self.path);
        let of_retransmission = change.again == Some(newest.tsn) && change.sent_again == Some(newest.at);
        let late = of_retransmission && least.is_some_and(|least| took > least * 2 + SLACK);
        if self.smoothed.is_none() && late {
            return;
        }
        self.round_trip = took;
        let smoothed = self.smoothed.map_or(self.round_trip, |before| (before * 7 + self.round_trip) / 8);
        self.smoothed = Some(smoothed);
        if self.newest.is_none_or(|known| known.is_before(newest)) {
            self.newest = Some(newest);
        }
    }

    /// Something that was called lost has taken so long at most: the window doubles at most, once in a round trip.
    pub(super) fn on_late_within(&mut self, now: Instant, took: Duration) {
        if self.doubled_at.is_none_or(|at| now.saturating_since(at) >= self.round_trip) {
            self.doubled_at = Some(now);
            let twice = (self.round_trip / 4).max(self.window.late()) * 2;
            self.window.on_late(took.saturating_sub(self.round_trip).min(twice));
        }
    }

    /// What was called lost was late: what has arrived since may have been that, and not what was sent again.
    pub(super) fn start_again(&mut self) {
        self.newest = None;
        self.judged_before = None;
        self.due = None;
        self.window.on_reordering();
    }

    /// A chunk that was called lost here has been sent again.
    pub(super) fn on_sent_again(&mut self, tsn: Tsn, at: Instant, verdict: bool) {
        if self.again.is_empty() {
            self.resent = None;
        }
        if verdict {
            let (lowest, highest) = self.resent.unwrap_or((tsn, tsn));
            let least = if tsn.precedes(lowest) { tsn } else { lowest };
            self.resent = Some((least, if highest.precedes(tsn) { tsn } else { highest }));
        }
        self.watch(Departure { at, tsn });
    }

    /// Something is to be judged by this departure, which was the last one.
    pub(super) fn watch(&mut self, departure: Departure) {
        if self.again.len() < MOST_SENT_AGAIN {
            self.again.push_back(departure);
        }
    }

    /// Whether a verdict of here has had this chunk sent again.
    pub(super) fn has_resent(&self, tsn: Tsn) -> bool {
        self.resent.is_some_and(|(lowest, highest)| lowest.at_or_before(tsn) && tsn.at_or_before(highest))
    }

    /// Calls lost what was sent before something that has arrived and has had the reordering window since (RFC 8985 §6.2 step 5).
    /// `certain`: see [`ReorderingWindow::length`].
    pub(super) fn judge(
        &mut self,
        met: Circumstances<'_>,
        certain: bool,
        told: Told,
        outstanding: &mut Outstanding,
        report: &mut Report,
    ) {
        self.due = None;
        let (Some(newest), Some(smoothed)) = (self.newest, self.smoothed) else { return };
        let least = met.least_round_trip(self.path).unwrap_or(smoothed);
        let patience = self.round_trip + self.window.length(least, smoothed, certain);
        self.judge_left(told, outstanding, report);
        self.judge_once(newest, patience, met.now, told, outstanding, report);
        self.judge_again(newest, patience, met.now, outstanding, report);
    }

    /// What had left the path without being told of, and is told of now.
    fn judge_left(&mut self, told: Told, outstanding: &mut Outstanding, report: &mut Report) {
        if !outstanding.has_left(self.path) {
            return;
        }
        let judged = self.judged_before.and_then(|tsn| outstanding.index_of(tsn)).unwrap_or(0);
        let (mut from, mut passed_over) = (0, 0);
        while let Some(index) = outstanding.next_suspect(from..judged) {
            from = index + 1;
            let left = outstanding.at(index).is_some_and(|chunk| chunk.path == self.path && chunk.has_left);
            if !told.covers(outstanding.tsn(index)) || passed_over > PASSED_OVER {
                return;
            } else if left {
                outstanding.lose(index, report);
            } else {
                passed_over += 1;
            }
        }
    }

    /// What was sent once, which is in the order of TSNs: nothing is looked at twice before its time.
    fn judge_once(
        &mut self,
        newest: Departure,
        patience: Duration,
        now: Instant,
        told: Told,
        outstanding: &mut Outstanding,
        report: &mut Report,
    ) {
        let mut from = self.judged_before.and_then(|tsn| outstanding.index_of(tsn)).unwrap_or(0);
        let mut passed_over = 0;
        while let Some(index) = outstanding.next_suspect(from..outstanding.len()) {
            from = index;
            let Some(chunk) = outstanding.at(index) else { break };
            let departure = Departure { at: chunk.sent_at, tsn: outstanding.tsn(index) };
            if chunk.path != self.path {
                passed_over += 1;
                if passed_over > PASSED_OVER {
                    break;
                }
            } else if !departure.is_before(newest) {
                break;
            } else if departure.at + patience > now {
                self.due = Some(departure.at + patience);
                break;
            } else if told.covers(departure.tsn) {
                outstanding.lose(index, report);
            } else {
                outstanding.leave(index);
            }
            from = index + 1;
        }
        self.judged_before = Some(outstanding.tsn(from));
    }

    /// What was sent again.
    fn judge_again(
        &mut self,
        newest: Departure,
        patience: Duration,
        now: Instant,
        outstanding: &mut Outstanding,
        report: &mut Report,
    ) {
        while let Some(&first) = self.again.front() {
            if let Some(index) = self.in_flight(first, outstanding) {
                if !first.is_before(newest) {
                    return;
                }
                if first.at + patience > now {
                    let due = first.at + patience;
                    self.due = Some(self.due.map_or(due, |other| other.min(due)));
                    return;
                }
                outstanding.lose(index, report);
            }
            self.again.pop_front();
        }
    }

    /// Where the chunk is that left then, if nothing has happened to it since.
    fn in_flight(&self, departure: Departure, outstanding: &Outstanding) -> Option<usize> {
        let index = outstanding.index_of(departure.tsn)?;
        let chunk = outstanding.at(index)?;
        let dropped = chunk.misses.indications > 0 && chunk.sent_at < departure.at;
        let same = chunk.misses.indications == 0 && chunk.sent_at == departure.at;
        (chunk.is_in_flight() && chunk.path == self.path && (same || dropped)).then_some(index)
    }
}
