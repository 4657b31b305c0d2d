use core::time::Duration;
use std::sync::Arc;

use whimbrel_proto::Config;
use whimbrel_proto::path::congestion::{
    ControllerFactory, CoupledParameters, Coupling, CubicParameters, HyStartParameters, RenoParameters,
};
use whimbrel_rivals::tcp::{Cubic, DelayedAck, NewCongestionControl, Rack, Reno, RtoConfig, TcpConfig};

/// Who sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Contender {
    /// Whimbrel as `Config::mobile()` has it, with BBR.
    Mobile,
    /// The same with Reno and HyStart++, as `--controller reno` has it.
    Reno,
    /// The same with CUBIC and HyStart++.
    Cubic,
    /// As [`Mobile`](Self::Mobile), by two paths at once, each with a controller of its own.
    MobileOnTwo,
    /// As [`Reno`](Self::Reno), by two paths at once, each with a controller of its own.
    RenoOnTwo,
    /// By two paths at once, whose windows are coupled by linked increases (RFC 6356).
    Lia,
    /// By opportunistic linked increases.
    Olia,
    /// By resource pooling.
    ResourcePooling,
    /// TCP with CUBIC and HyStart, as Linux has it.
    TcpCubic,
    /// TCP with Reno.
    TcpReno,
}

/// What a contender speaks.
pub(super) enum Speaks {
    Sctp(Box<Config>),
    Tcp(TcpConfig),
}

impl Contender {
    /// Those that use one path each.
    pub const ON_ONE: [Self; 5] = [Self::Mobile, Self::Reno, Self::Cubic, Self::TcpCubic, Self::TcpReno];
    /// Whimbrel, by controller.
    pub const OURS: [Self; 3] = [Self::Mobile, Self::Reno, Self::Cubic];

    /// Those that use two paths at once, coupled ones last.
    pub const ON_TWO: [Self; 5] =
        [Self::MobileOnTwo, Self::RenoOnTwo, Self::Lia, Self::Olia, Self::ResourcePooling];

    /// How many paths it uses, each from an address of its own to another.
    pub(super) fn paths(self) -> u8 {
        if Self::ON_TWO.contains(&self) { 2 } else { 1 }
    }

    /// Its name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mobile => "mobile",
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::MobileOnTwo => "mobile-on-two",
            Self::RenoOnTwo => "reno-on-two",
            Self::Lia => "lia",
            Self::Olia => "olia",
            Self::ResourcePooling => "rpv2",
            Self::TcpCubic => "tcp-cubic",
            Self::TcpReno => "tcp-reno",
        }
    }

    /// Who goes by a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ON_ONE.into_iter().chain(Self::ON_TWO).find(|one| one.name() == name)
    }

    /// Bytes of user data in a full packet of 1500 bytes: behind IP, UDP, SCTP's common header and the headers of two DATA chunks, or behind IP and
    /// TCP without options.
    pub const fn payload(self) -> u64 {
        match self {
            Self::TcpCubic | Self::TcpReno => 1500 - 20 - 20,
            _ => 1500 - 20 - 8 - 12 - 2 * 16,
        }
    }

    /// Its configuration, with so many bytes of buffer at each end.
    pub(super) fn speaks(self, buffers: usize) -> Speaks {
        let reno = || Arc::new(HyStartParameters::around(RenoParameters::default()));
        let coupled = |coupling| Arc::new(CoupledParameters::new(coupling));
        let (one, two) = (Config::mobile, || Config::mobile().combining_paths());
        match self {
            Self::Mobile => sctp(buffers, one(), None),
            Self::Reno => sctp(buffers, one(), Some(reno())),
            Self::Cubic => {
                let cubic = HyStartParameters::around(CubicParameters::default());
                sctp(buffers, one(), Some(Arc::new(cubic)))
            }
            Self::MobileOnTwo => sctp(buffers, two(), None),
            Self::RenoOnTwo => sctp(buffers, two(), Some(reno())),
            Self::Lia => sctp(buffers, two(), Some(coupled(Coupling::Lia))),
            Self::Olia => sctp(buffers, two(), Some(coupled(Coupling::Olia))),
            Self::ResourcePooling => sctp(buffers, two(), Some(coupled(Coupling::ResourcePooling))),
            Self::TcpCubic => tcp(buffers, Cubic::with_hystart),
            Self::TcpReno => tcp(buffers, Reno::boxed),
        }
    }
}

fn sctp(buffers: usize, mut config: Config, controller: Option<Arc<dyn ControllerFactory>>) -> Speaks {
    if let Some(controller) = controller {
        config.congestion.controller = controller;
    }
    config.limits.send_buffer = buffers;
    config.limits.receive_buffer = buffers;
    Speaks::Sctp(Box::new(config))
}

/// The least retransmission timeout of Linux, which has it for the variance alone: a timeout is no less than so much longer than the round trip.
const RTO_MIN: Duration = Duration::from_millis(200);

/// What the kernel has: RACK-TLP, PRR and DSACK, its least timeout, and slow start that doubles in a round trip however seldom data is acknowledged,
/// which each segment's acknowledgement gives here.
fn tcp(buffers: usize, congestion: NewCongestionControl) -> Speaks {
    Speaks::Tcp(TcpConfig {
        receive_window: u32::try_from(buffers).unwrap_or(u32::MAX).min(1 << 30),
        rto: RtoConfig { min: RTO_MIN, granularity: RTO_MIN, ..RtoConfig::default() },
        delayed_ack: DelayedAck { segments: 1, after: Duration::ZERO },
        recovery: Rack::boxed,
        congestion,
        ..TcpConfig::default()
    })
}
