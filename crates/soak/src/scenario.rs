//! Everything that one seed decides before the run begins.

use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Instant, Seed};
use whimbrel_proto::Config;

use crate::configs::{self, Sizes};
use crate::draw::Draw;
use crate::networks::Networks;
use crate::traffic::Traffic;

/// A scenario: the network, its faults, both hosts and their users.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) networks: Networks,
    /// The client, which connects again until a graceful shutdown succeeds, and the server.
    pub(crate) hosts: [HostPlan; 2],
    pub(crate) crashes: Vec<Crash>,
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
    /// The scenario of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut draw = Draw(Seed::from_u64(seed).stream("scenario", 0));
        let draw = &mut draw;
        let sizes = Sizes::draw(draw);
        let networks = Networks::draw(draw, sizes.mtu);
        // No more than what takes half a minute in the slowest network.
        let most = (networks.slowest / 8 * 30).min(4_000_000);
        let traffics = [0, 1].map(|host| Arc::new(Traffic::draw(draw, host, most)));
        // Drawn apart, so that the rest of a scenario is what it was before there was authentication.
        let apart = &mut Draw(Seed::from_u64(seed).stream("authentication", 0));
        let auth = configs::authentication(apart);
        let mut hosts = [0, 1].map(|host: usize| {
            let mut config = configs::config(draw, sizes, networks.corrupts);
            if let Some(auth) = &auth {
                config.auth = configs::with_demands(apart, auth);
            }
            let mut user = user(draw, host == 0, &config, &traffics[1 - host]);
            if traffics[1 - host].bytes() > 60 * config.limits.receive_buffer as u64 {
                // One buffer per round trip at best: that may take longer than a shutdown may.
                user.closing = Closing::AfterReceiving;
            }
            if user.closing != Closing::AfterReceiving {
                // T5-shutdown-guard is 5 times RTO.Max: enough for the other side to finish.
                config.rto.max = Duration::from_secs(60);
            }
            HostPlan { config: Arc::new(config), traffic: Arc::clone(&traffics[host]), user }
        });
        if hosts.iter().all(|host| host.user.closing == Closing::Never) {
            hosts[0].user.closing = Closing::AfterReceiving;
        }
        if draw.chance(0.15) {
            // Both begin at once.
            hosts[1].user.connect_after = Some(draw.millis(0, 1_000));
            hosts[0].user.fixed_port = true;
            hosts[1].user.fixed_port = true;
        }
        let crashes = crashes(draw, networks.heal_at);
        let udp_port = draw.one_of(&[9899, 9899, 0]);
        let limit = limit(&networks, &hosts);
        Self { networks, hosts, crashes, udp_port, limit }
    }

    /// Whether hosts crash or users abort, so that an association may end otherwise than gracefully.
    pub(crate) fn is_violent(&self) -> bool {
        !self.crashes.is_empty() || self.hosts.iter().any(|host| host.user.abort_after.is_some())
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
    }
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
fn limit(networks: &Networks, hosts: &[HostPlan; 2]) -> Instant {
    let mut limit = networks.heal_at + Duration::from_secs(600);
    let bits: u64 = hosts.iter().map(|host| host.traffic.bytes() * 8).sum();
    limit += Duration::from_secs(20 * bits / networks.slowest);
    for (host, peer) in [(&hosts[0], &hosts[1]), (&hosts[1], &hosts[0])] {
        limit += host.config.rto.max * 10;
        // Who hears nothing any more needs so long to find out.
        let heartbeat = host.config.heartbeat.interval.unwrap_or_default() + host.config.rto.max * 2;
        limit += heartbeat * (host.config.failure.association_max_retrans + 1);
        limit += host.traffic.messages.iter().map(|message| message.pause).sum::<Duration>();
        if let Reading::Slowly { bytes, every } = host.user.reading {
            limit += every * (4 * peer.traffic.bytes() / bytes as u64) as u32;
        }
    }
    limit
}
