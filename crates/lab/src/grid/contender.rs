use core::time::Duration;
use std::sync::Arc;

use whimbrel_proto::Config;
use whimbrel_proto::path::congestion::{
    ControllerFactory, CubicParameters, HyStartParameters, RenoParameters,
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Mobile, Self::Reno, Self::Cubic, Self::TcpCubic, Self::TcpReno];
    /// Whimbrel, by controller.
    pub const OURS: [Self; 3] = [Self::Mobile, Self::Reno, Self::Cubic];

    /// Its name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mobile => "mobile",
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::TcpCubic => "tcp-cubic",
            Self::TcpReno => "tcp-reno",
        }
    }

    /// Who goes by a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Bytes of user data in a full packet of 1500 bytes: behind IP, UDP, SCTP's common header and the headers of two DATA chunks, or behind IP and
    /// TCP without options.
    pub const fn payload(self) -> u64 {
        match self {
            Self::Mobile | Self::Reno | Self::Cubic => 1500 - 20 - 8 - 12 - 2 * 16,
            Self::TcpCubic | Self::TcpReno => 1500 - 20 - 20,
        }
    }

    /// Its configuration, with so many bytes of buffer at each end.
    pub(super) fn speaks(self, buffers: usize) -> Speaks {
        match self {
            Self::Mobile => sctp(buffers, None),
            Self::Reno => sctp(buffers, Some(Arc::new(HyStartParameters::around(RenoParameters::default())))),
            Self::Cubic => {
                sctp(buffers, Some(Arc::new(HyStartParameters::around(CubicParameters::default()))))
            }
            Self::TcpCubic => tcp(buffers, Cubic::with_hystart),
            Self::TcpReno => tcp(buffers, Reno::boxed),
        }
    }
}

fn sctp(buffers: usize, controller: Option<Arc<dyn ControllerFactory>>) -> Speaks {
    let mut config = Config::mobile();
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
