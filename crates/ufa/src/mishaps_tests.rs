//! Handovers in which messages are lost, doubled and late, and a host loses its power: each has an end that is described, what waits at the target is bounded and
//! leaves in order, and a terminal is at a gateway that knows it, or decides by itself.
//!
//! `MISHAPS=FIRST,COUNT` plays other seeds; a failure names its own.

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, Rng, Seed};

use crate::Event;
use crate::gateway::supervised::supervised;
use crate::testing::{Data, Faults, SOURCE, Scene, Stopped, TARGET, TERMINAL};

/// How often ends and gateways ask after each other.
const SUPERVISION: Duration = Duration::from_secs(10);
/// The network has faults for so long, and all is settled then after so long.
const ROUGH: Duration = Duration::from_secs(60);
const SETTLED: Duration = Duration::from_secs(300);
/// A terminal is without a gateway that knows it, and does not decide by itself, for so long at most: 40 s on its way, and 32 s until it is clear that nobody answers
/// message 8 (RFC 3261 timer B); before that it may have been at one for two questions that was gone.
const WITHOUT: Duration = Duration::from_secs(40 + 32 + 2 * 10);

/// What becomes of a host without power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Gone,
    /// It goes on where it was, then.
    Returns(Instant),
    /// A gateway begins anew, then.
    BeginsAnew(Instant),
}

struct Course {
    scene: Scene,
    rng: Rng,
    /// Who loses its power when, and what becomes of it.
    crash: Option<(usize, Instant, Fate)>,
    stopped: Option<Stopped>,
    /// Who has lost its power, whether or not it has come back, and what was to become of it.
    crashed: Option<(usize, Fate)>,
    /// What the correspondent sends to the new address.
    data: Data,
    /// Since when the terminal has been without a gateway, and how long it was so at most.
    without: Option<Instant>,
    longest_without: Duration,
}

impl Course {
    fn new(seed: u64) -> Self {
        let mut scene = Scene::with(seed, supervised(SUPERVISION));
        scene.talk();
        let mut rng = Seed::from_u64(seed).stream("mishaps", 0);
        scene.faults = Faults {
            loss: [0.0, 0.05, 0.2, 0.5][rng.below(4) as usize],
            duplicate: [0.0, 0.3][rng.below(2) as usize],
            jitter: Duration::from_millis(rng.below(300)),
        };
        let crash = rng.chance(0.7).then(|| {
            let host = rng.below(4) as usize;
            let at = scene.now + Duration::from_millis(rng.below(2000));
            let back = at + Duration::from_millis(rng.below(50_000));
            let fate = match rng.below(3) {
                0 => Fate::Gone,
                1 if [SOURCE, TARGET].contains(&host) => Fate::BeginsAnew(back),
                _ => Fate::Returns(back),
            };
            (host, at, fate)
        });
        let crashed = crash.map(|(host, _, fate)| (host, fate));
        Self {
            scene,
            rng,
            crash,
            stopped: None,
            crashed,
            data: Data::default(),
            without: None,
            longest_without: Duration::ZERO,
        }
    }

    /// Power goes and comes.
    fn switch(&mut self) {
        let Some((host, at, fate)) = self.crash else { return };
        if self.stopped.is_none() && at <= self.scene.now {
            self.stopped = Some(self.scene.stop(host));
        }
        match fate {
            Fate::Returns(back) if back <= self.scene.now => {
                let stopped = self.stopped.take().expect("it has stopped before");
                self.scene.start(host, stopped);
                self.crash = None;
            }
            Fate::BeginsAnew(back) if back <= self.scene.now => {
                self.scene.replace_gateway(host, supervised(SUPERVISION));
                self.crash = None;
            }
            _ => {}
        }
    }

    fn runs(&self, host: usize) -> bool {
        self.scene.runs(host)
    }

    fn pass(&mut self, time: Duration) {
        self.scene.pass(time);
        self.data.collect(&mut self.scene);
        self.switch();
        self.watch();
    }

    /// Takes the time for which the terminal is without a gateway. What has no power waits for none.
    fn watch(&mut self) {
        let now = self.scene.now;
        let is_without = self.runs(TERMINAL)
            && self.network_decides()
            && !self.scene.place().is_some_and(|place| self.is_known_at(place));
        self.without = is_without.then(|| self.without.unwrap_or(now));
        let time = self.without.map_or(Duration::ZERO, |since| now.saturating_since(since));
        self.longest_without = self.longest_without.max(time);
    }

    /// Whether the terminal leaves it to the network where it goes.
    fn network_decides(&self) -> bool {
        let told = self.scene.said(TERMINAL).into_iter().rev().find_map(|event| match event {
            Event::Established(_) | Event::Arrived(_) | Event::GatewayBack => Some(true),
            Event::Lost(..) | Event::Refused(..) | Event::Ended(_) | Event::GatewaySilent => Some(false),
            _ => None,
        });
        told == Some(true)
    }

    fn is_known_at(&self, place: IpAddr) -> bool {
        [SOURCE, TARGET].into_iter().any(|gateway| {
            self.runs(gateway)
                && self.scene.gateway(gateway).sessions().any(|session| session.terminal == place)
        })
    }

    fn play(&mut self) {
        self.scene.hand_over();
        let begin = self.scene.now;
        while self.scene.now < begin + Duration::from_secs(3) {
            let wait = Duration::from_millis(5 + self.rng.below(30));
            self.pass(wait);
            self.data.send(&mut self.scene);
        }
        while self.scene.now < begin + ROUGH {
            self.pass(Duration::from_millis(500));
        }
        self.scene.faults = Faults::default();
        while self.scene.now < begin + SETTLED {
            self.pass(Duration::from_secs(1));
        }
    }

    fn says(&self, host: usize, what: impl Fn(&Event) -> bool) -> usize {
        self.scene.said(host).into_iter().filter(|event| what(event)).count()
    }

    fn judge(&self) {
        let ends = self.says(SOURCE, |event| {
            matches!(event, Event::HandedOver { .. } | Event::Stays { .. } | Event::Astray { .. })
        });
        let source_has_crashed = matches!(self.crash, Some((SOURCE, ..))) || self.stopped.is_some();
        assert!(ends == 1 || (ends == 0 && source_has_crashed), "the source tells of {ends} ends");
        assert!(self.data.out.is_sorted_by(|a, b| a < b), "out of order: {:?}", self.data.out);
        if self.runs(TARGET) {
            let target = self.scene.gateway(TARGET);
            assert_eq!(target.held_bytes(), 0, "something still waits");
            self.judge_data(target.overflowed());
        }
        assert!(self.longest_without <= WITHOUT, "without a gateway for {:?}", self.longest_without);
        if self.runs(TERMINAL) {
            self.judge_terminal();
        }
    }

    /// What was sent to the new address has come out, all that found room, if the terminal has come there; and nothing has, if the handover was taken back. A target
    /// that was started anew forgets what waits: SCTP sends it again.
    fn judge_data(&self, overflowed: u64) {
        if self.crashed.is_some_and(|(host, _)| host == TARGET) {
            return;
        }
        let come = self.says(TARGET, |event| matches!(event, Event::Arrived(_))) > 0;
        let (sent, out) = (u64::from(self.data.sent), self.data.out.len() as u64);
        assert_eq!(
            out,
            if come { sent - overflowed } else { 0 },
            "{sent} were sent, and {overflowed} found no room"
        );
    }

    /// It is at a gateway that knows it, or has said that it decides by itself.
    fn judge_terminal(&self) {
        let ip = self.scene.terminal_address().ip();
        assert!(
            !self.network_decides() || self.is_known_at(ip),
            "the terminal at {ip} thinks that a gateway knows it"
        );
    }
}

#[test]
fn whatever_happens_every_handover_has_an_end() {
    let seeds = std::env::var("MISHAPS").unwrap_or_else(|_| "1,1000".into());
    let (first, count) = seeds.split_once(',').expect("FIRST,COUNT");
    let (first, count): (u64, u64) = (first.parse().unwrap(), count.parse().unwrap());
    let (mut ends, mut longest) = ([0; 3], 0);
    for seed in first..first + count {
        let played = std::panic::catch_unwind(|| {
            let mut course = Course::new(seed);
            course.play();
            course.judge();
            [
                course.says(SOURCE, |event| matches!(event, Event::HandedOver { .. })),
                course.says(TERMINAL, |event| matches!(event, Event::Arrived(_))),
                course.says(TERMINAL, |event| matches!(event, Event::Lost(..) | Event::GatewaySilent)),
                course.longest_without.as_secs() as usize,
            ]
        });
        match played {
            Ok([seen @ .., without]) => {
                ends.iter_mut().zip(seen).for_each(|(sum, seen): (_, usize)| *sum += usize::from(seen > 0));
                longest = longest.max(without);
            }
            Err(_) => panic!("MISHAPS={seed},1 cargo test -p whimbrel-ufa --lib mishaps"),
        }
    }
    println!(
        "of {count}: {} handed over, {} arrived, {} decided by themselves at some time; none without a gateway for more than {longest} s",
        ends[0], ends[1], ends[2]
    );
    let some = usize::try_from(count).unwrap() / 20;
    assert!(ends.iter().all(|seen| *seen >= some), "{ends:?}");
}
