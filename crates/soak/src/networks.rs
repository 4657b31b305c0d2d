//! Random networks and what goes wrong in them.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{
    Change, GilbertElliott, InFlight, LinkConfig, Loss, Oversize, QueueLimit, Reorder, Side,
};

use crate::draw::Draw;
use crate::kind::{Access, Kind, Movement};
use crate::rough::Families;

/// A link of the scenario: its directions without faults, and what happens to it.
#[derive(Clone, Debug)]
pub(crate) struct LinkPlan {
    pub(crate) clean: [LinkConfig; 2],
    pub(crate) faulty: [LinkConfig; 2],
    pub(crate) changes: Vec<(Instant, Side, Change)>,
    /// It is not healed in the end, that way at least.
    pub(crate) dead: Option<Side>,
}

/// How hosts are connected.
#[derive(Clone, Debug)]
pub(crate) struct Networks {
    /// All access links meet in one router; otherwise network n joins interface n of both hosts, and nothing else.
    pub(crate) mesh: bool,
    /// Per host and interface: its addresses.
    pub(crate) interfaces: [Vec<Vec<IpAddr>>; 2],
    /// With a router: one link per interface, the first host's first. Otherwise one link per network.
    pub(crate) links: Vec<LinkPlan>,
    /// bit/s of the slowest direction.
    pub(crate) slowest: u64,
    pub(crate) heal_at: Instant,
    /// Whether bits flip anywhere.
    pub(crate) corrupts: bool,
    /// How long the boxes before the first host's interfaces remember whom they have let out, if there are any.
    pub(crate) nat_idle: Option<Duration>,
}

/// The address of the NAT box before interface `n`.
pub(crate) fn beyond_nat(n: usize) -> IpAddr {
    Ipv4Addr::new(203, 0, n as u8 + 1, 1).into()
}

#[derive(Clone, Copy)]
enum Family {
    V4,
    V6,
    Both,
}

impl Networks {
    /// Every link carries IP packets of `mtu` bytes.
    pub(crate) fn draw(draw: &mut Draw, mtu: u32, kind: Kind) -> Self {
        let Kind { movement, access, .. } = kind;
        // Who moves is connected with everybody wherever he is.
        let mesh = draw.chance(0.4) || movement != Movement::None;
        let count = draw.one_of(&[1, 2, 2, 2, 3]);
        let counts = if mesh { [count, draw.between(1, 3) as usize] } else { [count, count] };
        let family = draw.one_of(&[Family::V4, Family::V4, Family::V6, Family::Both]);
        let per_network: Vec<bool> = (0..3).map(|_| draw.chance(0.5)).collect();
        let interfaces = [0, 1].map(|host| {
            let of = |n: usize| match access {
                Access::Direct => addresses(family, mesh, per_network[n], n as u8, host as u8),
                Access::BehindNat if host == 0 => vec![Ipv4Addr::new(10, 0, n as u8 + 1, 1).into()],
                Access::BehindNat => vec![Ipv4Addr::new(198, 51, n as u8 + 1, 2).into()],
            };
            (0..counts[host]).map(of).collect()
        });
        let nat_idle = (access == Access::BehindNat).then(|| draw.millis(5_000, 120_000));
        let harsh = draw.one_of(&[0.0, 0.3, 1.0, 1.0]);
        let heal_at = Instant::ZERO + draw.millis(1_000, 60_000);
        // A host that moves needs time for it.
        let heal_at = if movement == Movement::None { heal_at } else { heal_at + Duration::from_secs(20) };
        let links = if mesh { counts[0] + counts[1] } else { count };
        let links = (0..links).map(|_| match movement {
            Movement::Gentle => mild_link(draw, mtu),
            Movement::None | Movement::Wild | Movement::Rough => link(draw, mtu, harsh, heal_at),
        });
        let links: Vec<_> = links.collect();
        let directions = || links.iter().flat_map(|link| link.clean.iter());
        let slowest = directions().filter_map(|config| config.rate_bps).min().unwrap_or(1_000_000_000);
        let corrupts = links.iter().any(|link| link.faulty.iter().any(|config| config.corrupt > 0.0));
        Self { mesh, interfaces, links, slowest, heal_at, corrupts, nat_idle }
    }

    /// How long a packet is on its way at most while nothing goes wrong.
    pub(crate) fn slowest_way(&self) -> Duration {
        let one_way = |config: &LinkConfig| {
            let waiting = config.rate_bps.map_or(0.0, |rate| config.queue.bytes as f64 * 8.0 / rate as f64);
            Duration::from_secs_f64(waiting) + config.delay + config.jitter
        };
        self.links.iter().flat_map(|link| &link.clean).map(one_way).max().unwrap_or_default()
    }
}

/// The addresses of interface `network` of a host, of these families.
pub(crate) fn addresses_of(families: Families, network: u8, host: u8) -> Vec<IpAddr> {
    let four = IpAddr::V4(Ipv4Addr::new(10, 0, network + 1, host + 1));
    let six = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, u16::from(network) + 1, 0, 0, 0, u16::from(host) + 1));
    let (four, six) = (families.v4.then_some(four), families.v6.then_some(six));
    four.into_iter().chain(six).collect()
}

fn addresses(family: Family, mesh: bool, v6: bool, network: u8, host: u8) -> Vec<IpAddr> {
    let of = |v4: bool, v6: bool| addresses_of(Families { v4, v6 }, network, host);
    match family {
        Family::V4 => of(true, false),
        Family::V6 => of(false, true),
        // Without a router in between each network has its own kind.
        Family::Both if !mesh => of(!v6, v6),
        Family::Both => of(true, true),
    }
}

fn link(draw: &mut Draw, mtu: u32, harsh: f64, heal_at: Instant) -> LinkPlan {
    let there = direction(draw, mtu);
    let back = if draw.chance(0.5) { there } else { direction(draw, mtu) };
    let clean = [there, back];
    let faulty = clean.map(|config| if draw.chance(harsh) { faults(draw, config) } else { config });
    let mut changes = Vec::new();
    if draw.chance(harsh * 0.7) {
        for _ in 0..draw.between(1, 4) {
            flap(draw, heal_at, &mut changes);
        }
    }
    if draw.chance(harsh * 0.3) {
        let at = before(draw, heal_at);
        changes.push((at, Side::Both, Change::Rate(Some(draw.magnitude(200_000, 100_000_000)))));
        let at = before(draw, heal_at);
        changes.push((at, Side::Both, Change::Delay(draw.millis(0, 400))));
    }
    LinkPlan { clean, faulty, changes, dead: None }
}

/// A link that never keeps anybody waiting: what a host says about its addresses arrives within seconds.
fn mild_link(draw: &mut Draw, mtu: u32) -> LinkPlan {
    let mut direction = || {
        let rate = draw.magnitude(3_000_000, 500_000_000);
        // A tenth of a second of waiting, but room for some packets.
        let queue = (rate / 80).max(u64::from(mtu) * 8);
        LinkConfig {
            rate_bps: Some(rate),
            queue: QueueLimit::bytes(queue),
            mtu,
            delay: Duration::from_micros(draw.magnitude(10, 60_000)),
            ..LinkConfig::default()
        }
    };
    let clean = [direction(), direction()];
    let loss = Loss::Bernoulli(draw.up_to(0.05));
    let duplicate = if draw.chance(0.3) { draw.up_to(0.1) } else { 0.0 };
    let corrupt = if draw.chance(0.2) { draw.up_to(0.01) } else { 0.0 };
    let faulty = clean.map(|config| LinkConfig { loss, duplicate, corrupt, ..config });
    LinkPlan { clean, faulty, changes: Vec::new(), dead: None }
}

fn before(draw: &mut Draw, heal_at: Instant) -> Instant {
    Instant::from_nanos(draw.magnitude(1_000_000, heal_at.as_nanos()))
}

fn flap(draw: &mut Draw, heal_at: Instant, changes: &mut Vec<(Instant, Side, Change)>) {
    let side = draw.one_of(&[Side::Both, Side::Both, Side::AtoB, Side::BtoA]);
    let from = before(draw, heal_at);
    let to = from + Duration::from_millis(draw.magnitude(10, 60_000));
    let in_flight = draw.one_of(&[InFlight::Lost, InFlight::Delivered]);
    changes.push((from, side, Change::Down(in_flight)));
    changes.push((to.min(heal_at), side, Change::Up));
}

fn direction(draw: &mut Draw, mtu: u32) -> LinkConfig {
    let rate = draw.chance(0.8).then(|| draw.magnitude(200_000, 500_000_000));
    // Room for at least a few packets, and for no more than a second and a half of waiting.
    let most = rate.map_or(10_000_000, |rate| rate * 3 / 16).max(u64::from(mtu) * 6);
    LinkConfig {
        rate_bps: rate,
        queue: QueueLimit::bytes(draw.magnitude(u64::from(mtu) * 5, most)),
        mtu,
        oversize: if draw.chance(0.5) { Oversize::Reported } else { Oversize::Dropped },
        delay: Duration::from_micros(draw.magnitude(10, 300_000)),
        jitter: if draw.chance(0.3) { draw.millis(0, 20) } else { Duration::ZERO },
        ..LinkConfig::default()
    }
}

/// `config` with things that go wrong packet by packet.
fn faults(draw: &mut Draw, config: LinkConfig) -> LinkConfig {
    let loss = match draw.between(0, 3) {
        0 => Loss::None,
        1 | 2 => Loss::Bernoulli(draw.up_to(0.2)),
        _ => Loss::GilbertElliott(GilbertElliott::bursts(draw.up_to(0.2), draw.between(1, 30) as f64)),
    };
    LinkConfig {
        loss,
        corrupt: if draw.chance(0.3) { draw.up_to(0.05) } else { 0.0 },
        duplicate: if draw.chance(0.3) { draw.up_to(0.2) } else { 0.0 },
        keep_order: draw.chance(0.7),
        reorder: if draw.chance(0.4) {
            Reorder { probability: draw.up_to(0.3), extra: draw.millis(0, 500) }
        } else {
            Reorder::default()
        },
        ..config
    }
}
