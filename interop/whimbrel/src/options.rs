use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::{Parser, ValueEnum};
use whimbrel::proto::{AuthConfig, DarMode, HmacAlgorithm, OutOfOrder, SackForm, SharedKeys, SharedSecret};
use whimbrel::{Config, Encapsulation};

use crate::changes::Change;

/// Interoperation peer on Whimbrel.
#[derive(Parser, Debug, Clone)]
#[command(name = "whimbrel-peer", args_override_self = true)]
pub(crate) struct Options {
    /// Take associations.
    #[arg(long)]
    pub listen: bool,
    /// Set one up, to these addresses.
    #[arg(long, value_delimiter = ',')]
    pub connect: Vec<IpAddr>,
    /// Local addresses.
    #[arg(long, value_delimiter = ',', required = true)]
    pub bind: Vec<IpAddr>,
    /// Local SCTP port.
    #[arg(long)]
    pub port: Option<u16>,
    /// The peer's SCTP port.
    #[arg(long, default_value_t = 5001)]
    pub remote_port: u16,
    /// Local UDP encapsulation port; 0: raw IP.
    #[arg(long, default_value_t = 0)]
    pub udp: u16,
    /// The peer's UDP encapsulation port; that of --udp unless given.
    #[arg(long)]
    pub udp_remote: Option<u16>,
    /// How many associations to take, one after another.
    #[arg(long, default_value_t = 1)]
    pub accept: u32,
    /// Messages to send.
    #[arg(long, default_value_t = 0)]
    pub send: u64,
    /// Their size in bytes.
    #[arg(long, default_value_t = 1024)]
    pub size: usize,
    /// Round robin over this many streams.
    #[arg(long, default_value_t = 1)]
    pub streams: u16,
    /// Send them unordered.
    #[arg(long)]
    pub unordered: bool,
    /// The content of `../common/assorted.rs` instead, which knows its sizes and what is unordered.
    #[arg(long)]
    pub assorted: bool,
    /// Send every message back on its stream.
    #[arg(long)]
    pub echo: bool,
    /// Wait for so many messages before closing.
    #[arg(long, default_value_t = 0)]
    pub expect: u64,
    /// Report each time so many bytes have arrived.
    #[arg(long, default_value_t = 0)]
    pub progress: u64,
    /// Stay up so many milliseconds before closing.
    #[arg(long, default_value_t = 0)]
    pub hold: u64,
    /// How to close.
    #[arg(long)]
    pub close: Option<Close>,
    /// Reason carried in the ABORT.
    #[arg(long, default_value = "bye")]
    pub abort_text: String,
    /// Give up after so many seconds.
    #[arg(long, default_value_t = 60)]
    pub timeout: u64,
    /// RTO.Min in milliseconds.
    #[arg(long)]
    pub rto_min: Option<u64>,
    /// RTO.Initial in milliseconds.
    #[arg(long)]
    pub rto_initial: Option<u64>,
    /// RTO.Max in milliseconds.
    #[arg(long)]
    pub rto_max: Option<u64>,
    /// Path.Max.Retrans.
    #[arg(long)]
    pub pmr: Option<u32>,
    /// HB.interval in milliseconds; 0: off.
    #[arg(long)]
    pub heartbeat: Option<u64>,
    /// Bytes of messages that wait to be sent or acknowledged, at most.
    #[arg(long, default_value_t = 4 << 20)]
    pub sndbuf: usize,
    /// Bytes that wait to be received, at most: the window.
    #[arg(long, default_value_t = 4 << 20)]
    pub rcvbuf: usize,
    /// Support changes of address (RFC 5061) with authentication (RFC 4895).
    #[arg(long)]
    pub asconf: bool,
    /// `add ADDR`, `remove ADDR`, `ask-primary ADDR`, of our own, or `await ADDR`, until the host has it: each at the next
    /// report of progress; sending stops half way until all of these are done.
    #[arg(long, requires = "progress")]
    pub change: Vec<Change>,
    /// Let the policy for hosts that move decide about our addresses.
    #[arg(long)]
    pub seamless: bool,
    /// Endpoint pair shared key.
    #[arg(long, value_name = "ID:TEXT", value_parser = key)]
    pub auth_key: Option<(u16, String)>,
    /// What the peer is to authenticate with.
    #[arg(long)]
    pub hmac: Option<Hmac>,
    /// Start from Config::mobile() instead of Config::rfc().
    #[arg(long)]
    pub mobile: bool,
    /// New data on all paths at once.
    #[arg(long)]
    pub combine: bool,
    /// Offer NR-SACK.
    #[arg(long)]
    pub nr_sack: bool,
    /// Delay acknowledgements out of order, too, and say for how many packets they are.
    #[arg(long)]
    pub dac: bool,
}

/// How to close.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Close {
    /// Gracefully.
    Shutdown,
    /// With an ABORT.
    Abort,
    /// Without a word.
    Vanish,
    /// When the peer does.
    Wait,
}

/// HMAC algorithms.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hmac {
    /// SHA-1 alone.
    Sha1,
    /// SHA-256 before SHA-1, without which nobody may be.
    Sha256,
}

fn key(text: &str) -> Result<(u16, String), String> {
    let (id, key) = text.split_once(':').ok_or("not ID:TEXT")?;
    Ok((id.parse().map_err(|error| format!("{id}: {error}"))?, key.to_owned()))
}

impl Options {
    pub(crate) fn closing(&self) -> Close {
        self.close.unwrap_or(if self.listen { Close::Wait } else { Close::Shutdown })
    }

    pub(crate) fn encapsulation(&self) -> Encapsulation {
        if self.udp == 0 { Encapsulation::RawIp } else { Encapsulation::Udp }
    }

    pub(crate) fn locals(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.bind.iter().map(|&ip| SocketAddr::new(ip, self.udp))
    }

    pub(crate) fn remotes(&self) -> Vec<SocketAddr> {
        let port = if self.udp == 0 { 0 } else { self.udp_remote.unwrap_or(self.udp) };
        self.connect.iter().map(|&ip| SocketAddr::new(ip, port)).collect()
    }

    pub(crate) fn config(&self) -> Config {
        let mut config = if self.mobile { Config::mobile() } else { Config::rfc() };
        if self.combine {
            config = config.combining_paths();
        }
        if self.nr_sack {
            config.sack.form = SackForm::NonRenegable;
        }
        if self.dac {
            config.sack.out_of_order = OutOfOrder::Delay;
        }
        let set = |value: Option<u64>, field: &mut Duration| {
            if let Some(milliseconds) = value {
                *field = Duration::from_millis(milliseconds);
            }
        };
        set(self.rto_min, &mut config.rto.min);
        set(self.rto_initial, &mut config.rto.initial);
        set(self.rto_max, &mut config.rto.max);
        if let Some(pmr) = self.pmr {
            config.failure.path_max_retrans = pmr;
        }
        if let Some(milliseconds) = self.heartbeat {
            config.heartbeat.interval = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
        }
        if self.asconf {
            config.dar.mode = DarMode::Negotiated;
            config.auth = AuthConfig::offered();
        }
        if let Some((id, key)) = &self.auth_key {
            config.auth.keys = SharedKeys::new(*id, SharedSecret::new(key.as_bytes()));
        }
        match self.hmac {
            Some(Hmac::Sha1) => config.auth.algorithms = vec![HmacAlgorithm::Sha1],
            Some(Hmac::Sha256) => config.auth.algorithms = vec![HmacAlgorithm::Sha256, HmacAlgorithm::Sha1],
            None => {}
        }
        config.streams.outbound = 1024;
        config.limits.send_buffer = self.sndbuf;
        config.limits.receive_buffer = self.rcvbuf;
        config
    }
}
