//! What the sender keeps of one path: its congestion window, the limits on bursts, its pace, what T3-rtx guards and what is timed.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::report::PathChange;
use super::round_trip::BesideOthers;
use super::scheduler::NANOS;
use super::spurious::Verdicts;
use super::tail::Answers;
use crate::config::BurstLimit;
use crate::interface::{PathCounters, PathId};
use crate::path::congestion::{CongestionControl, CongestionPhase, Sent};
use whimbrel_path::{Pacer, Pacing, RateReduction};

/// The sender's side of one path. Its flight size is [`Outstanding`](super::outstanding::Outstanding)'s to count and is
/// given to each method that needs it, in bytes on the wire.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) path: PathId,
    pub(super) congestion: Box<dyn CongestionControl>,
    /// When it leaves, where the controller says how fast.
    pacer: Pacer,
    /// Flight size when this path last had its turn to send: whether cwnd was used up is judged by it, since several
    /// SACKs may arrive before the next turn (RFC 9260 §7.2.1).
    pub(super) utilised: usize,
    /// The TSN that T3-rtx guards: the lowest in flight here when the timer was last started (RFC 9260 §6.3.2 R3).
    pub(super) guarded: Option<Tsn>,
    /// The DATA chunk whose round trip is being timed: one per round trip (RFC 9260 §6.3.1 C4).
    pub(super) timed: Option<(Tsn, Instant)>,
    /// What it is like beside other paths.
    beside: BesideOthers,
    /// The least round trip of a chunk that was sent once.
    pub(super) least_round_trip: Option<Duration>,
    /// The least time that a HEARTBEAT took: DATA that is sent again and again has no round trip.
    least_answer: Option<Duration>,
    /// Whether it works, and since when it does again.
    standing: Standing,
    /// When something was last acknowledged that was never sent on another path: it says by itself what the path carries.
    told: Option<Instant>,
    /// What has been learnt for the tail-loss probe.
    answers: Answers,
    /// After T3-rtx at most one packet is in flight until something is acknowledged (RFC 9260 §7.2.3).
    pub(super) one_packet: bool,
    /// Why the window was reduced, and what it was before.
    pub(super) verdicts: Verdicts,
    /// One packet may ignore cwnd: the fast retransmission (RFC 9260 §7.2.4 step 3) or the retransmission at
    /// T3-rtx (§6.3.3 E3).
    pub(super) forced: bool,
    /// Since losses were repaired the window has not been full: it is filled at the pace of acknowledgements.
    refilling: bool,
    /// In Fast Recovery: how much leaves while the window is reduced.
    reduction: Option<RateReduction>,
    /// The last SACK has advanced the Cumulative TSN Ack Point and shown no loss: SafeACK (RFC 9937 §5).
    safe: bool,
    /// Flight size must stay below this at the present opportunity (RFC 9260 §6.1 D).
    burst_limit: usize,
    /// Bytes on the wire acknowledged since the last opportunity.
    pub(super) acked_since_burst: usize,
    /// When DATA was last sent here, for the decay of an idle cwnd (RFC 9260 §7.2.1).
    pub(super) last_data: Option<Instant>,
    /// The path starts at a pace that was measured.
    start_up: Option<Start>,
    /// The path has joined others: it begins with a packet, and may have in flight twice what it has brought, in bytes.
    trial: Option<usize>,
    /// The totals that are about DATA; the others are 0.
    pub(super) counters: PathCounters,
}

/// Whether a path works. The SACKs of an outage are lost: what was answered by one that came afterwards took as long as the outage, which is no round trip.
#[derive(Clone, Copy, Debug)]
enum Standing {
    /// It does; `None`: it has never failed.
    Works { since: Option<Instant> },
    /// It has failed, potentially or altogether.
    Failed,
}

/// The first round trip on a path that new data has gone over to: until acknowledgements come there is nothing else to go by than a pace.
#[derive(Clone, Copy, Debug)]
struct Start {
    pacing: Pacing,
    round_trip: Duration,
    /// When the first packet left.
    began: Option<Instant>,
}

impl Start {
    fn is_over(&self, now: Instant) -> bool {
        self.began.is_some_and(|began| now >= began + self.round_trip)
    }
}

/// For so long a path may say nothing by itself of what it carries, before what came from other paths is taken for its own.
const UNTOLD: Duration = Duration::from_secs(1);

impl Flow {
    /// Newly acknowledged chunks that had been sent once were on the way for so long.
    pub(super) fn note_least(&mut self, round_trip: Option<Duration>) {
        let Some(took) = round_trip else { return };
        self.least_round_trip = self.least_round_trip.into_iter().chain([took]).min();
        self.verdicts.note_round_trip();
    }

    /// The path works from now on, or has failed.
    pub(super) fn note_standing(&mut self, now: Instant, works: bool) {
        self.standing = if works { Standing::Works { since: Some(now) } } else { Standing::Failed };
    }

    /// Whether what was acknowledged after this time left while the path worked as it does.
    pub(super) fn has_worked_for(&self, now: Instant, took: Duration) -> bool {
        match self.standing {
            Standing::Works { since } => since.is_none_or(|since| now.saturating_since(since) >= took),
            Standing::Failed => false,
        }
    }

    /// A HEARTBEAT was answered after this time.
    pub(super) fn note_answer(&mut self, took: Duration) {
        self.least_answer = self.least_answer.into_iter().chain([took]).min();
        self.congestion.on_answer(took);
    }

    /// When the last of what was acknowledged left, for whoever measures what the path carries. What was lost on another path may have come by that one after
    /// all, and would make this one look better than it is; so it counts only where nothing else has told for a while, as after an outage.
    pub(super) fn newest_carried(&mut self, now: Instant, change: &PathChange) -> Option<Instant> {
        let newest = change.newest_sent(now, self.least_wait());
        if newest.is_some() {
            self.told = Some(now);
        }
        let is_untold = self.told.is_none_or(|at| now.saturating_since(at) > UNTOLD);
        newest.or_else(|| change.moved_at(now, self.least_wait()).filter(|_| is_untold))
    }

    /// How long an answer takes at least, be it to DATA or to a HEARTBEAT: on a path that has been on standby nothing else has told. `None` while neither has.
    pub(super) fn least_wait(&self) -> Option<Duration> {
        self.least_round_trip.into_iter().chain(self.least_answer).min()
    }

    pub(super) fn new(path: PathId, congestion: Box<dyn CongestionControl>) -> Self {
        Self {
            path,
            congestion,
            pacer: Pacer::default(),
            utilised: 0,
            guarded: None,
            timed: None,
            beside: BesideOthers::default(),
            least_round_trip: None,
            least_answer: None,
            standing: Standing::Works { since: None },
            told: None,
            answers: Answers::default(),
            one_packet: false,
            verdicts: Verdicts::default(),
            forced: false,
            refilling: false,
            reduction: None,
            safe: false,
            burst_limit: usize::MAX,
            acked_since_burst: 0,
            last_data: None,
            start_up: None,
            trial: None,
            counters: PathCounters::default(),
        }
    }

    /// Begins a transmission opportunity: sets the burst limit anew. `pmdcs` is the largest DATA chunk in bytes. What is paced makes no
    /// bursts.
    pub(super) fn open_burst(
        &mut self,
        now: Instant,
        limit: BurstLimit,
        flight: usize,
        pmdcs: usize,
        recovers: bool,
    ) {
        self.start_up.take_if(|start| start.is_over(now));
        let starting = self.start_up.map(|start| start.pacing);
        self.pacer.open(now, self.congestion.pacing().or(starting));
        let acked = core::mem::take(&mut self.acked_since_burst);
        self.refilling = recovers || self.refilling && flight + pmdcs <= self.congestion.cwnd();
        self.reduction.take_if(|_| !recovers || self.pacer.is_pacing());
        let (window, safe) = (self.congestion.cwnd(), self.safe);
        let reduced =
            self.reduction.as_mut().map(|reduction| reduction.allowance(acked, safe, flight, window, pmdcs));
        let allowance = match limit {
            _ if self.pacer.is_pacing() => usize::MAX,
            _ if reduced.is_some() => reduced.unwrap_or_default(),
            BurstLimit::Packets(packets) => packets as usize * pmdcs,
            BurstLimit::AckClocked(packets) if self.refilling => {
                (packets as usize * pmdcs).saturating_sub(flight).max(pmdcs + acked)
            }
            BurstLimit::AckClocked(packets) => packets as usize * pmdcs + 2 * acked,
        };
        self.utilised = flight;
        self.burst_limit = flight.saturating_add(allowance);
    }

    /// New data goes over to this path, and leaves at a pace for the first round trip.
    pub(super) const fn start_at(&mut self, pacing: Pacing, round_trip: Duration) {
        self.start_up = Some(Start { pacing, round_trip, began: None });
    }

    /// Decays the window of a path that carried no DATA, once per RTO of silence (RFC 9260 §7.2.1).
    pub(super) fn decay_if_idle(&mut self, now: Instant, flight: usize, rto: Duration) {
        /// More halvings than any window survives.
        const MOST: u32 = 32;
        let Some(last) = self.last_data.filter(|_| flight == 0) else { return };
        let idle = now.saturating_since(last);
        let rto = rto.max(Duration::from_nanos(1));
        let periods = (idle.as_nanos() / rto.as_nanos()).min(u128::from(MOST)) as u32;
        for _ in 0..periods {
            self.congestion.on_idle_period();
        }
        if periods > 0 {
            self.last_data = Some(now);
        }
    }

    /// A packet with so many bytes of DATA has left on this path, the first chunk of which has the TSN `first`.
    pub(super) fn note_sent(&mut self, now: Instant, bytes: usize, flight: usize, first: Tsn) {
        self.congestion.on_sent(&Sent { now, bytes, in_flight: flight });
        self.pacer.on_sent(now, bytes);
        if let Some(start) = &mut self.start_up {
            start.began.get_or_insert(now);
        }
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(bytes);
        }
        self.utilised = flight;
        self.forced = false;
        self.last_data = Some(now);
        self.guarded.get_or_insert(first);
    }

    /// What the path delivers, in bytes a second, as far as its own data has told: as its controller has measured it, or a window in each round trip.
    pub(super) fn capacity(&self) -> u64 {
        self.congestion.bandwidth().unwrap_or_else(|| {
            let window = self.congestion.cwnd() as u128 * NANOS;
            let rate = window.checked_div(self.beside.round_trip().as_nanos()).unwrap_or_default();
            u64::try_from(rate).unwrap_or(u64::MAX)
        })
    }

    /// The same, or what packet trains have told as long as its own data has not shown how far it goes.
    pub(super) fn likely_capacity(&self, now: Instant) -> u64 {
        let starts = matches!(self.congestion.phase(), CongestionPhase::SlowStart | CongestionPhase::Startup);
        let least = self.least_wait().unwrap_or_default();
        let estimate = self.beside.estimate.filter(|_| starts && self.beside.growth.goes_on(now, least));
        self.capacity().max(estimate.unwrap_or_default())
    }

    /// What the path is like beside others.
    pub(super) fn beside(&self) -> &BesideOthers {
        &self.beside
    }

    /// The same, to be told more.
    pub(super) fn beside_mut(&mut self) -> &mut BesideOthers {
        &mut self.beside
    }

    /// What has been learnt for the tail-loss probe.
    pub(super) fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The same, to be told more.
    pub(super) fn answers_mut(&mut self) -> &mut Answers {
        &mut self.answers
    }

    /// Fast Recovery begins, and the window is about to be reduced.
    pub(super) fn note_reduction(&mut self) {
        self.verdicts.note_reduction((self.congestion.cwnd(), self.congestion.ssthresh()));
    }

    /// Fast Recovery begins, and the window has just been reduced: what is in flight comes down to it little by little.
    pub(super) fn begin_reduction(&mut self) {
        self.reduction = Some(RateReduction::new(self.utilised));
    }

    /// Whether it is on its way there, so that more than the window may be in flight.
    pub(super) fn is_reducing(&self) -> bool {
        self.reduction.is_some()
    }

    /// A SACK has come, which is a SafeACK or not (RFC 9937 §5).
    pub(super) fn note_sack(&mut self, safe: bool) {
        self.one_packet = false;
        self.safe = safe;
    }

    /// A timer says that something is lost, and the window is about to be lowered.
    ///
    /// If the last guess was taken back, and no round trip was measured since, then the network may have become quicker than the least one
    /// that is known: answers to what is sent again would be taken for late ones each time, and one chunk would leave in each T3-rtx.
    pub(super) fn note_guess(&mut self, overdue_after: Option<Duration>) {
        if self.verdicts.is_doubtful() {
            self.forget_least();
        }
        self.verdicts.note_guess((self.congestion.cwnd(), self.congestion.ssthresh()), overdue_after);
    }

    pub(super) const fn forget_least(&mut self) {
        (self.least_round_trip, self.least_answer) = (None, None);
    }

    /// What a timer called lost was late: the window is again what it was, or what has become of it since if that is more.
    pub(super) fn undo_guess(&mut self) {
        if let Some(before) = self.verdicts.take_guess() {
            self.undo(before);
        }
    }

    /// The window is again what it was `before`, cwnd and ssthresh in bytes, or what has become of it since if that is more.
    pub(super) fn undo(&mut self, (cwnd, ssthresh): (usize, usize)) {
        self.one_packet = false;
        self.congestion.undo(self.congestion.cwnd().max(cwnd), self.congestion.ssthresh().max(ssthresh));
    }

    /// Nothing is in flight here any more, or all of it has been given up for lost.
    pub(super) fn forget_flight(&mut self) {
        self.guarded = None;
        self.timed = None;
        self.beside.forget_flight();
    }

    /// Whether cwnd, the burst limit and the pace let another packet out (RFC 9260 §6.1 B and D, §7.2.3).
    pub(super) fn may_send(&self, flight: usize) -> bool {
        flight < self.most_on_trial() && self.lets_out(flight)
    }

    /// The same for what nothing waits for: a trial does not count.
    pub(super) fn lets_out(&self, flight: usize) -> bool {
        if self.one_packet && flight > 0 {
            return false;
        }
        let window = if self.is_reducing() { usize::MAX } else { self.congestion.cwnd() };
        self.pacer.is_open() && flight < window.min(self.burst_limit)
    }

    /// The path joins others, and what it carries is not known.
    pub(super) fn begin_trial(&mut self) {
        self.trial = Some(0);
    }

    pub(super) fn is_on_trial(&self) -> bool {
        self.trial.is_some()
    }

    /// There is nothing to fall back on.
    pub(super) fn end_trial(&mut self) {
        self.trial = None;
    }

    /// So many bytes have arrived by the path.
    pub(super) fn note_brought(&mut self, bytes: usize) {
        self.trial = self.trial.map(|brought| brought.saturating_add(bytes));
    }

    /// In flight may be less than this.
    fn most_on_trial(&self) -> usize {
        self.trial.map_or(usize::MAX, |brought| brought.saturating_mul(2).max(1))
    }

    /// When the next train may leave by its pace, if not now.
    pub(super) fn next_departure(&self) -> Option<Instant> {
        self.pacer.next_departure()
    }

    /// Bytes of DATA in a train at most.
    pub(super) fn quantum(&self) -> usize {
        self.pacer.quantum()
    }

    /// Whether cwnd lets no packet out, whatever the burst limit (RFC 9260 §6.1 B).
    pub(super) fn is_window_full(&self, flight: usize) -> bool {
        flight >= self.congestion.cwnd().min(self.most_on_trial())
    }
}
