//! Rough worlds: what networks do to the profiles that users run, one trouble after the other or several at a time, and no
//! association may be lost.
//!
//! Two hosts with one to three access networks each, of either family or both, meet in a router. Troubles come in spells. In a spell
//! anything may happen to links, and one host may change all its addresses; the other keeps those that it has, or both change
//! one of several. Spells end: then there is a pair of addresses that each host knows of the other, and a network that carries packets
//! between them. What is broken for good by then is drawn, too.
//!
//! Everything is drawn from one stream of its own, so that no other sort of world depends on what is added here.

mod spells;
mod turn;

use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{LinkConfig, Loss, Oversize, QueueLimit};
use whimbrel_proto::{AssociationFailure, Config, TailLoss};

use self::spells::Spells;
use crate::draw::Draw;
use crate::kind::Kind;
use crate::motion::{Motion, PolicyPlan};
use crate::networks::{LinkPlan, Networks, addresses_of};
use crate::scenario::{Closing, HostPlan, PATIENCE, Reading, Scenario, Sending, UserPlan, limit};
use crate::traffic::Traffic;

/// When everything is over that can go wrong, what has been handed over is acknowledged this much later at most, besides the time that
/// it takes to send it.
const RECOVERY: Duration = Duration::from_secs(60);

/// The most that either side has to say.
const MOST_BYTES: u64 = 600_000;

/// Which families of addresses an interface has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Families {
    pub(crate) v4: bool,
    pub(crate) v6: bool,
}

const V4: Families = Families { v4: true, v6: false };
const V6: Families = Families { v4: false, v6: true };
const BOTH: Families = Families { v4: true, v6: true };

impl Families {
    fn meet(self, other: Self) -> bool {
        self.v4 && other.v4 || self.v6 && other.v6
    }
}

/// Which profiles the hosts run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Profile {
    /// `Config::mobile()`.
    Mobile,
    /// `Config::rfc()`: addresses stay, and outages are short. RFC 9260 §8.1 gives a peer up after ten timeouts on whatever paths.
    Rfc,
}

/// A host that sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sleep {
    pub(crate) host: usize,
    pub(crate) at: Instant,
    pub(crate) until: Instant,
}

/// How long after the last trouble everything that had been handed over must have been acknowledged.
pub(crate) fn recovery(networks: &Networks, hosts: &[HostPlan; 2]) -> Duration {
    let bits: u64 = hosts.iter().map(|host| host.traffic.bytes() * 8).sum();
    RECOVERY + Duration::from_secs(4 * bits / networks.slowest)
}

pub(crate) fn draw(seed: u64, kind: Kind) -> Scenario {
    let mut draw = Draw(Seed::from_u64(seed).stream("rough", 0));
    let draw = &mut draw;
    let profiles = match draw.between(0, 9) {
        0..8 => [Profile::Mobile; 2],
        8 => [Profile::Rfc; 2],
        _ => {
            let first = draw.between(0, 1) as usize;
            [0, 1].map(|host| if host == first { Profile::Mobile } else { Profile::Rfc })
        }
    };
    let steady = profiles.contains(&Profile::Rfc);
    let families = families(draw);
    let policies = profiles.map(|_| policy(draw, steady));
    let mut spells = Spells::new(draw, &families, policies.map(|policy| policy != PolicyPlan::None), steady);
    for _ in 0..draw.between(1, 3) {
        spells.spell(draw);
    }
    let networks = networks(draw, &families, &spells);
    let traffics = [0, 1].map(|host| {
        let mut traffic = Traffic::draw(draw, host, MOST_BYTES);
        traffic.last(draw, networks.heal_at - Instant::ZERO);
        Arc::new(traffic)
    });
    // Now and then users close in the middle of it.
    let early = !steady && draw.chance(0.15);
    let longest = spells.longest;
    let mut hosts = [0, 1].map(|host: usize| {
        let config = config(draw, profiles[host], longest);
        let user = user(draw, host == 0, &config);
        HostPlan { config: Arc::new(config), traffic: Arc::clone(&traffics[host]), user }
    });
    let hold = networks.heal_at + recovery(&networks, &hosts) + Duration::from_secs(1);
    hosts.iter_mut().for_each(|host| host.user.hold_until = (!early).then_some(hold));
    let limit = limit(&networks, &hosts);
    let udp_port = if early || draw.chance(0.8) { 9899 } else { 0 };
    let Spells { start, moves, sleeps, .. } = spells;
    let hold_until = (!early).then_some(hold);
    let motion = Some(Motion { start, moves, policies, hold_until, gentle: false });
    Scenario { kind, networks, hosts, crashes: Vec::new(), sleeps, motion, udp_port, limit }
}

/// Per host and interface. The hosts can reach each other by any pair of interfaces, or one host has both families everywhere.
fn families(draw: &mut Draw) -> [Vec<Families>; 2] {
    let counts = [0, 1].map(|_| draw.one_of(&[1, 2, 2, 2, 3]));
    let all = draw.one_of(&[Some(V4), Some(V4), Some(V6), Some(BOTH), None, None]);
    let both = draw.between(0, 1) as usize;
    [0, 1].map(|host| {
        let mut of = || match all {
            Some(all) => all,
            None if host == both => BOTH,
            None => draw.one_of(&[V4, V6, BOTH]),
        };
        (0..counts[host]).map(|_| of()).collect()
    })
}

/// One in some hosts without a policy leaves its addresses as they are.
fn policy(draw: &mut Draw, steady: bool) -> PolicyPlan {
    use whimbrel_handover::Pace;
    if steady {
        return PolicyPlan::None;
    }
    let seamless = PolicyPlan::Seamless(Pace::MOBILE);
    draw.one_of(&[seamless, seamless, PolicyPlan::Failover(Pace::MOBILE), PolicyPlan::None])
}

fn networks(draw: &mut Draw, families: &[Vec<Families>; 2], spells: &Spells) -> Networks {
    let interfaces = [0, 1].map(|host: usize| {
        let of = |(n, families): (usize, &Families)| addresses_of(*families, n as u8, host as u8);
        families[host].iter().enumerate().map(of).collect()
    });
    let links: Vec<LinkPlan> = spells
        .links
        .iter()
        .map(|link| {
            let begins = [0, 1].map(|_| direction(draw));
            let begins = if draw.chance(0.5) { [begins[0]; 2] } else { begins };
            let ends = begins.map(|config| match link.hole {
                Some((mtu, oversize)) => LinkConfig { mtu, oversize, ..config },
                None => config,
            });
            let changes = link.changes.iter().flat_map(|&(at, side, change)| change.on(at, side, &begins));
            LinkPlan { faulty: begins, changes: changes.collect(), clean: ends, dead: link.dead }
        })
        .collect();
    let directions = || links.iter().flat_map(|link| link.clean.iter());
    let slowest = directions().filter_map(|config| config.rate_bps).min().unwrap_or(1_000_000);
    Networks {
        mesh: true,
        interfaces,
        links,
        slowest,
        heal_at: spells.ended,
        corrupts: false,
        nat_idle: None,
    }
}

/// An access network in good health.
fn direction(draw: &mut Draw) -> LinkConfig {
    let rate = draw.magnitude(1_000_000, 100_000_000);
    LinkConfig {
        rate_bps: Some(rate),
        queue: QueueLimit::bytes(draw.magnitude(15_000, (rate / 16).max(30_000))),
        delay: Duration::from_micros(draw.magnitude(100, 100_000)),
        loss: if draw.chance(0.3) { Loss::Bernoulli(draw.up_to(0.02)) } else { Loss::None },
        oversize: draw.one_of(&[Oversize::Dropped, Oversize::Reported]),
        ..LinkConfig::default()
    }
}

/// The profile as users run it, and patience that outlasts the longest spell of trouble.
fn config(draw: &mut Draw, profile: Profile, longest: Duration) -> Config {
    let mut config = match profile {
        Profile::Rfc => Config::rfc(),
        Profile::Mobile => Config::mobile(),
    };
    if profile == Profile::Mobile {
        if draw.chance(0.5) {
            config.retransmission.tail = TailLoss::Probe;
        }
        if draw.chance(0.3) {
            config.failure.association = AssociationFailure::Silence(longest + Duration::from_secs(90));
        }
    }
    config.validate().expect("a valid configuration was drawn");
    config
}

fn user(draw: &mut Draw, client: bool, config: &Config) -> UserPlan {
    let polite = Sending::Polite(draw.magnitude(2_000, config.limits.send_buffer as u64) as usize);
    UserPlan {
        client,
        connect_after: client.then_some(Duration::ZERO),
        reconnect_after: Duration::from_secs(1),
        fixed_port: draw.chance(0.5),
        sending: if draw.chance(0.5) { polite } else { Sending::Pushy },
        reading: Reading::AtOnce,
        closing: if client { Closing::AfterReceiving } else { Closing::Never },
        abort_after: None,
        meddle_every: None,
        abort_stale: true,
        watches: false,
        patience: PATIENCE,
        trusted_from: Instant::ZERO,
        overheard: false,
        peer_stays: None,
        hold_until: None,
    }
}
