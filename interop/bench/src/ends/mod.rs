//! One end of one transfer, a process of its own.

use anyhow::bail;
use clap::{Args, ValueEnum};

mod quic;
mod raw_udp;
mod rtc_sctp;
mod tcp;
mod udp_exchange;
pub(crate) mod whimbrel;

/// UDP payload of a full packet, the same for every stack: 1,500 bytes less IPv6 and UDP headers.
pub(crate) const PACKET: usize = 1452;

/// Send and receive buffers of every stack that lets one choose.
pub(crate) const BUFFER: usize = 4 << 20;

/// What an end is to do.
#[derive(Args, Clone)]
pub(crate) struct End {
    /// whimbrel, whimbrel-encrypted, quinn, rtc-sctp, rtc-sctp-single, raw-udp, tcp or udp-exchange
    pub(crate) stack: String,
    /// Which end
    pub(crate) role: Role,
    /// Message size in bytes
    #[arg(long, default_value_t = 65_536)]
    pub(crate) size: usize,
    /// Stop sending after so many seconds
    #[arg(long, default_value_t = 2)]
    pub(crate) seconds: u64,
    /// First port
    #[arg(long, default_value_t = 21_000)]
    pub(crate) port: u16,
    /// Instead of a transfer: set up so many associations (whimbrel), or exchange as many packets (udp-exchange)
    #[arg(long, default_value_t = 0)]
    pub(crate) setups: usize,
    /// … so many at a time
    #[arg(long, default_value_t = 16)]
    pub(crate) inflight: usize,
    /// … and read the memory they take when idle
    #[arg(long)]
    pub(crate) idle: bool,
    /// Idle associations beside the transfer (whimbrel)
    #[arg(long, default_value_t = 0)]
    pub(crate) crowd: usize,
    /// Local addresses, one or two (whimbrel)
    #[arg(long, default_value_t = 2)]
    pub(crate) addresses: usize,
    /// HB.interval in milliseconds; the profile's own if 0 (whimbrel)
    #[arg(long, default_value_t = 0)]
    pub(crate) heartbeat_ms: u64,
}

/// The end that sends, or the one that receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Role {
    /// Listens and receives.
    Server,
    /// Connects and sends.
    Client,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

/// Plays the end and prints its report.
pub(crate) fn run(end: &End) -> anyhow::Result<()> {
    let mut report = match end.stack.as_str() {
        "whimbrel" | whimbrel::ENCRYPTED => return whimbrel::run(end),
        "quinn" => quic::run(end)?,
        "rtc-sctp" => rtc_sctp::run(end, true)?,
        "rtc-sctp-single" => rtc_sctp::run(end, false)?,
        "raw-udp" => raw_udp::run(end)?,
        "tcp" => tcp::run(end)?,
        "udp-exchange" => udp_exchange::run(end)?,
        other => bail!("no stack is called {other}"),
    };
    report.stack.clone_from(&end.stack);
    report.role = end.role.name().into();
    report.size = end.size;
    report.print()
}
