//! Handovers with losses, delays and copies on all links, gateways that crash, and links that cannot be attached: every message of the association arrives once and in order,
//! every handover comes about or is taken back, and no terminal is without a gateway for longer than a stated time.
//!
//! `HANDOVERS=FIRST,COUNT` plays other seeds; a failure names its own.

use core::time::Duration;

use whimbrel_machine::{Instant, Rng, Seed};
use whimbrel_netsim::{Action, Change, Loss, Side};
use whimbrel_ufa::{Event, Order, Transition, Ufa, UfaPlus, UfaPlusPlus};

use crate::bed::{Bed, Plan, SUPERVISION};

const BEGIN: Instant = Instant::from_nanos(3_000_000_000);
/// The network has faults for so long, and all is settled so long after it has none any more.
const ROUGH: Duration = Duration::from_secs(20);
const SETTLED: Duration = Duration::from_secs(280);

/// A terminal on its way is given up on after 40 s, or 32 s after it has sent message 8 (RFC 3261 timer B); until then it may be at no gateway. One that is at a gateway
/// notices within two questions that this one is gone, and within one that it was started anew; then its call may be in vain for timer B.
const WITHOUT: Duration = Duration::from_secs(40 + 32);
const CALL: Duration = Duration::from_secs(32);

/// What becomes of a gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Crashes,
    StandsStill,
}

struct Mishap {
    gateway: usize,
    at: Instant,
    back: Instant,
    fate: Fate,
}

struct Course {
    bed: Bed,
    rng: Rng,
    mishap: Option<Mishap>,
    orders: usize,
}

impl Course {
    fn new(seed: u64) -> Self {
        let mut rng = Seed::from_u64(seed).stream("handovers", 0);
        let transition: Box<dyn Transition> = match rng.below(3) {
            0 => Box::new(Ufa),
            1 => Box::new(UfaPlus),
            _ => Box::new(UfaPlusPlus),
        };
        let order = [Order::OneAfterTheOther, Order::AtOnce][rng.below(2) as usize];
        let mut bed = Bed::new(Plan { seed, terminals: vec![0], rooms: vec![1, 1], order, transition });
        bed.attach_fails = rng.chance(0.1);
        let mishap = rng.chance(0.7).then(|| {
            let at = BEGIN + Duration::from_millis(rng.below(1000));
            let back = at
                + Duration::from_millis(
                    [500, 5000, 50_000][rng.below(3) as usize] * (1 + rng.below(1000)) / 1000,
                );
            let fate = [Fate::Crashes, Fate::StandsStill][rng.below(2) as usize];
            Mishap { gateway: rng.below(2) as usize, at, back, fate }
        });
        Self { bed, rng, mishap, orders: 0 }
    }

    fn faults(&mut self, loss: f64, duplicate: f64, jitter: Duration) {
        for link in self.bed.all_links() {
            for change in
                [Change::Loss(Loss::Bernoulli(loss)), Change::Duplicate(duplicate), Change::Jitter(jitter)]
            {
                self.bed.world.act(Action::Link(link, Side::Both, change));
            }
        }
    }

    /// Runs until then; gateways go and come meanwhile.
    fn run_until(&mut self, until: Instant) {
        let now = self.bed.world.now();
        let Some(Mishap { gateway, at, back, fate }) = self.mishap else { return self.bed.run_until(until) };
        for (when, goes) in [(at, true), (back, false)] {
            if when < now || when >= until {
                continue;
            }
            self.bed.run_until(when);
            match (goes, fate) {
                (true, Fate::Crashes) => self.bed.crash(gateway),
                (true, Fate::StandsStill) => self.bed.freeze(gateway),
                (false, Fate::Crashes) => self.bed.start_anew(gateway),
                (false, Fate::StandsStill) => self.bed.thaw(gateway),
            }
        }
        self.bed.run_until(until);
    }

    /// The network sends the terminal to the other gateway, if the one where it is knows it.
    fn order(&mut self) {
        let (at, address) = (self.bed.mobiles[0].at(), self.bed.mobiles[0].address);
        if self.bed.sessions(at).iter().any(|session| session.terminal == address) {
            self.orders += 1;
            self.bed.hand_over(at, address, &[1 - at]);
        }
    }

    fn play(&mut self) {
        self.run_until(BEGIN);
        let loss = [0.0, 0.02, 0.1, 0.3][self.rng.below(4) as usize];
        let duplicate = [0.0, 0.2][self.rng.below(2) as usize];
        let jitter = Duration::from_millis([0, 20, 200][self.rng.below(3) as usize]);
        self.faults(loss, duplicate, jitter);
        self.order();
        self.run_until(BEGIN + ROUGH / 2);
        self.order();
        self.run_until(BEGIN + ROUGH);
        self.faults(0.0, 0.0, Duration::ZERO);
        self.run_until(BEGIN + ROUGH + SETTLED);
    }

    fn judge(&self) {
        let bed = &self.bed;
        let ends: usize = [0, 1].map(|gateway| bed.ends(gateway).len()).iter().sum();
        let forgotten = self.mishap.as_ref().is_some_and(|mishap| mishap.fate == Fate::Crashes);
        assert!(
            ends == self.orders || forgotten && ends <= self.orders,
            "{ends} ends of {} handovers",
            self.orders
        );
        bed.judge_data();
        bed.judge_gateways();
        let mobile = &bed.mobiles[0];
        let (longest, here) = (mobile.longest_without, mobile.longest_without_here);
        assert!(longest <= WITHOUT + SUPERVISION * 2, "without a gateway for {longest:?}");
        assert!(here <= SUPERVISION * 2 + CALL, "without a gateway where it is for {here:?}");
    }
}

#[test]
fn no_message_is_lost_and_every_handover_has_an_end() {
    let seeds = std::env::var("HANDOVERS").unwrap_or_else(|_| "1,40".into());
    let (first, count) = seeds.split_once(',').expect("FIRST,COUNT");
    let (first, count): (u64, u64) = (first.parse().unwrap(), count.parse().unwrap());
    let (mut seen, mut longest) = ([0; 4], [Duration::ZERO; 2]);
    for seed in first..first + count {
        let played = std::panic::catch_unwind(|| {
            let mut course = Course::new(seed);
            course.play();
            if std::env::var_os("TELL").is_some() {
                course.bed.tell();
            }
            course.judge();
            let (bed, host) = (&course.bed, course.bed.mobiles[0].host);
            let mobile = &bed.mobiles[0];
            let all = |gateway: usize| bed.ends(gateway);
            let handed =
                [0, 1].iter().flat_map(|gateway| all(*gateway)).filter(|end| *end == "handed over").count();
            let ways = [
                handed,
                bed.said(host, |event| matches!(event, Event::Arrived(_))),
                bed.said(host, |event| matches!(event, Event::Lost(..))),
                bed.said(host, |event| matches!(event, Event::GatewaySilent | Event::Refused(..))),
            ];
            (ways, [mobile.longest_without, mobile.longest_without_here])
        });
        let Ok((ways, times)) = played else {
            panic!("HANDOVERS={seed},1 cargo test --release -p whimbrel-ufa --test handovers seeds")
        };
        seen.iter_mut().zip(ways).for_each(|(sum, ways)| *sum += u64::from(ways > 0));
        longest.iter_mut().zip(times).for_each(|(longest, time)| *longest = (*longest).max(time));
    }
    println!(
        "of {count}: {} handed over, {} arrived, {} lost their way, {} found no gateway; without one for {:?} at most, and {:?} where they were",
        seen[0], seen[1], seen[2], seen[3], longest[0], longest[1]
    );
    assert!(seen.iter().all(|seen| *seen >= count / 40), "{seen:?}");
}
