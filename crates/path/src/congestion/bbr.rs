//! BBR, version 3 (draft-ietf-ccwg-bbr).

mod aggregation;
mod another_path;
mod control;
mod cycle;
mod model;
mod probe_rtt;
mod slight_loss;
mod startup;
mod steady_loss;
mod user_limited;

use core::time::Duration;

use whimbrel_machine::{Instant, Rng, Seed};

use self::aggregation::Aggregation;
use self::another_path::{Before, RoundTrips};
use self::cycle::Cycle;
use self::model::{Bounds, Latest, MaxBandwidth, MinRtt, Round, Undo};
use self::probe_rtt::ProbeRtt;
use self::slight_loss::RecentLoss;
use self::startup::FullBandwidth;
use self::steady_loss::SteadyLoss;
use self::user_limited::User;
use super::{
    Acked, CongestionControl, CongestionPhase, ControllerFactory, LARGEST_WINDOW, Lost, NewPath, Pacing, Sent,
};
use crate::delivery::{DeliveryRate, RateSample};

/// BBR, version 3: it measures how fast the path delivers and how long it takes without a queue, sends at that rate, and keeps some two
/// of such round trips in flight. What is lost at random costs it little, and a deep queue stays empty.
///
/// It follows draft-ietf-ccwg-bbr step by step, and each file says which part. Amounts are bytes of DATA chunks, rates bytes a second,
/// and all arithmetic is in integers. What differs:
///
/// - A SACK tells of many packets at once. What it shows to be lost is judged together, by the youngest of it, and Startup counts
///   SACKs that tell of losses where the draft counts ranges.
/// - Before the first round trip has been measured nothing is paced, and then Startup begins with the rate that the window has in that time,
///   not in 1 ms.
/// - Trains leave and arrive whole, so that the window has room for three of them, as the draft has it for TCP.
/// - A window that is installed is that of another network: everything begins anew with it. There is no slow-start threshold.
/// - A path whose round trip is suddenly far longer than a queue of its own can make it is another path, and measured anew.
/// - Losses that come all the time, although the user sends less than it could, tell of no queue.
/// - A user who sends less than it could has room in the window for a path that suddenly takes longer.
/// - There is no ECN.
#[derive(Debug)]
pub struct Bbr {
    path: NewPath,
    parameters: BbrParameters,
    rng: Rng,
    delivery: DeliveryRate,
    state: State,
    cwnd: u64,
    /// cwnd before a loss or ProbeRTT lowered it.
    prior_cwnd: u64,
    /// C.pacing_rate; 0 until a round trip has been measured.
    pacing_rate: u64,
    /// Loss recovery lasts until this much has been delivered, and Fast Recovery is over.
    recovering: Option<u64>,
    /// Bytes in flight when that was last told.
    in_flight: u64,
    round: Round,
    max_bandwidth: MaxBandwidth,
    /// BBR.bw.
    bandwidth: u64,
    min_rtt: MinRtt,
    /// What the last HEARTBEAT took.
    answer: Option<Duration>,
    aggregation: Aggregation,
    latest: Latest,
    /// BBR.bw_shortterm and BBR.inflight_shortterm.
    short_term: Bounds,
    /// BBR.inflight_longterm.
    in_flight_long_term: u64,
    full: FullBandwidth,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    idle_restart: bool,
    undo: Undo,
    user: User,
    steady_loss: SteadyLoss,
    recent_loss: RecentLoss,
    round_trips: RoundTrips,
    before: Option<Before>,
    guess: Guess,
}

/// What is known of a timer's guess that all that was in flight is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Guess {
    /// There is none, or it was taken in.
    None,
    /// No acknowledgement has said yet whether it was right.
    Made,
    /// It was wrong: what was in flight is in flight again.
    Wrong,
}

/// Makes [`Bbr`] controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BbrParameters {
    /// BBR.LossThresh: how much of a round trip may be lost while looking for more, in percent; 1 to 50.
    pub loss_threshold_percent: u32,
    /// BBR.ProbeRTTInterval: how long a round trip that was measured is believed to be the shortest; at least 1 s.
    pub probe_rtt_interval: Duration,
}

impl Default for BbrParameters {
    /// Those of the draft.
    fn default() -> Self {
        Self { loss_threshold_percent: 2, probe_rtt_interval: Duration::from_secs(5) }
    }
}

impl ControllerFactory for BbrParameters {
    fn controller(&self, path: &NewPath) -> Box<dyn CongestionControl> {
        Box::new(Bbr::new(path, *self))
    }

    fn validate(&self) -> Result<(), &'static str> {
        if !(1..=50).contains(&self.loss_threshold_percent) {
            Err("BBR tolerates losses of 1 to 50 %")
        } else if self.probe_rtt_interval < Duration::from_secs(1) {
            Err("BBR may measure the round-trip time once a second at most")
        } else {
            Ok(())
        }
    }

    fn has_threshold(&self) -> bool {
        false
    }
}

/// BBR.state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// Whether it is one of ProbeBW.
    fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether more is sent than is known to get through (IsProbingBW).
    fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// BBR.pacing_gain in percent.
    fn pacing_gain(self) -> u64 {
        match self {
            Self::Startup => 277,
            Self::Drain => 50,
            Self::Down => 90,
            Self::Up => 125,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 100,
        }
    }

    /// BBR.cwnd_gain in percent.
    fn cwnd_gain(self) -> u64 {
        match self {
            Self::Up => 225,
            Self::ProbeRtt => 50,
            _ => 200,
        }
    }
}

/// What a SACK tells.
#[derive(Clone, Copy, Debug)]
struct Ack {
    now: Instant,
    /// RS.newly_acked.
    bytes: u64,
    /// C.inflight.
    in_flight: u64,
    rtt: Option<Duration>,
    /// RS, all 0 if there is none.
    sample: RateSample,
    sampled: bool,
    /// C.is_cwnd_limited.
    window_limited: bool,
    in_fast_recovery: bool,
}

const NO_SAMPLE: RateSample =
    RateSample { rate: None, delivered: 0, prior_delivered: 0, in_flight: 0, lost: 0, app_limited: false };

impl Ack {
    /// RS.delivery_rate.
    fn rate(&self) -> u64 {
        self.sample.rate.unwrap_or(0)
    }
}

impl Bbr {
    /// The controller of a new path.
    pub fn new(path: &NewPath, parameters: BbrParameters) -> Self {
        Self::begin(path, parameters, Seed::from_u64(path.seed).stream("bbr", 0), path.initial_cwnd())
    }

    fn begin(path: &NewPath, parameters: BbrParameters, rng: Rng, cwnd: usize) -> Self {
        Self {
            path: *path,
            parameters,
            rng,
            delivery: DeliveryRate::new(),
            state: State::Startup,
            cwnd: cwnd as u64,
            prior_cwnd: 0,
            pacing_rate: 0,
            recovering: None,
            in_flight: 0,
            round: Round::default(),
            max_bandwidth: MaxBandwidth::default(),
            bandwidth: 0,
            min_rtt: MinRtt::default(),
            answer: None,
            aggregation: Aggregation::default(),
            latest: Latest::default(),
            short_term: Bounds::NONE,
            in_flight_long_term: u64::MAX,
            full: FullBandwidth::default(),
            cycle: Cycle::default(),
            probe_rtt: ProbeRtt::default(),
            idle_restart: false,
            undo: Undo::default(),
            user: User::default(),
            steady_loss: SteadyLoss::default(),
            recent_loss: RecentLoss::default(),
            round_trips: RoundTrips::default(),
            before: None,
            guess: Guess::None,
        }
    }

    fn mss(&self) -> u64 {
        self.path.pmdcs as u64
    }

    /// UpdateModelAndState.
    fn update_model(&mut self, ack: &Ack) {
        self.update_latest(ack);
        self.count_delivered(ack);
        self.update_congestion(ack);
        self.update_aggregation(ack);
        self.check_full_bandwidth(ack);
        self.check_startup_done(ack);
        self.check_drain_done(ack);
        self.update_cycle(ack);
        self.update_min_rtt(ack);
        self.check_another_path(ack);
        self.check_probe_rtt(ack);
        self.advance_latest(ack);
        self.bandwidth = self.max_bandwidth.get().min(self.short_term.bandwidth);
    }

    /// What is undone when losses turn out to be none (SaveStateUponLoss).
    fn save(&mut self) {
        self.save_cwnd();
        self.undo = Undo { state: None, short_term: self.short_term, long_term: self.in_flight_long_term };
    }
}

impl CongestionControl for Bbr {
    fn cwnd(&self) -> usize {
        self.cwnd.max(self.user.room) as usize
    }

    fn learnt_cwnd(&self) -> usize {
        self.cwnd as usize
    }

    /// There is none.
    fn ssthresh(&self) -> usize {
        LARGEST_WINDOW
    }

    fn on_acked(&mut self, acked: &Acked) {
        let &Acked { now, bytes, rtt, in_fast_recovery, .. } = acked;
        let least = self.min_rtt.get().unwrap_or_default();
        if self.guess == Guess::Wrong {
            self.guess = Guess::None;
            self.delivery.distrust(acked.in_flight as u64);
        }
        let sample = self.delivery.on_acked(now, bytes, acked.newest_sent, least);
        self.in_flight = acked.in_flight as u64;
        let ack = Ack {
            now,
            bytes: bytes as u64,
            in_flight: self.in_flight,
            rtt,
            sample: sample.unwrap_or(NO_SAMPLE),
            sampled: sample.is_some(),
            window_limited: (acked.flight_size_before as u64).saturating_add(self.mss()) > self.cwnd,
            in_fast_recovery,
        };
        self.update_model(&ack);
        self.update_control(&ack);
    }

    fn on_fast_retransmit(&mut self) {
        self.save();
        self.recovering = self.recovering.or(Some(0));
    }

    fn on_timeout(&mut self) {
        self.note_loss();
        self.save();
        self.guess = Guess::Made;
        self.recovering = Some(self.delivery.delivered() + self.in_flight);
        self.cwnd = self.mss();
        self.user.room = 0;
    }

    /// The model does not grow old by itself: what has expired is measured anew when data flows.
    fn on_idle_period(&mut self) {}

    fn on_packet_size(&mut self, pmdcs: usize) {
        self.path.pmdcs = pmdcs;
        if self.delivery.delivered() == 0 && self.in_flight == 0 {
            self.cwnd = self.path.initial_cwnd() as u64;
        }
        self.cwnd = self.cwnd.max(self.mss());
    }

    fn install(&mut self, cwnd: usize, _ssthresh: usize) {
        if cwnd != self.cwnd() {
            let cwnd = cwnd.clamp(self.path.pmdcs, LARGEST_WINDOW);
            *self = Self::begin(&self.path, self.parameters, self.rng.clone(), cwnd);
        }
    }

    fn undo(&mut self, cwnd: usize, _ssthresh: usize) {
        if self.guess == Guess::Made {
            self.guess = Guess::Wrong;
        }
        self.prior_cwnd = self.prior_cwnd.max(cwnd as u64);
        self.undo_loss();
    }

    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight <= sent.bytes && self.delivery.is_limited() {
            self.restart_from_idle(sent.now);
        }
        self.in_flight = sent.in_flight as u64;
        self.note_user_sends(sent.bytes as u64);
        self.delivery.on_sent(sent.now, sent.bytes, sent.in_flight);
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.handle_lost(lost);
    }

    fn on_answer(&mut self, took: Duration) {
        self.note_answer(took);
    }

    fn on_app_limited(&mut self, in_flight: usize) {
        self.delivery.limit(in_flight);
        self.note_user_limited(in_flight as u64);
    }

    fn pacing(&self) -> Option<Pacing> {
        (self.pacing_rate > 0).then(|| Pacing::at(self.pacing_rate, self.path.pmdcs))
    }

    fn bandwidth(&self) -> Option<u64> {
        (self.bandwidth > 0).then_some(self.bandwidth)
    }

    fn phase(&self) -> CongestionPhase {
        match self.state {
            State::Startup => CongestionPhase::Startup,
            State::Drain => CongestionPhase::Drain,
            State::Down => CongestionPhase::ProbeBandwidthDown,
            State::Cruise => CongestionPhase::ProbeBandwidthCruise,
            State::Refill => CongestionPhase::ProbeBandwidthRefill,
            State::Up => CongestionPhase::ProbeBandwidthUp,
            State::ProbeRtt => CongestionPhase::ProbeRoundTrip,
        }
    }
}

#[cfg(test)]
#[path = "bbr_tests.rs"]
mod tests;
