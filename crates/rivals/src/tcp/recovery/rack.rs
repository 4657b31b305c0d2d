use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::Instant;

use super::rate_reduction::RateReduction;
use super::reordering::ReorderingWindow;
use super::tail_probe::TailProbe;
use super::undo::Undo;
use super::{Due, LossRecovery, Reaction, Recovery, SenderState};
use crate::tcp::arrivals::Transmission;
use crate::tcp::scoreboard::{Acknowledged, Scoreboard, Sent};

/// Loss recovery as Linux has it: losses are judged by time and tails are probed (RACK-TLP, RFC 8985), the window comes down in proportion to what is
/// delivered (RFC 9937), and what the receiver reports to have come twice takes a needless recovery back (RFC 3708). The peer must send SACKs.
///
/// Transmissions wait for their verdict in the order in which they left, so that each look begins where the last one ended.
#[derive(Debug)]
pub struct Rack {
    mss: u64,
    duplicate_threshold: u32,
    stage: Stage,
    departures: VecDeque<Departure>,
    /// RACK.segment: the last transmission that is known to have arrived.
    latest: Option<Transmission>,
    /// RACK.rtt.
    rtt: Duration,
    window: ReorderingWindow,
    /// The reordering timer.
    due: Option<Instant>,
    reduction: Option<RateReduction>,
    probe: TailProbe,
    undo: Option<Undo>,
    /// What the last acknowledgement was like, until the controller has reacted to it.
    news: News,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Rest,
    /// Fast recovery, until this is acknowledged (RecoveryPoint).
    Fast(u64),
    /// The retransmission timer has expired, with this as SND.NXT.
    Timeout(u64),
}

/// A transmission of the segment that ends at `end`.
#[derive(Clone, Copy, Debug)]
struct Departure {
    end: u64,
    order: u64,
    at: Instant,
}

#[derive(Clone, Copy, Debug, Default)]
struct News {
    delivered: u64,
    /// SafeACK of RFC 9937.
    safe: bool,
}

impl Rack {
    /// A connection's recovery, at rest.
    pub fn boxed(mss: u64, duplicate_threshold: u32) -> Recovery {
        Recovery(Box::new(Self {
            mss,
            duplicate_threshold,
            stage: Stage::Rest,
            departures: VecDeque::new(),
            latest: None,
            rtt: Duration::ZERO,
            window: ReorderingWindow::default(),
            due: None,
            reduction: None,
            probe: TailProbe::default(),
            undo: None,
            news: News::default(),
        }))
    }

    /// RFC 8985 §6.2, steps 1 to 3.
    fn learn(&mut self, acknowledged: &Acknowledged) {
        let Acknowledged { now, arrivals, .. } = *acknowledged;
        if let Some(handshake) = acknowledged.srtt.filter(|_| self.latest.is_none()) {
            self.window.on_measurement(now, handshake);
        }
        if let Some(once) = arrivals.last_once {
            self.window.on_measurement(now, now - once.at);
            self.probe.on_measurement();
        }
        self.window.on_arrivals(&arrivals);
        // An answer sooner than any round trip is one to an earlier transmission.
        let again = arrivals.last_again.filter(|again| now - again.at >= self.window.min_rtt());
        let last = [arrivals.last_once, again].into_iter().flatten().max_by_key(|last| last.order);
        let Some(last) = last else { return };
        self.rtt = now - last.at;
        if self.latest.is_none_or(|latest| latest.order < last.order) {
            self.latest = Some(last);
        }
    }

    /// The receiver has something twice (RFC 8985 §6.2 step 4). Says whether all that the last recovery has sent again was needless.
    fn on_duplicate(&mut self, board: &Scoreboard, right: u64) -> bool {
        if self.probe.is_doubled(right) {
            return false;
        }
        self.window.on_duplicate(board.acknowledged(), board.end());
        self.undo.as_mut().is_some_and(|undo| undo.on_duplicate(right))
    }

    /// Whether a fast recovery ends with what is acknowledged.
    fn is_over(&mut self, board: &Scoreboard) -> bool {
        let stage = self.stage;
        let (Stage::Fast(until) | Stage::Timeout(until)) = stage else { return false };
        if board.acknowledged() < until {
            return false;
        }
        self.window.on_recovered();
        self.rest();
        matches!(stage, Stage::Fast(_))
    }

    fn rest(&mut self) {
        (self.stage, self.reduction) = (Stage::Rest, None);
    }

    fn wait(&self, board: &Scoreboard, srtt: Option<Duration>) -> Duration {
        let overtaking = u64::from(self.duplicate_threshold.saturating_sub(1)) * self.mss;
        let certain = self.stage != Stage::Rest || board.sacked() > overtaking;
        self.rtt + self.window.length(certain, srtt)
    }

    /// Takes for lost what left before the transmission `order` and has been waited for (RFC 8985 §6.2 step 5); says whether anything was, and
    /// when the next will be.
    fn lose(
        &mut self,
        now: Instant,
        order: u64,
        wait: Duration,
        board: &mut Scoreboard,
    ) -> (bool, Option<Instant>) {
        let mut lost = false;
        while let Some(first) = self.departures.front().filter(|first| first.order < order) {
            if board.is_on_its_way(first.end, first.order) {
                if first.at + wait > now {
                    return (lost, Some(first.at + wait));
                }
                board.lose(first.end);
                lost = true;
            }
            self.departures.pop_front();
        }
        (lost, None)
    }

    fn judge(&mut self, now: Instant, srtt: Option<Duration>, board: &mut Scoreboard) -> bool {
        let Some(latest) = self.latest else { return false };
        // What has arrived in order needs no verdict, the latest included.
        let (lost, due) = self.lose(now, latest.order, self.wait(board, srtt), board);
        self.due = due;
        while self.departures.front().is_some_and(|first| !board.is_on_its_way(first.end, first.order)) {
            self.departures.pop_front();
        }
        lost
    }

    fn enter(&mut self, board: &Scoreboard, delivered: u64) -> Reaction {
        self.stage = Stage::Fast(board.end());
        self.probe.stop();
        self.reduction = Some(RateReduction::new(self.mss, board.flight() - board.sacked() + delivered));
        self.undo = Some(Undo::new(board.acknowledged()));
        Reaction::Enter
    }
}

impl LossRecovery for Rack {
    fn wants_sack(&self) -> bool {
        true
    }

    fn reports_duplicates(&self) -> bool {
        true
    }

    /// SACKed segments measure, too: a hole would keep all others from it, and count as their round trip when it is filled.
    fn measures(&self, acknowledged: &Acknowledged) -> Option<Instant> {
        acknowledged.arrivals.last_once.map(|last| last.at)
    }

    fn on_acknowledged(&mut self, board: &mut Scoreboard, acknowledged: &Acknowledged) -> Reaction {
        let delivered = acknowledged.arrivals.bytes;
        self.learn(acknowledged);
        let duplicated = acknowledged.duplicated;
        let needless = duplicated.is_some_and(|(_, right)| self.on_duplicate(board, right));
        let repaired = self.probe.on_acknowledged(board, acknowledged);
        let over = self.is_over(board);
        let lost = self.judge(acknowledged.now, acknowledged.srtt, board);
        self.news = News { delivered, safe: acknowledged.bytes > 0 && !lost };
        if needless {
            self.rest();
            self.undo = None;
            return Reaction::Undo;
        }
        match (self.stage, repaired) {
            (Stage::Rest, _) if lost => self.enter(board, delivered),
            (Stage::Rest, Some(flight)) => Reaction::Repaired { flight },
            (Stage::Rest, None) if over => Reaction::Leave { deflate: false },
            (Stage::Rest, None) | (Stage::Timeout(_), _) => Reaction::Grow,
            (Stage::Fast(_), _) => {
                Reaction::Recovering { send_first: false, restart_timer: acknowledged.bytes > 0 }
            }
        }
    }

    fn on_timeout(&mut self, board: &Scoreboard) {
        if !matches!(self.stage, Stage::Timeout(_)) {
            self.undo = Some(Undo::new(board.acknowledged()));
        }
        self.rest();
        self.stage = Stage::Timeout(board.end());
        self.probe.stop();
        self.due = None;
    }

    /// RFC 8985 §6.3: the first, and what was sent longer ago than it is waited for.
    fn lose_at_timeout(&mut self, now: Instant, board: &mut Scoreboard) {
        self.lose(now, u64::MAX, self.wait(board, None), board);
        board.lose_first();
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        board.pipe()
    }

    /// Not more than cwnd, which is what Linux reduces: while a recovery follows upon another, SND.UNA may lie far back, and what has been sent since is no
    /// measure of what is in the network.
    fn flight(&self, board: &Scoreboard, cwnd: u64) -> u64 {
        board.flight().min(cwnd)
    }

    fn window(&self, cwnd: u64) -> u64 {
        self.reduction.as_ref().map_or(cwnd, RateReduction::window)
    }

    fn on_reaction(&mut self, board: &Scoreboard, state: &SenderState) {
        let News { delivered, safe } = core::mem::take(&mut self.news);
        if let Some(reduction) = &mut self.reduction
            && (delivered > 0 || reduction.window() == 0)
        {
            reduction.on_delivered(delivered, board.pipe(), state.cwnd, safe);
        }
        if self.stage == Stage::Rest && delivered > 0 {
            self.probe.schedule(self.mss, board, state);
        }
    }

    fn on_sent(&mut self, board: &Scoreboard, sent: &Sent, state: &SenderState) -> bool {
        let Transmission { order, at, again } = sent.transmission();
        self.departures.push_back(Departure { end: sent.end(), order, at });
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(sent.bytes);
        }
        if self.probe.on_sent(sent.end(), again, board) {
            return true;
        }
        if !again && self.stage == Stage::Rest {
            self.probe.schedule(self.mss, board, state);
        }
        if again && let Some(undo) = &mut self.undo {
            undo.on_sent_again();
        }
        // As Linux has it: a retransmission of the first segment gets an RTO of its own.
        again && sent.offset == board.acknowledged()
    }

    fn deadline(&self) -> Option<Instant> {
        [self.due, self.probe.due()].into_iter().flatten().min()
    }

    fn on_time(&mut self, now: Instant, srtt: Option<Duration>, board: &mut Scoreboard) -> Due {
        if self.due.is_some_and(|due| due <= now) && self.judge(now, srtt, board) {
            return Due::Lost(match self.stage {
                Stage::Rest => self.enter(board, 0),
                Stage::Fast(_) => Reaction::Recovering { send_first: false, restart_timer: false },
                Stage::Timeout(_) => Reaction::Grow,
            });
        }
        if self.probe.due().is_some_and(|due| due <= now) && self.probe.on_time() {
            return Due::Probe;
        }
        Due::Nothing
    }
}

#[cfg(test)]
#[path = "rack_tests.rs"]
mod tests;
