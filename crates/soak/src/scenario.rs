//! Everything that one seed decides before the run begins.

use core::net::IpAddr;
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_proto::{AssociationFailure, BurstLimit, Config, PathPairing};
use whimbrel_wire::chunk_type;

use crate::configs::{self, Sizes};
use crate::draw::Draw;
use crate::kind::{Access, Attack, Control, Guard, Kind, Movement, Packets, Paths, Worlds};
use crate::motion::Motion;
use crate::networks::Networks;
use crate::rough::{self, Sleep};
use crate::traffic::Traffic;

/// An association without heartbeats in which nothing has happened for so long is aborted: its peer may be gone.
pub(crate) const PATIENCE: Duration = Duration::from_secs(200);

/// What an attacker on the path has sent has all arrived so long after he has given up; then associations begin anew.
const AFTER_ATTACK: Duration = Duration::from_secs(12);

/// A scenario: the network, its faults, both hosts and their users.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) kind: Kind,
    pub(crate) networks: Networks,
    /// The client, which connects again until a graceful shutdown succeeds, and the server.
    pub(crate) hosts: [HostPlan; 2],
    pub(crate) crashes: Vec<Crash>,
    pub(crate) sleeps: Vec<Sleep>,
    pub(crate) motion: Option<Motion>,
    /// UDP encapsulation port, 0 for SCTP directly on IP.
    pub(crate) udp_port: u16,
    /// When everything must be over.
    pub(crate) limit: Instant,
}

/// A host and its user.
#[derive(Clone, Debug)]
pub(crate) struct HostPlan {
    pub(crate) config: Arc<Config>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) user: UserPlan,
}

/// What a user does besides sending.
#[derive(Clone, Debug)]
pub(crate) struct UserPlan {
    pub(crate) client: bool,
    /// Connects this long after the start.
    pub(crate) connect_after: Option<Duration>,
    pub(crate) reconnect_after: Duration,
    /// Connects from SCTP port 5001 instead of a random one: a host that crashed comes back with the same ports.
    pub(crate) fixed_port: bool,
    pub(crate) sending: Sending,
    pub(crate) reading: Reading,
    pub(crate) closing: Closing,
    /// Aborts its first association after this time.
    pub(crate) abort_after: Option<Duration>,
    /// Makes another path primary, or asks for a heartbeat, this often.
    pub(crate) meddle_every: Option<Duration>,
    /// Aborts what is left of earlier associations when a new one comes up.
    pub(crate) abort_stale: bool,
    /// Aborts an association in which nothing has happened for long.
    pub(crate) watches: bool,
    /// How long that is.
    pub(crate) patience: Duration,
    /// What comes in associations that began earlier may be anything.
    pub(crate) trusted_from: Instant,
    /// Somebody on the path speaks in the peer's name: what the peer complains about means nothing.
    pub(crate) overheard: bool,
    /// The peer's addresses if they never change. It may still tell of one that its INIT ACK has not named.
    pub(crate) peer_stays: Option<Vec<IpAddr>>,
    /// Closes nothing before this time.
    pub(crate) hold_until: Option<Instant>,
}

/// How a user fills the send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sending {
    /// Keeps at most this many bytes in it.
    Polite(usize),
    /// Offers as much as it can until it is refused.
    Pushy,
}

/// How a user reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// Releases at once.
    AtOnce,
    /// Releases nothing until this time after the beginning of the association, then at once.
    After(Duration),
    /// Releases so many bytes at a time.
    Slowly { bytes: usize, every: Duration },
}

/// When a user asks for a graceful shutdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closing {
    /// It leaves that to the other.
    Never,
    /// When everything has been handed over.
    AfterSending,
    /// When everything has been acknowledged.
    AfterAcknowledgement,
    /// When, besides, everything has been received.
    AfterReceiving,
}

/// A host that loses its memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crash {
    pub(crate) host: usize,
    pub(crate) at: Instant,
    pub(crate) back_at: Instant,
}

impl Scenario {
    /// The scenario of a seed, of one of these sorts.
    pub fn draw(seed: u64, worlds: Worlds) -> Self {
        let kind = Kind::draw(seed, worlds);
        if kind.movement == Movement::Rough {
            return rough::draw(seed, kind);
        }
        let mut draw = Draw(Seed::from_u64(seed).stream("scenario", 0));
        let draw = &mut draw;
        let sizes = Sizes::draw(draw);
        let networks = Networks::draw(draw, sizes.mtu, kind);
        // No more than what takes half a minute in the slowest network.
        let most = (networks.slowest / 8 * 30).min(4_000_000);
        let traffics = [0, 1].map(|host| {
            let mut traffic = Traffic::draw(draw, host, most);
            if kind.movement != Movement::None {
                traffic.spread(draw, networks.heal_at - Instant::ZERO);
            }
            Arc::new(traffic)
        });
        let mut hosts = hosts(seed, draw, kind, sizes, &networks, &traffics);
        bear_detours(kind, &networks, &mut hosts);
        if hosts.iter().all(|host| host.user.closing == Closing::Never) {
            hosts[0].user.closing = Closing::AfterReceiving;
        }
        if draw.chance(0.15) {
            // Both begin at once, unless nobody can reach the first.
            let after = draw.millis(0, 1_000);
            hosts[1].user.connect_after = (kind.access == Access::Direct).then_some(after);
            hosts[0].user.fixed_port = true;
            hosts[1].user.fixed_port = true;
        }
        let mut crashes = crashes(draw, networks.heal_at);
        let disbelieved = kind.on_path() == Some(Guard::Everything) || kind.packets == Packets::Protected;
        if kind.movement == Movement::Gentle || disbelieved {
            // No association may be lost in the one, and in the other nobody would believe a host that it has been.
            crashes.clear();
            hosts.iter_mut().for_each(|host| host.user.abort_after = None);
        }
        let udp_port = draw.one_of(&[9899, 9899, 0]);
        let udp_port = if kind.access == Access::BehindNat { 9899 } else { udp_port };
        let counts = [0, 1].map(|host: usize| networks.interfaces[host].len());
        let motion =
            (kind.movement != Movement::None).then(|| Motion::draw(draw, kind, counts, networks.heal_at));
        for host in &mut hosts {
            // A host without any address that the peer knows waits for one, for ever if nobody minds.
            host.user.watches |= kind.movement == Movement::Wild;
            host.user.hold_until = motion.as_ref().and_then(|motion| motion.hold_until);
        }
        let patience = [patience(&hosts[0], &hosts[1]), patience(&hosts[1], &hosts[0])];
        hosts.iter_mut().zip(patience).for_each(|(host, patience)| host.user.patience = patience);
        let limit = limit(&networks, &hosts);
        let mut scenario =
            Self { kind, networks, hosts, crashes, sleeps: Vec::new(), motion, udp_port, limit };
        scenario.warn_users();
        scenario
    }

    /// Users know what they are in for.
    fn warn_users(&mut self) {
        for host in 0..2 {
            let trusts = self.keeps_integrity(host, Instant::ZERO);
            let trusted_from = if trusts { None } else { self.anew_at() };
            let peer_stays = self.motion.is_none().then(|| self.networks.interfaces[1 - host].concat());
            let user = &mut self.hosts[host].user;
            user.trusted_from = trusted_from.unwrap_or(Instant::ZERO);
            user.overheard = self.kind.on_path().is_some();
            user.peer_stays = peer_stays;
        }
    }

    /// When associations may be trusted again that somebody could have changed; `None` if nobody can.
    pub(crate) fn anew_at(&self) -> Option<Instant> {
        let exposed = matches!(self.kind.on_path(), Some(Guard::Addresses | Guard::Nothing));
        exposed.then(|| self.networks.heal_at + AFTER_ATTACK)
    }

    /// Whether what a host receives in an association that began at `began` must be what was sent.
    pub(crate) fn keeps_integrity(&self, host: usize, began: Instant) -> bool {
        let demands = self.hosts[host].config.auth.required.contains(&chunk_type::DATA);
        let keyed = self.kind.on_path() == Some(Guard::Addresses) && demands;
        keyed || self.keeps_everything(began)
    }

    /// Whether an association that began at `began` must keep every promise.
    pub(crate) fn keeps_everything(&self, began: Instant) -> bool {
        self.anew_at().is_none_or(|anew| began >= anew)
    }

    /// Whether hosts crash or users abort, so that an association may end otherwise than gracefully.
    pub(crate) fn is_violent(&self) -> bool {
        !self.crashes.is_empty() || self.hosts.iter().any(|host| host.user.abort_after.is_some())
    }
}

fn hosts(
    seed: u64,
    draw: &mut Draw,
    kind: Kind,
    sizes: Sizes,
    networks: &Networks,
    traffics: &[Arc<Traffic>; 2],
) -> [HostPlan; 2] {
    // Drawn apart, so that the rest of a scenario is what it was before there was authentication.
    let apart = &mut Draw(Seed::from_u64(seed).stream("authentication", 0));
    let auth = configs::authentication(
        apart,
        match kind.attack {
            Attack::OnPath(Guard::Everything | Guard::Addresses) => 1.0,
            Attack::OnPath(Guard::Nothing) => 0.0,
            Attack::None | Attack::OffPath => 0.3,
        },
    );
    let bandwidth = &mut Draw(Seed::from_u64(seed).stream("bandwidth", 0));
    let several = &mut Draw(Seed::from_u64(seed).stream("multipath", 0));
    [0, 1].map(|host: usize| {
        let mut config = match kind.movement {
            Movement::Gentle => configs::patient(draw, sizes, networks.interfaces[host].len()),
            Movement::None | Movement::Wild | Movement::Rough => {
                configs::config(draw, sizes, networks.corrupts)
            }
        };
        if let Some(auth) = &auth {
            config.auth = match kind.on_path() {
                Some(Guard::Everything) => configs::guarded(auth),
                _ => configs::with_demands(apart, auth),
            };
        }
        if kind.movement == Movement::Wild {
            configs::mobility(draw, &mut config);
        }
        if kind.control == Control::Any {
            configs::bandwidth(bandwidth, &mut config);
        }
        if kind.paths == Paths::Several {
            configs::multipath(several, &mut config);
        }
        if kind.packets == Packets::Protected {
            configs::protected(&mut config, [b"client", b"server"][host]);
        }
        let mut user = user(draw, host == 0, &config, &traffics[1 - host]);
        if traffics[1 - host].bytes() > 60 * config.limits.receive_buffer as u64 {
            // One buffer per round trip at best: that may take longer than a shutdown may.
            user.closing = Closing::AfterReceiving;
        }
        user.fixed_port &= kind.packets == Packets::Clear;
        if user.closing != Closing::AfterReceiving {
            // T5-shutdown-guard is 5 times RTO.Max: enough for the other side to finish.
            config.rto.max = Duration::from_secs(60);
        }
        HostPlan { config: Arc::new(config), traffic: Arc::clone(&traffics[host]), user }
    })
}

/// A host whose peer knows fewer paths sends over some that bring no SACK back (RFC 9260 §5.4): it comes by a path of the peer's own,
/// perhaps seconds later, since queues there are full. HEARTBEATs measure the quick ones, and where the shortest RTOs are over before that,
/// the errors add up although the peer is heard all the time (§8.1). Where hosts go anywhere, a path that is gone has used up most errors
/// when the peer's data fills a queue before what acknowledges ours. Such a host must not count them.
fn bear_detours(kind: Kind, networks: &Networks, hosts: &mut [HostPlan; 2]) {
    for host in 0..2 {
        let addresses = |host: usize| networks.interfaces[host].iter().map(Vec::len).sum::<usize>();
        let peer = &hosts[1 - host].config;
        let ways = match peer.pairing {
            PathPairing::PerDestination => addresses(host),
            PathPairing::Mesh => addresses(host) * addresses(1 - host),
        };
        let (known, detour) = (peer.limits.paths, networks.slowest_way() + peer.sack.delay);
        let config = Arc::make_mut(&mut hosts[host].config);
        if let AssociationFailure::Errors(most) = config.failure.association
            && (known < ways || kind.movement == Movement::Wild)
            && config.limits.paths > 1
            && config.rto.min * (most + 1) < detour
        {
            config.failure.association = AssociationFailure::Silence(Duration::from_secs(900));
        }
    }
}

fn user(draw: &mut Draw, client: bool, config: &Config, inbound: &Traffic) -> UserPlan {
    let polite = Sending::Polite(draw.magnitude(2_000, config.limits.send_buffer as u64) as usize);
    // At worst it takes a minute to read everything.
    let every = draw.millis(1, 200);
    let least = inbound.bytes() * every.as_millis() as u64 / 60_000;
    let slowly = Reading::Slowly { bytes: draw.magnitude(1_000, 1_000_000).max(least) as usize, every };
    let closings = [Closing::AfterSending, Closing::AfterAcknowledgement, Closing::AfterReceiving];
    let closes = draw.chance(if client { 0.8 } else { 0.4 });
    UserPlan {
        client,
        connect_after: client.then(|| if draw.chance(0.3) { draw.millis(0, 1_000) } else { Duration::ZERO }),
        reconnect_after: draw.millis(50, 3_000),
        fixed_port: draw.chance(0.5),
        sending: if draw.chance(0.5) { polite } else { Sending::Pushy },
        reading: match draw.between(0, 9) {
            0..5 => Reading::AtOnce,
            5..7 => Reading::After(draw.millis(1, 20_000)),
            _ => slowly,
        },
        closing: if closes { draw.one_of(&closings) } else { Closing::Never },
        abort_after: draw.chance(0.05).then(|| draw.millis(0, 10_000)),
        meddle_every: draw.chance(0.2).then(|| draw.millis(100, 5_000)),
        abort_stale: draw.chance(0.5) || config.heartbeat.interval.is_none(),
        hold_until: None,
        trusted_from: Instant::ZERO,
        overheard: false,
        peer_stays: None,
        watches: config.heartbeat.interval.is_none(),
        patience: PATIENCE,
    }
}

/// How long nothing may happen for a user while a message comes in that the peer sends packet by packet (Max.Burst is 1), each
/// of them acknowledged when the SACK delay is over.
fn patience(host: &HostPlan, peer: &HostPlan) -> Duration {
    let alone = peer.config.congestion.burst == BurstLimit::Packets(1) && host.config.sack.packets > 1;
    let packets = if alone { peer.traffic.largest() / 400 } else { 0 };
    let each = host.config.sack.delay + Duration::from_millis(600);
    PATIENCE.max(each * packets as u32)
}

fn crashes(draw: &mut Draw, heal_at: Instant) -> Vec<Crash> {
    let mut crashes = Vec::new();
    if draw.chance(0.2) {
        let host = draw.between(0, 1) as usize;
        let at = Instant::from_nanos(draw.magnitude(10_000_000, heal_at.as_nanos()));
        let back_at = (at + draw.millis(0, 10_000)).min(heal_at);
        crashes.push(Crash { host, at, back_at });
    }
    crashes
}

/// Ten minutes after the faults, and what the traffic needs: generous, but RTO.Max is a minute, and backing off
/// may have gone that far on every path.
pub(crate) fn limit(networks: &Networks, hosts: &[HostPlan; 2]) -> Instant {
    let mut limit = networks.heal_at + Duration::from_secs(600);
    let bits: u64 = hosts.iter().map(|host| host.traffic.bytes() * 8).sum();
    limit += Duration::from_secs(20 * bits / networks.slowest);
    for (host, peer) in [(&hosts[0], &hosts[1]), (&hosts[1], &hosts[0])] {
        limit += host.config.rto.max * 10;
        // Whoever watches looks once in that time: what falls silent just after a look is noticed at the second one.
        limit += (host.user.patience - PATIENCE) * 2;
        if let Some(hold) = host.user.hold_until {
            limit += hold - networks.heal_at;
        }
        // Who hears nothing any more needs so long to find out.
        let heartbeat = host.config.heartbeat.interval.unwrap_or_default() + host.config.rto.max * 2;
        limit += match host.config.failure.association {
            AssociationFailure::Errors(most) => heartbeat * (most + 1),
            AssociationFailure::Silence(patience) => patience + heartbeat * 2,
        };
        limit += host.traffic.messages.iter().map(|message| message.pause).sum::<Duration>();
        if let Reading::Slowly { bytes, every } = host.user.reading {
            limit += every * (4 * peer.traffic.bytes() / bytes as u64) as u32;
        }
    }
    limit
}
