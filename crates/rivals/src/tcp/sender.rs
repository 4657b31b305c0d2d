use core::time::Duration;

use whimbrel_machine::Instant;

use super::congestion::CongestionControl;
use super::recovery::{Due, LossRecovery, Reaction, SenderState};
use super::rto::Rto;
use super::scoreboard::{Acknowledged, Scoreboard, Sent};
use super::{Source, TcpConfig, TcpStats};

/// Timeouts in a row after which a connection is given up (RFC 9293 §3.8.3, R2: at least 100 s).
const TIMEOUTS_MAX: u32 = 15;

/// Stands for the round-trip time before it is measured.
const RTT_UNKNOWN: Duration = Duration::from_millis(100);

/// A piece of the stream that is to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// The sending half of a connection, once established. Positions are offsets into the stream of bytes.
#[derive(Debug)]
pub(crate) struct Sender {
    mss: u64,
    board: Scoreboard,
    congestion: Box<dyn CongestionControl>,
    recovery: Box<dyn LossRecovery>,
    rto: Rto,
    timer: Option<Instant>,
    timeouts_in_row: u32,
    /// The offset the peer's window reaches to.
    window_end: u64,
    source: Box<dyn Source>,
    produced: u64,
    /// The next lost segment goes out whatever the window says.
    send_first: bool,
    /// The next segment is a tail loss probe.
    probing: bool,
    /// The congestion window was what stopped the last sending: only then does it grow.
    window_was_limit: bool,
    stats: TcpStats,
}

impl Sender {
    pub(crate) fn new(config: &TcpConfig, mss: u64, rto: Rto, source: Box<dyn Source>) -> Self {
        Self {
            mss,
            board: Scoreboard::default(),
            congestion: (config.congestion)(mss, mss * u64::from(config.initial_window.max(1))),
            recovery: (config.recovery)(mss, config.duplicate_threshold).0,
            rto,
            timer: None,
            timeouts_in_row: 0,
            window_end: 0,
            source,
            produced: 0,
            send_first: false,
            probing: false,
            window_was_limit: false,
            stats: TcpStats::default(),
        }
    }

    /// The window the peer announced in its SYN.
    pub(crate) fn open_window(&mut self, bytes: u64) {
        self.window_end = self.window_end.max(bytes);
    }

    /// An acknowledgement: the cumulative point, the window beyond it in bytes, SACK blocks.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        offset: u64,
        window: u64,
        blocks: impl Iterator<Item = (u64, u64)>,
    ) {
        if offset < self.board.acknowledged() || offset > self.board.end() {
            return;
        }
        let mut result = Acknowledged { now, srtt: self.rto.srtt(), ..Acknowledged::default() };
        let same_window = offset + window <= self.window_end;
        self.window_end = self.window_end.max(offset + window);
        self.board.acknowledge(offset, &mut result);
        self.take_in(blocks, &mut result);
        result.duplicate = result.bytes == 0 && same_window && self.board.flight() > 0;
        if let Some(sent_at) = self.recovery.measures(&result) {
            self.rto.on_measurement(now - sent_at);
            self.congestion.on_measurement(now, now - sent_at, offset, self.board.end());
        }
        if result.bytes > 0 {
            self.timeouts_in_row = 0;
        }
        let reaction = self.recovery.on_acknowledged(&mut self.board, &result);
        self.react(now, reaction, result.bytes);
        if self.board.flight() == 0 {
            self.timer = None;
        }
        self.recovery.on_reaction(&self.board, &self.state(now));
    }

    /// Takes in SACK blocks. The first is data that has come twice if it lies below the cumulative point or inside the second (RFC 2883 §4).
    fn take_in(&mut self, blocks: impl Iterator<Item = (u64, u64)>, result: &mut Acknowledged) {
        let mut first = None;
        for (number, (left, right)) in blocks.enumerate() {
            match (number, first) {
                (0, _) if right <= self.board.acknowledged() => result.duplicated = Some((left, right)),
                (0, _) => first = Some((left, right)),
                (1, Some((inner, end))) if left <= inner && end <= right => result.duplicated = first,
                _ => {}
            }
            self.board.sack(left, right, result);
        }
    }

    fn state(&self, now: Instant) -> SenderState {
        SenderState { now, srtt: self.rto.srtt(), timer: self.timer, cwnd: self.congestion.window() }
    }

    fn react(&mut self, now: Instant, reaction: Reaction, bytes: u64) {
        let mut restart_timer = bytes > 0;
        match reaction {
            Reaction::Grow => {
                if bytes > 0 && self.window_was_limit {
                    let srtt = self.rto.srtt().unwrap_or(RTT_UNKNOWN);
                    self.congestion.on_acknowledged(now, bytes, srtt);
                }
            }
            Reaction::Enter => {
                self.stats.recoveries += 1;
                self.congestion.on_loss(now, self.flight());
                self.send_first = true;
                restart_timer = true;
            }
            Reaction::Recovering { send_first, restart_timer: restart } => {
                self.send_first |= send_first;
                restart_timer = restart;
            }
            Reaction::Repaired { flight } => {
                self.stats.recoveries += 1;
                self.congestion.on_loss(now, flight);
            }
            Reaction::Undo => self.congestion.on_undo(),
            Reaction::Leave { deflate } => {
                if deflate {
                    self.congestion.on_deflation(self.board.flight());
                }
            }
        }
        if restart_timer {
            self.timer = Some(now + self.rto.value());
        }
    }

    /// Sees to timers; false if the peer is given up.
    pub(crate) fn on_time(&mut self, now: Instant) -> bool {
        if self.recovery.deadline().is_some_and(|due| due <= now) {
            match self.recovery.on_time(now, self.rto.srtt(), &mut self.board) {
                Due::Nothing => {}
                Due::Probe => {
                    self.probing = true;
                    self.timer = Some(now + self.rto.value());
                }
                Due::Lost(reaction) => {
                    self.react(now, reaction, 0);
                    self.recovery.on_reaction(&self.board, &self.state(now));
                }
            }
        }
        if self.timer.is_none_or(|timer| timer > now) {
            return true;
        }
        self.stats.timeouts += 1;
        self.timeouts_in_row += 1;
        self.congestion.on_timeout(now, self.flight(), self.timeouts_in_row > 1);
        self.recovery.on_timeout(&self.board);
        self.recovery.lose_at_timeout(now, &mut self.board);
        self.rto.back_off();
        self.send_first = true;
        self.timer = Some(now + self.rto.value());
        self.timeouts_in_row <= TIMEOUTS_MAX
    }

    /// The next segment that may leave now.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Piece> {
        self.produced = self.source.produced(now);
        let sent = if core::mem::take(&mut self.probing) {
            self.probe(now)
        } else {
            match self.board.next_lost() {
                Some(lost) => self.repair(now, &lost),
                None => self.send_new(now),
            }
        }?;
        self.timer = self.timer.or_else(|| Some(now + self.rto.value()));
        self.stats.segments += 1;
        if self.recovery.on_sent(&self.board, &sent, &self.state(now)) {
            self.timer = Some(now + self.rto.value());
        }
        Some(Piece { offset: sent.offset, bytes: sent.bytes })
    }

    fn repair(&mut self, now: Instant, lost: &Sent) -> Option<Sent> {
        if !core::mem::take(&mut self.send_first) && !self.has_room(lost.bytes) {
            self.window_was_limit = true;
            return None;
        }
        self.send_again(now, lost)
    }

    fn send_again(&mut self, now: Instant, sent: &Sent) -> Option<Sent> {
        self.board.on_repaired(now, sent.offset);
        self.stats.retransmissions += 1;
        self.board.ending_at(sent.end()).copied()
    }

    /// New data if there is some, and else the last segment (RFC 8985 §7.3).
    fn probe(&mut self, now: Instant) -> Option<Sent> {
        self.stats.probes += 1;
        let bytes = self.new_bytes();
        if bytes > 0 {
            self.board.on_sent(now, bytes);
            return self.board.last();
        }
        let last = self.board.last()?;
        self.send_again(now, &last)
    }

    fn send_new(&mut self, now: Instant) -> Option<Sent> {
        self.send_first = false;
        let bytes = self.new_bytes();
        if bytes == 0 {
            self.window_was_limit = false;
            return None;
        }
        if !self.has_room(bytes) {
            self.window_was_limit = true;
            return None;
        }
        self.board.on_sent(now, bytes);
        self.board.last()
    }

    /// Bytes of the next segment with new data; 0 if there is none, or no room at the peer.
    fn new_bytes(&self) -> u64 {
        let offset = self.board.end();
        let bytes = self.mss.min(self.produced.saturating_sub(offset));
        if offset + bytes > self.window_end { 0 } else { bytes }
    }

    fn flight(&self) -> u64 {
        self.recovery.flight(&self.board, self.congestion.window())
    }

    fn has_room(&self, bytes: u64) -> bool {
        let window = self.recovery.window(self.congestion.window());
        self.recovery.in_flight(&self.board) + bytes <= window
    }

    /// When something has to be done next.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        [self.timer, self.recovery.deadline(), self.source.next()].into_iter().flatten().min()
    }

    /// Whether all there will ever be has been acknowledged.
    pub(crate) fn is_done(&self) -> bool {
        self.source.size().is_some_and(|size| self.board.acknowledged() >= size)
    }

    /// The first offset not acknowledged.
    pub(crate) const fn acknowledged(&self) -> u64 {
        self.board.acknowledged()
    }

    /// Checks what must hold between calls; for tests.
    #[cfg(test)]
    pub(crate) fn invariants(&self) {
        self.board.invariants();
        assert!(self.board.end() <= self.window_end);
        assert_eq!(self.timer.is_some(), self.board.flight() > 0);
    }

    pub(crate) fn stats(&self) -> TcpStats {
        TcpStats {
            window: self.congestion.window(),
            acknowledged: self.board.acknowledged(),
            srtt: self.rto.srtt(),
            rto: self.rto.value(),
            ..self.stats
        }
    }
}
