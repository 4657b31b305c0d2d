use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::congestion::InitialWindow;

#[path = "bbr_limited_user_tests.rs"]
mod limited_user;

const PMDCS: usize = 1000;
const MS: Duration = Duration::from_millis(1);

fn new_path() -> NewPath {
    NewPath { pmdcs: PMDCS, ipv6: false, initial_window: InitialWindow::Packets(10), ssthresh: None, seed: 7 }
}

/// A bottleneck of 10 MB/s (10 packets a millisecond) with a queue behind 40 ms, and a sender that obeys its controller: packet by
/// packet, each acknowledged by itself.
struct Bench {
    bbr: Bbr,
    now: Instant,
    /// Bytes a second.
    rate: u64,
    /// Packets in the queue at most.
    queue: usize,
    round_trip: Duration,
    /// When the bottleneck is free.
    free: Instant,
    /// Packets on their way: when they left, when they are acknowledged or known to be lost.
    flying: VecDeque<(Instant, Instant, bool)>,
    next: Instant,
    lost: u64,
    delivered: u64,
    /// One in so many packets is lost at random; 0 for none.
    loses_each: u64,
    sent: u64,
    /// The user has packets to send.
    busy: bool,
    /// Fast Recovery goes on.
    recovers: bool,
    /// All that leaves is sent again, and has no round trip.
    repeats: bool,
    states: Vec<State>,
    /// All waiting in the queue, together.
    queued: Duration,
}

impl Bench {
    fn new(queue: usize) -> Self {
        let start = Instant::ZERO + 1000 * MS;
        Self {
            bbr: Bbr::new(&new_path(), BbrParameters::default()),
            now: start,
            rate: 10_000_000,
            queue,
            round_trip: 40 * MS,
            free: start,
            flying: VecDeque::new(),
            next: start,
            lost: 0,
            delivered: 0,
            loses_each: 0,
            sent: 0,
            busy: true,
            recovers: false,
            repeats: false,
            states: vec![State::Startup],
            queued: Duration::ZERO,
        }
    }

    fn in_flight(&self) -> usize {
        self.flying.len() * PMDCS
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.send();
            let answer = self.flying.front().map(|&(_, at, _)| at);
            let departure = (self.busy && self.in_flight() < self.bbr.cwnd()).then_some(self.next);
            let next = answer.into_iter().chain(departure).min().unwrap_or(end).min(end);
            self.now = self.now.max(next);
            self.answer();
        }
    }

    fn send(&mut self) {
        while self.busy && self.next <= self.now && self.in_flight() < self.bbr.cwnd() {
            let transmission = Duration::from_nanos(PMDCS as u64 * 1_000_000_000 / self.rate);
            let wait = self.free.saturating_since(self.now);
            let full = wait > transmission * self.queue as u32;
            self.sent += 1;
            let random = self.loses_each > 0 && self.sent.is_multiple_of(self.loses_each);
            if !full {
                self.free = self.free.max(self.now) + transmission;
                self.queued += wait;
            }
            // A loss is known when what follows it arrives.
            let at = self.free + self.round_trip;
            self.flying.push_back((self.now, at, full || random));
            let (now, in_flight) = (self.now, self.in_flight());
            self.bbr.on_sent(&Sent { now, bytes: PMDCS, in_flight });
            let gap = self.bbr.pacing().map_or(Duration::ZERO, |pacing| pacing.time(PMDCS));
            self.next = self.next.max(self.now) + gap;
        }
        if !self.busy {
            self.bbr.on_app_limited(self.in_flight());
        }
    }

    fn answer(&mut self) {
        while let Some(&(sent, at, lost)) = self.flying.front().filter(|&&(_, at, _)| at <= self.now) {
            let flight_size_before = self.in_flight();
            self.flying.pop_front();
            if lost {
                self.lost += 1;
                self.bbr.on_lost(&Lost { now: at, bytes: PMDCS, newest_sent: sent });
                continue;
            }
            self.delivered += 1;
            let rtt = (!self.repeats).then(|| at.saturating_since(sent));
            let acked = Acked { rtt, newest_sent: Some(sent), ..Acked::of(at, PMDCS) };
            let acked = Acked { in_fast_recovery: self.recovers, ..acked };
            self.bbr.on_acked(&Acked { flight_size_before, in_flight: self.in_flight(), ..acked });
            if self.states.last() != Some(&self.bbr.state) {
                self.states.push(self.bbr.state);
            }
        }
    }

    /// Bytes a second in so many seconds.
    fn goodput(&mut self, seconds: u32) -> u64 {
        let before = self.delivered;
        self.pass(1000 * MS * seconds);
        (self.delivered - before) * PMDCS as u64 / u64::from(seconds)
    }
}

/// Startup doubles until the path delivers no more, Drain empties the queue, and then comes the cycle, in the order of the draft's diagram.
#[test]
fn the_states_follow_each_other() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(20_000 * MS);
    // Drain has left nothing for the first Down to do, which the same SACK ends.
    let expected =
        [State::Startup, State::Drain, State::Cruise, State::Refill, State::Up, State::Down, State::Cruise];
    assert_eq!(bench.states[..7], expected, "{:?}", bench.states);
    assert!(bench.states.contains(&State::ProbeRtt));
    let ends = |pair: &[State]| pair[0] == State::Up && pair[1] != State::Down && pair[1] != State::ProbeRtt;
    assert!(!bench.states.windows(2).any(ends), "{:?}", bench.states);
}

/// 400 packets fit the path. The rate is found within 1 %, and the queue is empty most of the time.
#[test]
fn it_finds_the_rate_and_leaves_the_queue_empty() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(1000 * MS);
    assert_eq!(bench.bbr.min_rtt.get().map(|rtt| rtt.as_millis()), Some(40));
    (bench.queued, bench.sent) = (Duration::ZERO, 0);
    let goodput = bench.goodput(10);
    assert!((9_400_000..=10_000_000).contains(&goodput), "{goodput}");
    let queued = bench.queued / bench.sent as u32;
    assert!(queued < 6 * MS, "{queued:?}");
    let bandwidth = bench.bbr.max_bandwidth.get();
    assert!((9_900_000..=10_100_000).contains(&bandwidth), "{bandwidth}");
}

/// One in a hundred is below the threshold. While it does not look for more, each round trip delivers 1 % less than the one before, and
/// that is what it sends.
#[test]
fn random_losses_cost_little() {
    let mut bench = Bench::new(1_000_000);
    bench.loses_each = 101;
    bench.pass(2000 * MS);
    let goodput = bench.goodput(10);
    assert!((7_500_000..9_900_000).contains(&goodput), "{goodput}");
}

/// A queue that holds a tenth of the path: what was too much is known from then on, and is not tried again at once.
#[test]
fn a_short_queue_bounds_what_is_in_flight() {
    let mut bench = Bench::new(40);
    bench.pass(5000 * MS);
    let bound = bench.bbr.in_flight_long_term;
    assert!((380_000..=560_000).contains(&bound), "{bound}");
    let (lost, sent) = (bench.lost, bench.sent);
    let goodput = bench.goodput(10);
    assert!(goodput > 8_500_000, "{goodput}");
    let share = (bench.lost - lost) as f64 / (bench.sent - sent) as f64;
    assert!(share < 0.01, "{share}");
}

/// The rate falls to a quarter, which overflows the queue: some cycles later what is sent is no more.
#[test]
fn a_path_that_gets_slower_is_followed_down() {
    let mut bench = Bench::new(400);
    bench.pass(3000 * MS);
    bench.rate /= 4;
    bench.pass(15_000 * MS);
    let bandwidth = bench.bbr.max_bandwidth.get();
    assert!((2_450_000..=2_600_000).contains(&bandwidth), "{bandwidth}");
    assert!(bench.goodput(5) > 2_300_000);
}

#[test]
fn a_path_that_gets_faster_is_followed_up() {
    let mut bench = Bench::new(1_000_000);
    bench.rate /= 10;
    bench.pass(5000 * MS);
    bench.rate *= 10;
    bench.pass(20_000 * MS);
    assert!(bench.goodput(5) > 9_000_000);
}

/// The route changes: the round trip is 400 ms instead of 40. What was measured before would keep the path to a fifth of its rate for 10 s.
#[test]
fn a_longer_route_is_another_path() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    bench.round_trip *= 10;
    bench.pass(3000 * MS);
    let goodput = bench.goodput(3);
    assert!(goodput > 9_000_000, "{goodput}");
    let begins = bench.states.iter().filter(|state| **state == State::Startup).count();
    assert_eq!(begins, 2, "{:?}", bench.states);
}

/// After an outage all is sent again, over a longer route: HEARTBEATs alone tell how long it is.
#[test]
fn a_longer_route_is_another_path_where_all_is_sent_again() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(1000 * MS);
    (bench.repeats, bench.round_trip) = (true, bench.round_trip * 15);
    bench.bbr.on_timeout();
    for _ in 0..10 {
        bench.bbr.on_answer(bench.round_trip);
        bench.pass(1000 * MS);
    }
    let goodput = bench.goodput(3);
    assert!(goodput > 9_000_000, "{goodput}");
}

/// For a while everything is kept back for 360 ms. A round trip of before tells that the path is the same one, and what it carries is known at once.
#[test]
fn a_path_that_was_held_up_is_no_other_one() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    let shortest = bench.bbr.min_rtt.get();
    bench.round_trip *= 10;
    let held_for_another = (0..30).any(|_| {
        bench.pass(50 * MS);
        bench.bbr.state == State::Startup
    });
    assert!(held_for_another, "{:?}", bench.states);
    bench.round_trip /= 10;
    bench.pass(420 * MS);
    assert_eq!(bench.bbr.min_rtt.get(), shortest);
    let bandwidth = bench.bbr.max_bandwidth.get();
    assert!((9_500_000..10_500_000).contains(&bandwidth), "{bandwidth}");
}

/// While losses are repaired SACKs tell late what has arrived.
#[test]
fn what_is_told_late_is_no_longer_route() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    (bench.recovers, bench.round_trip) = (true, 10 * bench.round_trip);
    bench.pass(1000 * MS);
    bench.round_trip /= 10;
    bench.pass(500 * MS);
    bench.recovers = false;
    bench.pass(1000 * MS);
    let begins = bench.states.iter().filter(|state| **state == State::Startup).count();
    assert_eq!(begins, 1, "{:?}", bench.states);
}

/// A queue of one's own is none, however deep: not that of Startup, and not when the path gets slower by half.
#[test]
fn a_queue_is_no_longer_route() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(20_000 * MS);
    bench.rate /= 2;
    bench.pass(20_000 * MS);
    let begins = bench.states.iter().filter(|state| **state == State::Startup).count();
    assert_eq!(begins, 1, "{:?}", bench.states);
}

/// A timeout leaves one packet; what is delivered then brings the window back to what the model says.
#[test]
fn a_timeout_is_recovered_from() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    bench.bbr.on_timeout();
    assert_eq!(bench.bbr.cwnd(), PMDCS);
    // The window grows by what is acknowledged, and is not what it was before what was in flight then has arrived.
    bench.pass(5 * MS);
    assert!((PMDCS..100_000).contains(&bench.bbr.cwnd()), "{}", bench.bbr.cwnd());
    bench.pass(1000 * MS);
    assert!(bench.bbr.cwnd() > 400_000, "{}", bench.bbr.cwnd());
}

/// The first sample may be of a packet whose SACKs were lost for minutes, after timeouts: some packets a second leave even so.
#[test]
fn the_first_pace_is_no_less_than_some_packets_a_second() {
    let mut bbr = Bbr::new(&new_path(), BbrParameters::default());
    bbr.on_timeout();
    bbr.begin_pacing(Duration::from_secs(765));
    assert_eq!(bbr.pacing().map(|pacing| pacing.rate), Some(4 * PMDCS as u64));
}

/// All that is in flight is sent again, so that nothing measures a round trip, and the last one was long: heartbeats tell that it is not any more.
#[test]
fn the_least_pace_goes_by_heartbeats_too() {
    let mut bbr = Bbr::new(&new_path(), BbrParameters::default());
    bbr.begin_pacing(800 * MS);
    (bbr.min_rtt, bbr.bandwidth) = (MinRtt::measured(800 * MS, Instant::ZERO), 100);
    bbr.full.reached = true;
    bbr.set_pacing_rate(100);
    assert_eq!(bbr.pacing().map(|pacing| pacing.rate), Some(4 * PMDCS as u64 * 10 / 8));
    bbr.on_answer(20 * MS);
    bbr.set_pacing_rate(100);
    assert_eq!(bbr.pacing().map(|pacing| pacing.rate), Some(4 * PMDCS as u64 * 50));
}

/// What a timer took for a loss was late: the window and the bounds are again what they were.
#[test]
fn a_loss_that_was_none_is_undone() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    let before = bench.bbr.cwnd();
    bench.bbr.on_timeout();
    bench.bbr.undo(before, LARGEST_WINDOW);
    assert_eq!(bench.bbr.cwnd(), before);
    assert!(!bench.bbr.full.now && bench.bbr.full.reached);
}

/// InflightAtLoss: of 100 packets in flight 2 may be lost; of 3 that were, in the last 10, the first two were no loss too many:
/// 90 + (0.02 · 90 − 0) / 0.98 = 91.8.
#[test]
fn the_loss_that_was_too_many_is_found() {
    let bbr = Bbr::new(&new_path(), BbrParameters::default());
    assert!(!bbr.is_too_high(2000, 100_000) && bbr.is_too_high(2001, 100_000));
    assert_eq!(bbr.in_flight_at_loss(100_000, 10_000, 10_000), 91_836);
    assert_eq!(bbr.in_flight_at_loss(100_000, 13_000, 10_000), 90_000);
}

/// The same seed makes the same choices, another seed others.
#[test]
fn choices_descend_from_the_seed() {
    let wait = |seed| {
        let mut bbr = Bbr::new(&NewPath { seed, ..new_path() }, BbrParameters::default());
        bbr.start_down(Instant::ZERO);
        format!("{:?}", bbr.cycle)
    };
    assert_eq!(wait(1), wait(1));
    assert_ne!(wait(1), wait(2));
}

#[test]
fn an_installed_window_begins_anew() {
    let mut bench = Bench::new(1_000_000);
    bench.pass(3000 * MS);
    bench.bbr.install(50_000, 1);
    assert_eq!((bench.bbr.cwnd(), bench.bbr.state, bench.bbr.pacing()), (50_000, State::Startup, None));
}

proptest! {
    /// Whatever is told, nothing overflows, and the window keeps its bounds.
    #[test]
    fn window_stays_sane(events in proptest::collection::vec((0_u8..8, any::<u32>(), any::<u32>()), 0..300)) {
        let mut bbr = Bbr::new(&new_path(), BbrParameters::default());
        let (mut now, mut sent) = (Instant::ZERO, vec![Instant::ZERO]);
        for (kind, a, b) in events {
            let (bytes, in_flight) = (a as usize, b as usize);
            now += Duration::from_nanos(u64::from(b) * u64::from(b % 3));
            let newest_sent = sent[a as usize % sent.len()];
            match kind {
                0 | 1 => {
                    bbr.on_sent(&Sent { now, bytes: bytes.min(in_flight), in_flight });
                    sent.push(now);
                }
                2 | 3 => {
                    let rtt = Some(Duration::from_nanos(b.into()));
                    let newest_sent = Some(newest_sent);
                    bbr.on_acked(&Acked { rtt, newest_sent, in_flight, ..Acked::of(now, bytes) });
                }
                4 => bbr.on_lost(&Lost { now, bytes, newest_sent }),
                5 => bbr.on_timeout(),
                6 => bbr.on_app_limited(in_flight),
                _ => bbr.undo(bytes, in_flight),
            }
            prop_assert!(bbr.cwnd() >= PMDCS && bbr.cwnd() <= LARGEST_WINDOW, "{}", bbr.cwnd());
            prop_assert!(bbr.pacing().is_none_or(|pacing| pacing.rate > 0));
        }
    }
}
