//! Protocol parameters (RFC 9260 §16 and extensions), by theme. A profile is data: nothing asks which one it is.

mod checksum;
mod dar;
mod fresh_path;
mod heartbeat;
mod limits;
mod multipath;
mod path_verification;
mod primary_change;
mod raw_ports;
mod retransmission;
mod sack;
mod set_up;
mod start_up;
mod streams;

use core::time::Duration;
use std::sync::Arc;

pub use self::checksum::ChecksumPolicy;
pub use self::dar::{AddressNaming, DarConfig, DarMode, PeerRequests};
pub use self::fresh_path::FreshPath;
pub use self::heartbeat::{Comparison, HeartbeatConfig, HeartbeatForm, ProbeSpacing, Unanswered};
pub use self::limits::{BufferSizing, LargeMessages, LimitConfig};
pub use self::multipath::{BufferSplit, MultipathConfig, OvertakenSacks, PathScheduler, WindowGrowth};
pub use self::path_verification::PathVerification;
pub use self::primary_change::PrimaryChangeRule;
pub use self::raw_ports::RawPorts;
pub use self::retransmission::{
    LossDetection, RecoveryScope, RetransmissionConfig, RetransmissionOrder, RetransmissionPath,
    SpuriousLoss, TailLoss, WindowReduction,
};
pub use self::sack::{FailedRoute, NewRoute, OutOfOrder, SackConfig, SackForm, SackRequests};
pub(crate) use self::set_up::STEADY_TRIES;
pub use self::set_up::SetUp;
pub use self::start_up::StartUp;
pub use self::streams::StreamConfig;
use crate::auth::{AuthConfig, AuthSupport};
use crate::endpoint::MAX_PRESERVATIVE;
use crate::path::congestion::{BbrParameters, ControllerFactory, RenoParameters};
use crate::protection::Security;
use crate::send::stream_scheduler::{FirstComeFirstServed, RoundRobin};
pub use whimbrel_path::congestion::InitialWindow;
pub use whimbrel_path::{FirstMeasurement, PmtuConfig, PmtuSearch, RtoConfig};

/// Everything about an endpoint that a user may choose.
///
/// Start from [`Config::rfc`] or [`Config::mobile`] and change fields; [`Config::validate`] says what is wrong.
#[derive(Clone, Debug)]
pub struct Config {
    /// Retransmission timeout (RFC 9260 §6.3).
    pub rto: RtoConfig,
    /// How soon what is lost before the association is up is sent again.
    pub set_up: SetUp,
    /// Path supervision (RFC 9260 §8.3, §5.4).
    pub heartbeat: HeartbeatConfig,
    /// When a path or the peer counts as dead (RFC 9260 §8, RFC 7829).
    pub failure: FailureConfig,
    /// State cookies (RFC 9260 §5.1.3).
    pub cookie: CookieConfig,
    /// Acknowledgements (RFC 9260 §6.2).
    pub sack: SackConfig,
    /// Congestion control (RFC 9260 §7).
    pub congestion: CongestionConfig,
    /// Initial cwnd, ssthresh and RTO of new paths over certain addresses. The first entry that matches either address of a path applies.
    pub fresh_paths: Vec<FreshPath>,
    /// Path MTU (RFC 9260 §7.3, RFC 8899).
    pub pmtu: PmtuConfig,
    /// Streams (RFC 9260 §5.1.1).
    pub streams: StreamConfig,
    /// Buffer and table limits.
    pub limits: LimitConfig,
    /// Which local addresses are paired with which of the peer's.
    pub pairing: PathPairing,
    /// Whether addresses have to prove that they lead to the peer (RFC 9260 §5.4).
    pub verification: PathVerification,
    /// Whether packets with a zero checksum are acceptable (RFC 9653).
    pub checksum: ChecksumPolicy,
    /// Whose packets are answered directly on IP (RFC 9260 §8.4).
    pub raw_ports: RawPorts,
    /// Addresses that come and go (RFC 5061).
    pub dar: DarConfig,
    /// What becomes of data in flight when the primary path changes.
    pub primary_change: PrimaryChangeRule,
    /// How lost data is noticed and repaired (RFC 9260 §6.4, §7.2.4).
    pub retransmission: RetransmissionConfig,
    /// Whether several paths carry data at once.
    pub multipath: MultipathConfig,
    /// Authenticated chunks (RFC 4895).
    pub auth: AuthConfig,
    /// Whether packets are encrypted and both ends authenticated.
    pub security: Security,
}

/// Failure detection (RFC 9260 §8.1, §8.2; RFC 7829).
#[derive(Clone, Debug)]
pub struct FailureConfig {
    /// Path.Max.Retrans (PMR): a path is inactive when its error counter exceeds this.
    pub path_max_retrans: u32,
    /// When the peer as a whole counts as unreachable, which ends the association.
    pub association: AssociationFailure,
    /// Max.Init.Retransmits.
    pub max_init_retransmits: u32,
    /// PotentiallyFailed.Max.Retrans (PFMR, RFC 7829): a path is potentially failed when its error counter exceeds
    /// this; `None` switches the state off.
    pub potentially_failed_max_retrans: Option<u32>,
    /// Primary.Switchover.Max.Retrans (PSMR, RFC 7829 §5): when the primary's error counter exceeds this, the path
    /// in use becomes primary for good; `None` returns to the old primary when it recovers.
    pub primary_switchover_max_retrans: Option<u32>,
}

/// When a peer counts as unreachable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssociationFailure {
    /// When more timeouts than this have followed each other without an acknowledgement (Association.Max.Retrans, RFC 9260 §8.1).
    /// Several paths use them up together: with four of them ten timeouts are over within seconds.
    Errors(u32),
    /// When nothing authentic has come from the peer for this long, however many timeouts there were, and the last tries were in
    /// vain, too: a host that has slept for longer gets its chance, and one without any link is not tried, so that it waits for one as long as it
    /// takes. Authentic is what has the right Verification Tag, comes from an address of the peer, and is authenticated where that is
    /// required (RFC 4895). A peer that refuses packets at all its addresses (ICMP port or protocol unreachable) is given up after ten seconds of that by the end
    /// that has connected, if packets go in clear. The other end waits all the same, as a translator may refuse for a host that sleeps; and where packets are
    /// protected ICMP is not believed.
    Silence(Duration),
}

/// State cookie parameters (RFC 9260 §5.1.3).
#[derive(Clone, Debug)]
pub struct CookieConfig {
    /// Valid.Cookie.Life.
    pub lifetime: Duration,
    /// How often the MAC key changes; the previous key stays valid for one more period. No shorter than a client may
    /// take to give up repeating its COOKIE ECHO, or the last ones would be taken for forged.
    pub key_period: Duration,
}

/// Congestion control parameters (RFC 9260 §7.2).
#[derive(Clone, Debug)]
pub struct CongestionConfig {
    /// Makes the controllers of paths.
    pub controller: Arc<dyn ControllerFactory>,
    /// cwnd of a fresh path.
    pub initial_window: InitialWindow,
    /// How a path starts that new data goes over to.
    pub start_up: StartUp,
    /// How much may be sent at one opportunity (RFC 9260 §6.1 D).
    pub burst: BurstLimit,
}

/// What limits a burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BurstLimit {
    /// Max.Burst of RFC 9260 §6.1 D: at one opportunity flight size + this many packets caps cwnd.
    Packets(u32),
    /// As `Packets`, but a SACK that acknowledges n bytes also lets out 2·n bytes: a receiver that answers a whole
    /// train of packets with one SACK does not throttle the sender, while a window that opens after idleness is
    /// still limited.
    AckClocked(u32),
}

/// Which address pairs become paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathPairing {
    /// One path per address of the peer (RFC 9260's destinations), from a local address of the same network (/24, /64), else the
    /// one fewest paths leave from, else n-th to n-th. A silently dead interface takes its destinations along; [`Self::Mesh`] does not.
    PerDestination,
    /// Every local address with every address of the peer of the same family and scope.
    Mesh,
}

impl Config {
    /// The defaults of RFC 9260 §16: for interoperation and conformance.
    pub fn rfc() -> Self {
        Self {
            rto: RtoConfig::rfc(),
            set_up: SetUp::Standard,
            heartbeat: HeartbeatConfig {
                interval: Some(Duration::from_secs(30)),
                max_burst: 1,
                standby_back_off: None,
                silent_peer: None,
                unanswered: Unanswered::Error,
                form: HeartbeatForm::Single,
                comparison: Comparison::Never,
            },
            failure: FailureConfig {
                path_max_retrans: 5,
                association: AssociationFailure::Errors(10),
                max_init_retransmits: 8,
                potentially_failed_max_retrans: None,
                primary_switchover_max_retrans: None,
            },
            cookie: CookieConfig { lifetime: Duration::from_secs(60), key_period: Duration::from_secs(3600) },
            sack: SackConfig {
                delay: Duration::from_millis(200),
                packets: 2,
                new_route: NewRoute::AcknowledgeAtOnce,
                out_of_order: OutOfOrder::AcknowledgeAtOnce,
                failed_route: FailedRoute::Follow,
                form: SackForm::Renegable,
                requests: SackRequests::WhereTheSenderWaits,
            },
            congestion: CongestionConfig {
                controller: Arc::new(RenoParameters { slow_start_limit: 1 }),
                initial_window: InitialWindow::Standard,
                start_up: StartUp::SlowStart,
                burst: BurstLimit::Packets(4),
            },
            fresh_paths: Vec::new(),
            pmtu: PmtuConfig {
                base: 1200,
                max: 1452,
                search: PmtuSearch::Probe { raise_after: Duration::from_secs(600) },
                cut_for: None,
            },
            streams: StreamConfig {
                outbound: 16,
                inbound_max: u16::MAX,
                scheduler: FirstComeFirstServed::boxed,
            },
            limits: LimitConfig::rfc(),
            pairing: PathPairing::PerDestination,
            verification: PathVerification::Required,
            checksum: ChecksumPolicy::Crc32c,
            raw_ports: RawPorts::Own,
            dar: DarConfig {
                mode: DarMode::Off,
                peer_requests: PeerRequests::Accept,
                naming: AddressNaming::ByScope,
                queue: 64,
                cached_acks: 8,
                adaptation_indication: None,
            },
            primary_change: PrimaryChangeRule::Standard,
            retransmission: RetransmissionConfig::rfc(),
            multipath: MultipathConfig::off(),
            auth: AuthConfig::off(),
            security: Security::Off,
        }
    }

    /// What moving hosts need, and the default of the tools: quick timers, probes for the tail of what was sent (RFC 8985 §7), failover as soon as a
    /// HEARTBEAT that asks after a timeout is not answered either (RFC 7829), standby paths that are supervised every few seconds, a large initial window, slow start that ends
    /// before a queue overflows (RFC 9406), and every address pair as a path.
    ///
    /// A peer that has vanished is waited for two hours, since it may be in a tunnel or asleep: until then nothing ends, and what waits for it, such as a shutdown,
    /// goes on waiting. `failure.association` says how long: [`AssociationFailure::Silence`] of a minute suits hosts that stay where they are.
    /// Who connects to an address where nobody answers waits for about a minute: so long take `failure.max_init_retransmits` repetitions of INIT.
    pub fn mobile() -> Self {
        let rfc = Self::rfc();
        Self {
            rto: RtoConfig {
                initial: Duration::from_millis(500),
                min: Duration::from_millis(200),
                max: Duration::from_secs(10),
                first: FirstMeasurement::Superseded,
                ..rfc.rto
            },
            set_up: SetUp::Prompt(Duration::from_millis(50)),
            heartbeat: HeartbeatConfig {
                interval: Some(Duration::from_secs(2)),
                max_burst: 8,
                standby_back_off: Some(Duration::from_secs(2)),
                silent_peer: Some(ProbeSpacing {
                    soon: Duration::from_secs(5),
                    soon_for: Duration::from_secs(600),
                    later: Duration::from_secs(30),
                }),
                unanswered: Unanswered::RepeatIfHeard,
                form: HeartbeatForm::Single,
                comparison: Comparison::WhenWorse,
            },
            failure: FailureConfig {
                path_max_retrans: 4,
                association: AssociationFailure::Silence(Duration::from_secs(2 * 60 * 60)),
                max_init_retransmits: 8,
                potentially_failed_max_retrans: Some(0),
                primary_switchover_max_retrans: None,
            },
            sack: SackConfig {
                delay: Duration::from_millis(20),
                failed_route: FailedRoute::Avoid,
                ..rfc.sack
            },
            congestion: CongestionConfig {
                controller: Arc::new(BbrParameters::default()),
                initial_window: InitialWindow::Packets(10),
                start_up: StartUp::SlowStart,
                burst: BurstLimit::AckClocked(10),
            },
            // Two chunks that are cut for it fill the largest packet.
            pmtu: PmtuConfig { cut_for: Some(732), ..rfc.pmtu },
            streams: StreamConfig { scheduler: RoundRobin::boxed, ..rfc.streams },
            // 1 Gbit/s and 100 ms are 12.5 MB in flight. Nothing of it is allocated before it is used.
            limits: LimitConfig { send_buffer: 16 << 20, receive_buffer: 16 << 20, ..rfc.limits },
            pairing: PathPairing::Mesh,
            multipath: MultipathConfig { overtaken: OvertakenSacks::Ignored, ..rfc.multipath },
            dar: DarConfig { mode: DarMode::Negotiated, ..rfc.dar },
            retransmission: RetransmissionConfig {
                loss: LossDetection::Rack(3),
                reduction: WindowReduction::Proportional,
                spurious: SpuriousLoss::Undone,
                tail: TailLoss::Probe,
                ..rfc.retransmission
            },
            auth: AuthConfig::offered(),
            ..rfc
        }
    }

    /// Whether chunks are authenticated one by one, where the peer does so, too (RFC 4895). Protected packets are as a whole.
    pub(crate) fn authenticates_chunks(&self) -> bool {
        self.auth.support == AuthSupport::Offered && !self.security.is_required()
    }

    /// Checks that the values make sense together.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let check = |ok: bool, what: &'static str| if ok { Ok(()) } else { Err(ConfigError(what)) };
        check(self.rto.min > Duration::ZERO, "RTO.Min must be above zero")?;
        // RFC 9260 §6.3.1: if RTTVAR is computed to be zero, it must be adjusted to G.
        check(self.rto.granularity > Duration::ZERO, "the clock granularity must be above zero")?;
        check(self.rto.min <= self.rto.max, "RTO.Min must not exceed RTO.Max")?;
        check(
            self.rto.initial >= self.rto.min && self.rto.initial <= self.rto.max,
            "RTO.Initial must lie between RTO.Min and RTO.Max",
        )?;
        check(self.set_up != SetUp::Prompt(Duration::ZERO), "the timeout of a set-up must be above zero")?;
        check(self.fresh_timeouts_are_in_bounds(), "RTO.Initial of a fresh path is out of bounds")?;
        // RFC 9260 §6.2: an implementation MUST NOT allow SACK.Delay above 500 ms.
        check(self.sack.delay <= Duration::from_millis(500), "SACK.Delay must not exceed 500 ms")?;
        // RFC 9260 §5.2.4 step 3: the cookie of an association that exists is good however old, as long as its MAC is.
        check(
            self.cookie.key_period >= self.cookie.lifetime.saturating_add(MAX_PRESERVATIVE),
            "the cookie key must be valid for longer than a cookie",
        )?;
        check(
            self.cookie.key_period >= self.handshake_tries(),
            "the cookie key must be valid for as long as COOKIE ECHO is repeated (T1-cookie)",
        )?;
        check(
            self.heartbeat
                .silent_peer
                .is_none_or(|spacing| !spacing.soon.is_zero() && !spacing.later.is_zero()),
            "two probes to a silent peer must be some time apart",
        )?;
        check(self.sack.packets >= 1, "a SACK must be due after at least one packet")?;
        check(
            self.streams.outbound >= 1 && self.streams.inbound_max >= 1,
            "at least one stream each way is needed",
        )?;
        check(self.pmtu.base >= 512, "the base packet size must be at least 512 bytes")?;
        check(
            self.pmtu.max >= self.pmtu.base && self.pmtu.max <= 65_487,
            "the largest packet size must lie between the base size and 65487 bytes",
        )?;
        check(
            self.pmtu.cut_for.is_none_or(|bytes| bytes >= 512),
            "DATA chunks must be cut to fit packets of 512 bytes or more",
        )?;
        self.limits.validate()?;
        // RFC 7829 §5: PSMR must be at least PFMR, or PMR where PF is off.
        let floor = self.failure.potentially_failed_max_retrans.unwrap_or(self.failure.path_max_retrans);
        check(
            self.failure.primary_switchover_max_retrans.is_none_or(|psmr| psmr >= floor),
            "Primary.Switchover.Max.Retrans must not be below PotentiallyFailed.Max.Retrans (or Path.Max.Retrans)",
        )?;
        check(self.dar.queue >= 1, "at least one address change must be allowed to wait")?;
        check(
            (1..=64).contains(&self.dar.cached_acks),
            "between 1 and 64 answers to address changes must be kept",
        )?;
        self.congestion.controller.validate().map_err(ConfigError)?;
        let (LossDetection::MissIndications(misses)
        | LossDetection::SplitMissIndications(misses)
        | LossDetection::Rack(misses)) = self.retransmission.loss;
        check(misses >= 1, "a chunk that nothing tells of is not lost")?;
        check(
            self.dar.mode == DarMode::Off
                || self.auth.support == AuthSupport::Offered
                || self.security.is_required(),
            "ASCONF is only used authenticated (RFC 5061 §4.1.1)",
        )?;
        self.auth.validate().map_err(ConfigError)
    }
}

/// Why a [`Config`] is unusable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(&'static str);

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
