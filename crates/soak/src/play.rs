//! Plays a scenario to its end.

use core::time::Duration;
use std::io::Write;

use bytes::Bytes;
use whimbrel_machine::Instant;
use whimbrel_netsim::{Action, DropReason, Side, Stopped};
use whimbrel_proto::{CloseReason, Command};

use crate::build::Built;
use crate::check::verdict;
use crate::kind::{Attack, Movement, Worlds};
use crate::ledger::{End, Ledger};
use crate::motion::{Move, REST};
use crate::places::Places;
use crate::rest;
use crate::rough;
use crate::scenario::Scenario;
use crate::traffic::LARGEST;

/// Where to write what happens.
#[derive(Default)]
pub struct Watch {
    /// Every link, as pcapng.
    pub pcap: Option<Box<dyn Write + Send>>,
    /// Every event, as JSON lines.
    pub trace: Option<Box<dyn Write + Send>>,
}

/// What a run was like.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Fingerprint of everything that happened.
    pub hash: u64,
    /// Virtual time from the beginning to the moment when everything was over.
    pub virtual_time: Duration,
    /// How long after the faults that was, zero if before.
    pub after_faults: Duration,
    /// Packets delivered by links.
    pub packets: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Associations, as both ends count them together, restarted ones counted anew.
    pub associations: u64,
    /// Of these: ended because the peer had restarted.
    pub restarted: u64,
    /// Of these: aborted by either user.
    pub aborted: u64,
    /// Of these: given up because the peer did not answer.
    pub unreachable: u64,
    /// Attempts to connect that failed.
    pub connects_failed: u64,
    /// Hosts that crashed.
    pub crashes: u64,
    /// Times that an interface came, went or spoke of its signal.
    pub moves: u64,
    /// Worlds in which somebody attacked.
    pub attacked: u64,
}

impl core::ops::AddAssign<&Self> for Report {
    /// Sums; the hash becomes one of both, in this order, and `after_faults` the longer one.
    fn add_assign(&mut self, other: &Self) {
        self.hash = self.hash.rotate_left(1) ^ other.hash;
        self.virtual_time += other.virtual_time;
        self.after_faults = self.after_faults.max(other.after_faults);
        self.packets += other.packets;
        self.dropped += other.dropped;
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.associations += other.associations;
        self.restarted += other.restarted;
        self.aborted += other.aborted;
        self.unreachable += other.unreachable;
        self.connects_failed += other.connects_failed;
        self.crashes += other.crashes;
        self.moves += other.moves;
        self.attacked += other.attacked;
    }
}

/// Broken promises.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What is wrong, one sentence each.
    pub wrong: Vec<String>,
    /// The run as far as it came.
    pub report: Report,
}

/// Plays the scenario of `seed` among those `worlds`.
///
/// # Errors
/// Says which promises were broken; a panic breaks one.
pub fn run(seed: u64, worlds: Worlds, watch: Watch) -> Result<Report, Box<Failure>> {
    // Nothing of the run is looked at after a panic.
    let run = core::panic::AssertUnwindSafe(|| run_to_the_end(seed, worlds, watch));
    std::panic::catch_unwind(run).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
        Err(Box::new(Failure { wrong: vec![format!("panic: {text}")], report: Report::default() }))
    })
}

fn run_to_the_end(seed: u64, worlds: Worlds, watch: Watch) -> Result<Report, Box<Failure>> {
    let scenario = Scenario::draw(seed, worlds);
    let places = Places::new(&scenario);
    let mut built = scenario.build(seed, &places);
    let mut wrong = Vec::new();
    if let Err(error) = attach(&mut built, watch) {
        wrong.push(format!("cannot write: {error}"));
    }
    let over_at =
        Play { scenario: &scenario, built: &mut built, places, seed, wrong: &mut wrong, owed: None }.play();
    let ledgers = built.hosts.map(|host| &built.world.app(host).ledger);
    wrong.extend(verdict(&scenario, ledgers));
    let report = report(&scenario, &built, over_at);
    if let Err(error) = built.world.finish() {
        wrong.push(format!("cannot write: {error}"));
    }
    if wrong.is_empty() { Ok(report) } else { Err(Box::new(Failure { wrong, report })) }
}

fn attach(built: &mut Built, watch: Watch) -> std::io::Result<()> {
    if let Some(trace) = watch.trace {
        built.world.trace_to(trace);
    }
    if let Some(pcap) = watch.pcap {
        let names: Vec<String> = (0..built.links.len()).map(|n| format!("link{n}")).collect();
        let links: Vec<_> = built.links.iter().zip(&names).map(|(&link, name)| (link, &name[..])).collect();
        built.world.capture(&links, pcap)?;
    }
    Ok(())
}

struct Play<'a> {
    scenario: &'a Scenario,
    built: &'a mut Built,
    places: Places,
    seed: u64,
    wrong: &'a mut Vec<String>,
    owed: Option<Owed>,
}

/// What was handed over when the last trouble was over, see [`Play::owed_now`].
type Owed = [Option<(u8, usize)>; 2];

/// Something that is done to the world from outside.
enum Happening {
    Crash(usize),
    Return(usize),
    Move(usize, Move),
    /// Both users abort what an attacker may have spoiled.
    BeginAnew,
    /// Everything has been at rest for long enough.
    Look,
    /// The last trouble is over: what has been handed over is owed from now on.
    Owe,
    /// It must have been acknowledged by now.
    Pay,
}

impl Scenario {
    fn happenings(&self) -> Vec<(Instant, Happening)> {
        let mut happenings = Vec::new();
        for crash in &self.crashes {
            happenings.push((crash.at, Happening::Crash(crash.host)));
            happenings.push((crash.back_at, Happening::Return(crash.host)));
        }
        if let Some(motion) = &self.motion {
            let moves = motion.moves.iter();
            happenings.extend(moves.map(|&(at, host, happens)| (at, Happening::Move(host, happens))));
            // Somebody on the path can keep a handshake from its end, which leaves an association that only one side knows.
            if motion.gentle && motion.hold_until.is_some() && self.kind.on_path().is_none() {
                happenings.push((self.networks.heal_at + REST - Duration::from_secs(1), Happening::Look));
            }
        }
        if self.kind.movement == Movement::Rough {
            let over = self.networks.heal_at;
            happenings.push((over, Happening::Owe));
            happenings.push((over + rough::recovery(&self.networks, &self.hosts), Happening::Pay));
        }
        if let Some(anew) = self.anew_at() {
            happenings.push((anew, Happening::BeginAnew));
        }
        happenings.sort_by_key(|(at, _)| *at);
        happenings
    }
}

impl Play<'_> {
    /// Returns when everything was over.
    fn play(&mut self) -> Instant {
        for host in 0..2 {
            self.places.introduce(self.scenario, self.built, host);
        }
        for (at, happening) in self.scenario.happenings() {
            self.run_until(at);
            self.happen(happening);
        }
        let limit = self.scenario.limit;
        let mut over_at = None;
        while self.wrong.is_empty() && self.built.world.now() < limit {
            let next = (self.built.world.now() + Duration::from_secs(1)).min(limit);
            let stopped = self.run_slice(next);
            if over_at.is_none() && self.is_over() {
                over_at = Some(self.built.world.now());
            }
            if stopped == Stopped::Idle {
                break;
            }
        }
        self.check_rest();
        over_at.unwrap_or_else(|| self.built.world.now())
    }

    fn is_over(&self) -> bool {
        let world = &self.built.world;
        world.app(self.built.hosts[0]).ledger.done
            && self.built.hosts.iter().all(|&host| world.machine(host).association_count() == 0)
    }

    fn run_until(&mut self, at: Instant) {
        while self.wrong.is_empty() && self.built.world.now() < at {
            let next = (self.built.world.now() + Duration::from_secs(1)).min(at);
            self.run_slice(next);
        }
    }

    fn run_slice(&mut self, until: Instant) -> Stopped {
        let stopped = self.built.world.run_until(until);
        if stopped == Stopped::Livelock {
            self.wrong.push(format!("{} livelock", self.built.world.now()));
        }
        self.check_limits();
        stopped
    }

    /// Buffers stay within what the configuration allows.
    fn check_limits(&mut self) {
        let Built { world, hosts, .. } = &*self.built;
        for (n, (host, plan)) in hosts.iter().zip(&self.scenario.hosts).enumerate() {
            let (user, node) = (world.app(*host), world.machine(*host));
            for association in user.associations() {
                let Some(stats) = node.stats(association) else { continue };
                let limits = &plan.config.limits;
                // A message of any size is let into an empty send buffer, a chunk into an empty receive buffer.
                let send = limits.send_buffer.max(plan.traffic.largest());
                let receive = limits.receive_buffer.max(65_536);
                let paths = node.paths(association);
                if paths.len() > limits.paths {
                    self.wrong.push(format!("{} {} paths", world.now(), paths.len()));
                }
                self.wrong.extend(rest::strays(self.scenario, n, &paths));
                if stats.send_queued > send || stats.receive_queued > receive {
                    self.wrong.push(format!("{} buffers overflow: {stats:?}", world.now()));
                }
            }
            if node.association_count() > 20 {
                self.wrong.push(format!("{} {} associations", world.now(), node.association_count()));
            }
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Crash(host) => {
                let (host, now) = (self.built.hosts[host], self.built.world.now());
                self.built.world.app_mut(host).ledger.crash(now);
                self.built.world.act(Action::Crash(host));
            }
            Happening::Return(host) => self.restart(host),
            Happening::Move(host, happens) => {
                self.places.carry_out(self.scenario, self.built, host, happens);
                let peer = self.built.hosts[1 - host];
                self.built.world.app_mut(peer).set_peer(self.places.visible_addresses(self.scenario, host));
            }
            Happening::BeginAnew => self.begin_anew(),
            Happening::Owe => self.owed = Some(self.owed_now()),
            Happening::Pay => self.demand_payment(),
            Happening::Look => self.wrong.extend(rest::look(self.scenario, self.built, &self.places)),
        }
    }

    /// Per host: its latest association that is up, and how many bytes it has taken for it.
    fn owed_now(&self) -> Owed {
        self.built.hosts.map(|host| {
            let incarnations = &self.built.world.app(host).ledger.incarnations;
            let live = incarnations.last().filter(|incarnation| incarnation.end.is_none())?;
            Some((live.number, live.accepted_bytes))
        })
    }

    fn demand_payment(&mut self) {
        let now = self.built.world.now();
        for (n, owed) in self.owed.take().into_iter().flatten().enumerate() {
            let ledger = &self.built.world.app(self.built.hosts[n]).ledger;
            let Some((number, bytes)) = owed else { continue };
            let stuck = ledger.incarnations.iter().find(|incarnation| {
                incarnation.number == number && incarnation.end.is_none() && incarnation.sent_bytes < bytes
            });
            if let Some(stuck) = stuck {
                let sent = stuck.sent_bytes;
                self.wrong.push(format!("{now} host {n} is stuck: {sent} of {bytes} bytes acknowledged"));
            }
        }
    }

    fn begin_anew(&mut self) {
        for host in self.built.hosts {
            let associations: Vec<_> = self.built.world.app(host).associations().collect();
            for association in associations {
                let abort = Command::Abort { association, reason: Bytes::from_static(b"spoiled") };
                self.built.world.act(Action::Command(host, abort));
            }
        }
    }

    fn restart(&mut self, host: usize) {
        let id = self.built.hosts[host];
        let ledger: Ledger = core::mem::take(&mut self.built.world.app_mut(id).ledger);
        let seed = whimbrel_machine::Seed::from_u64(self.seed);
        let fresh = self.scenario.host(&seed, &self.places, host, 1, ledger);
        self.built.world.act(Action::Restart(id, Box::new(fresh)));
        self.places.introduce(self.scenario, self.built, host);
    }

    /// Nothing may be left anywhere.
    fn check_rest(&mut self) {
        let world = &self.built.world;
        for &host in &self.built.hosts {
            let (user, node) = (world.app(host), world.machine(host));
            for association in user.associations() {
                let (stats, paths) = (node.stats(association), node.paths(association));
                self.wrong.push(format!("host {} still has {stats:?} {paths:?}", host.index()));
            }
        }
        let associations: usize =
            self.built.hosts.iter().map(|&host| world.machine(host).association_count()).sum();
        if associations > 0 {
            self.wrong.push(format!("{associations} associations are left at {}", world.now()));
        }
        if world.packets_in_flight() > 0 {
            let count = world.packets_in_flight();
            self.wrong.push(format!("{count} packets are in flight at {}", world.now()));
        }
    }
}

fn report(scenario: &Scenario, built: &Built, over_at: Instant) -> Report {
    let world = &built.world;
    let mut report = Report {
        hash: world.trace_hash(),
        virtual_time: over_at - Instant::ZERO,
        after_faults: over_at - scenario.networks.heal_at,
        crashes: scenario.crashes.len() as u64,
        moves: scenario.motion.as_ref().map_or(0, |motion| motion.moves.len() as u64),
        attacked: u64::from(scenario.kind.attack != Attack::None),
        ..Report::default()
    };
    for side in [Side::AtoB, Side::BtoA] {
        for &link in &built.links {
            let stats = world.stats(link, side);
            report.packets += stats.delivered_packets;
            report.dropped += stats.dropped_packets();
        }
    }
    report.dropped += world.stray_drops(DropReason::NoRoute);
    for (host, &id) in built.hosts.iter().enumerate() {
        let ledger = &world.app(id).ledger;
        let inbound = &scenario.hosts[1 - host].traffic;
        report.connects_failed += ledger.connects_failed;
        for incarnation in &ledger.incarnations {
            report.associations += 1;
            report.messages += incarnation.received.len() as u64;
            let bytes = incarnation.received.iter().map(|&n| inbound.messages[n as usize].bytes.min(LARGEST));
            report.bytes += bytes.sum::<usize>() as u64;
            match &incarnation.end {
                Some((_, End::Restarted)) => report.restarted += 1,
                Some((_, End::Closed(CloseReason::Aborted))) => report.aborted += 1,
                Some((_, End::Closed(CloseReason::Unreachable))) => report.unreachable += 1,
                _ => {}
            }
        }
    }
    report
}
