//! Random endpoint configurations: the two profiles, and mixtures around them.

use core::time::Duration;
use std::sync::Arc;

use whimbrel_proto::path::congestion::{
    BbrParameters, ControllerFactory, CoupledParameters, Coupling, CubicParameters, HyStartParameters,
    PacedParameters, RenoParameters,
};
use whimbrel_proto::send::stream_scheduler::{FirstComeFirstServed, RoundRobin};
use whimbrel_proto::{
    AssociationFailure, AuthConfig, AuthSupport, BufferSizing, BufferSplit, BurstLimit, ChecksumPolicy,
    Config, DarMode, HmacAlgorithm, InitialWindow, LossDetection, MultipathConfig, NewRoute, OutOfOrder,
    OvertakenSacks, PathPairing, PathScheduler, PeerRequests, PmtuConfig, PmtuSearch, PrimaryChangeRule,
    RecoveryScope, RetransmissionPath, RtoConfig, SackForm, SharedKeys, SharedSecret, WindowGrowth,
};
use whimbrel_testbed::SeededExchanges;
use whimbrel_wire::chunk_type;

use crate::draw::Draw;

/// The packet sizes of a scenario: what both hosts begin with, and what each link carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    base: usize,
    /// Bytes of an IP packet.
    pub(crate) mtu: u32,
}

/// What both hosts know.
const SECRET: u64 = 0x5eed;

/// IPv6 and UDP headers.
const HEADERS: usize = 48;

impl Sizes {
    pub(crate) fn draw(draw: &mut Draw) -> Self {
        let base = draw.one_of(&[512, 1200, 1200, 1200]);
        let mtu = if draw.chance(0.5) { 1500 } else { draw.magnitude((base + HEADERS) as u64, 9_100) };
        Self { base, mtu: mtu as u32 }
    }
}

pub(crate) fn config(draw: &mut Draw, sizes: Sizes, corrupts: bool) -> Config {
    let mut config = if draw.chance(0.5) { Config::rfc() } else { Config::mobile() };
    packet_sizes(draw, sizes, &mut config);
    if draw.chance(0.7) {
        buffers(draw, &mut config);
        timers(draw, &mut config);
        failure(draw, &mut config);
        sending(draw, &mut config);
    }
    // A zero checksum is only for networks that protect packets themselves (RFC 9653 §4).
    if !corrupts && draw.chance(0.3) {
        config.checksum = ChecksumPolicy::ZeroAcceptable { edmid: 1 };
    }
    config.validate().expect("a valid configuration was drawn");
    config
}

/// A host with so many interfaces in a world where no association may be lost.
pub(crate) fn patient(draw: &mut Draw, sizes: Sizes, interfaces: usize) -> Config {
    let mut config = Config::mobile();
    packet_sizes(draw, sizes, &mut config);
    config.limits.receive_buffer = draw.magnitude(64 << 10, 4 << 20) as usize;
    config.pairing = draw.one_of(&[PathPairing::PerDestination, PathPairing::Mesh]);
    // Addresses of the past are remembered for a while, and a request to add one more must not fail for them.
    config.limits.paths = 256;
    config.limits.peer_addresses = 48;
    if interfaces > 1 {
        // With one path per destination nobody notices that only the interface it leaves by is dead.
        config.pairing = PathPairing::Mesh;
    }
    primary_change(draw, &mut config);
    // Nothing that a network does is to last as long; who has gone for good is waited for.
    config.failure.association = AssociationFailure::Silence(Duration::from_secs(900));
    config.validate().expect("a valid configuration was drawn");
    config
}

/// Turns a configuration into one of a host that moves; now and then it cannot tell its peer.
pub(crate) fn mobility(draw: &mut Draw, config: &mut Config) {
    primary_change(draw, config);
    config.dar.peer_requests = draw.one_of(&[
        PeerRequests::Accept,
        PeerRequests::Accept,
        PeerRequests::RefuseWildcards,
        PeerRequests::Refuse,
    ]);
    config.dar.queue = draw.magnitude(1, 64) as usize;
    config.dar.cached_acks = draw.between(1, 8) as usize;
    config.dar.mode = if draw.chance(0.1) { DarMode::Off } else { DarMode::Negotiated };
    if config.auth.support == AuthSupport::Off {
        config.auth = AuthConfig::offered();
    }
}

fn primary_change(draw: &mut Draw, config: &mut Config) {
    // The papers of which the second and the last are use the primary path for retransmissions, too.
    let (rule, path) = draw.one_of(&[
        (PrimaryChangeRule::Standard, RetransmissionPath::Alternate),
        (PrimaryChangeRule::ProbeFirst, RetransmissionPath::Primary),
        (PrimaryChangeRule::RetransmitAtOnce, RetransmissionPath::Alternate),
        (PrimaryChangeRule::LostFirst, RetransmissionPath::Primary),
    ]);
    config.primary_change = rule;
    config.retransmission.path = path;
}

/// Any congestion controller, and perhaps buffers that follow the path.
pub(crate) fn bandwidth(draw: &mut Draw, config: &mut Config) {
    let reno = RenoParameters::default;
    let cubic = CubicParameters::default;
    let controller: Option<Arc<dyn ControllerFactory>> = match draw.between(0, 7) {
        0 => Some(Arc::new(HyStartParameters::around(reno()))),
        1 => Some(Arc::new(HyStartParameters::around(cubic()))),
        2 => Some(Arc::new(PacedParameters::around(cubic()))),
        3 | 4 => Some(Arc::new(BbrParameters::default())),
        _ => None,
    };
    if let Some(controller) = controller {
        config.congestion.controller = controller;
    }
    if draw.chance(0.3) {
        config.limits.sizing = BufferSizing::Measured { least: draw.magnitude(4_096, 256 << 10) as usize };
    }
}

/// Packets are encrypted, with keys that both hosts agree on by a secret.
pub(crate) fn protected(config: &mut Config, name: &'static [u8]) {
    *config = SeededExchanges::new(SECRET, name).protect(config.clone());
}

/// New data on several paths at once, in whatever way.
pub(crate) fn multipath(draw: &mut Draw, config: &mut Config) {
    if draw.chance(0.1) {
        return;
    }
    *config = config.clone().combining_paths();
    config.multipath = MultipathConfig {
        scheduler: draw.one_of(&[
            PathScheduler::RoundRobin,
            PathScheduler::LowestRoundTrip,
            PathScheduler::FastestPathFirst,
            PathScheduler::EarliestCompletion,
            PathScheduler::EarliestCompletion,
            PathScheduler::Redundant,
        ]),
        growth: draw.one_of(&[
            WindowGrowth::Acknowledged,
            WindowGrowth::CumulativePoint,
            WindowGrowth::PathPoint,
            WindowGrowth::PathPoints,
        ]),
        overtaken: draw.one_of(&[OvertakenSacks::Ignored, OvertakenSacks::Reneging]),
        buffers: draw.one_of(&[
            BufferSplit::None,
            BufferSplit::Send,
            BufferSplit::Receive,
            BufferSplit::Both,
        ]),
    };
    // Not drawn, so that the worlds of all seeds stay what they are.
    if matches!(config.multipath.growth, WindowGrowth::PathPoint | WindowGrowth::PathPoints) {
        config.sack.form = SackForm::NonRenegable;
    }
    let coupling = match draw.between(0, 5) {
        0 => Some(Coupling::Lia),
        1 => Some(Coupling::Olia),
        2 => Some(Coupling::ResourcePooling),
        _ => None,
    };
    if let Some(coupling) = coupling {
        config.congestion.controller = Arc::new(CoupledParameters::new(coupling));
    }
    if draw.chance(0.3) {
        config.sack.out_of_order = OutOfOrder::Delay;
        config.sack.new_route = NewRoute::Delay;
    }
    let repair = &mut config.retransmission;
    repair.loss = draw.one_of(&[
        LossDetection::Rack(3),
        LossDetection::Rack(3),
        LossDetection::SplitMissIndications(3),
        LossDetection::MissIndications(3),
    ]);
    repair.recovery =
        draw.one_of(&[RecoveryScope::PathAlone, RecoveryScope::Path, RecoveryScope::Association]);
    repair.path = draw.one_of(&[
        RetransmissionPath::Soonest,
        RetransmissionPath::Same,
        RetransmissionPath::WithRoom,
        RetransmissionPath::LargestWindow,
        RetransmissionPath::LargestThreshold,
        RetransmissionPath::LeastLoss,
        RetransmissionPath::Alternate,
    ]);
}

/// Now and then both hosts share a key and authenticate.
pub(crate) fn authentication(draw: &mut Draw, chance: f64) -> Option<AuthConfig> {
    draw.chance(chance).then(|| AuthConfig {
        keys: SharedKeys::new(1, SharedSecret::new(*b"known to both")),
        algorithms: draw
            .one_of(&[
                [HmacAlgorithm::Sha256, HmacAlgorithm::Sha1],
                [HmacAlgorithm::Sha1, HmacAlgorithm::Sha256],
            ])
            .to_vec(),
        ..AuthConfig::offered()
    })
}

/// What one host takes only authenticated. ABORT, ERROR and COOKIE ECHO also come from hosts that have lost their keys
/// in a crash, and must be understood nevertheless.
pub(crate) fn with_demands(draw: &mut Draw, auth: &AuthConfig) -> AuthConfig {
    use chunk_type as t;
    let types = [
        t::DATA,
        t::SACK,
        t::HEARTBEAT,
        t::HEARTBEAT_ACK,
        t::SHUTDOWN,
        t::SHUTDOWN_ACK,
        t::COOKIE_ACK,
        t::PAD,
    ];
    let share = draw.one_of(&[0.0, 0.3, 1.0]);
    let required = types.into_iter().filter(|_| draw.chance(share)).collect();
    AuthConfig { required, ..auth.clone() }
}

/// Takes nothing unauthenticated that can be authenticated.
pub(crate) fn guarded(auth: &AuthConfig) -> AuthConfig {
    use chunk_type as t;
    let never = [t::INIT, t::INIT_ACK, t::SHUTDOWN_COMPLETE, t::AUTH, t::ASCONF, t::ASCONF_ACK];
    let known = (t::DATA..=t::SHUTDOWN_COMPLETE).chain([t::PAD, t::FORWARD_TSN, t::RE_CONFIG]);
    AuthConfig { required: known.filter(|known| !never.contains(known)).collect(), ..auth.clone() }
}

fn packet_sizes(draw: &mut Draw, sizes: Sizes, config: &mut Config) {
    let fits = sizes.mtu as usize - HEADERS;
    config.pmtu = if draw.chance(0.15) {
        let max = fits.max(sizes.base);
        PmtuConfig { base: sizes.base, max, search: PmtuSearch::Off, cut_for: None }
    } else {
        let max = draw.one_of(&[1452, fits, 8952]).max(sizes.base);
        let raise_after = Duration::from_secs(draw.one_of(&[5, 600]));
        PmtuConfig { base: sizes.base, max, search: PmtuSearch::Probe { raise_after }, ..config.pmtu }
    };
}

fn buffers(draw: &mut Draw, config: &mut Config) {
    config.limits.receive_buffer = draw.magnitude(4096, 4 << 20) as usize;
    config.limits.send_buffer = draw.magnitude(4096, 4 << 20) as usize;
    config.limits.paths = draw.one_of(&[1, 2, 4, 32]);
    config.limits.peer_addresses = draw.one_of(&[6, 16]);
    config.pairing = draw.one_of(&[PathPairing::PerDestination, PathPairing::Mesh]);
    config.streams.outbound = draw.one_of(&[1, 2, 16, 1000, u16::MAX]);
    config.streams.inbound_max = draw.one_of(&[1, 5, 500, u16::MAX]);
    config.streams.scheduler = if draw.chance(0.5) { FirstComeFirstServed::boxed } else { RoundRobin::boxed };
}

fn timers(draw: &mut Draw, config: &mut Config) {
    let min = draw.magnitude(20, 1_000);
    let max = draw.magnitude(min.max(2_000), 60_000);
    config.rto = RtoConfig {
        initial: draw.millis(min.max(500), max.min(3_000)),
        min: Duration::from_millis(min),
        max: Duration::from_millis(max),
        ..config.rto
    };
    config.heartbeat.interval =
        if draw.chance(0.1) { None } else { Some(Duration::from_millis(draw.magnitude(200, 30_000))) };
    config.heartbeat.max_burst = draw.between(1, 8) as u32;
    config.sack.delay = draw.millis(0, 500);
    config.sack.packets = draw.between(1, 4) as u32;
    config.cookie.lifetime = Duration::from_secs(draw.one_of(&[2, 60]));
    // COOKIE ECHO may be repeated for minutes, and is understood no longer than its key.
    config.cookie.key_period = Duration::from_secs(draw.between(400, 3600));
}

fn failure(draw: &mut Draw, config: &mut Config) {
    let failure = &mut config.failure;
    failure.path_max_retrans = draw.between(0, 5) as u32;
    failure.association = AssociationFailure::Errors(draw.between(8, 20) as u32);
    failure.max_init_retransmits = draw.between(2, 8) as u32;
    failure.potentially_failed_max_retrans =
        draw.chance(0.5).then(|| draw.between(0, u64::from(failure.path_max_retrans)) as u32);
    let floor = failure.potentially_failed_max_retrans.unwrap_or(failure.path_max_retrans);
    failure.primary_switchover_max_retrans = draw.chance(0.3).then(|| floor + draw.between(0, 3) as u32);
}

fn sending(draw: &mut Draw, config: &mut Config) {
    let packets = draw.between(1, 10) as u32;
    config.congestion.initial_window =
        if draw.chance(0.5) { InitialWindow::Standard } else { InitialWindow::Packets(packets) };
    config.congestion.burst =
        if draw.chance(0.5) { BurstLimit::Packets(packets) } else { BurstLimit::AckClocked(packets) };
    let slow_start_limit = draw.between(1, 8) as u32;
    config.congestion.controller = Arc::new(RenoParameters { slow_start_limit });
}
