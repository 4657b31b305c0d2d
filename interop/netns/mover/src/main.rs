//! A steady stream of records over Whimbrel, TCP, MPTCP or QUIC, and a log of every gap at the receiver. See `--help`.
//!
//! Every transport carries the same bytes at the same pace; only `transport/NAME.rs` differs.

mod pace;
mod record;
mod report;
mod transport;

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use whimbrel_gateway::GatewayAddress;

use crate::pace::Pace;
use crate::transport::{Network, Terms, Transport};

/// A steady stream of records between two hosts, and every gap that the receiver sees.
///
/// `serve` waits on the host that stays, `move` runs on the host that moves; either can be the sender, or both. A receiver prints one JSON
/// report at the end: records, bytes, the largest gap between arrivals, all gaps above 50 ms, and how late the latest record was, measured by the pace
/// from the first record on. The sender prints how many bytes it has sent again so far, once a second (TCP and MPTCP: ask the kernel).
#[derive(Parser, Debug)]
#[command(
    version,
    after_help = "Example:\n  whimbrel-mover tcp serve 127.0.0.1:7000 &\n  whimbrel-mover tcp move 127.0.0.1:7000 --seconds 5 --send down"
)]
struct Options {
    /// What carries the records.
    transport: Transport,
    /// Seconds without a record after which the receiver calls the stream broken; also QUIC's idle timeout.
    #[arg(long, default_value_t = 60.0)]
    patience: f64,
    /// Gateways that hand the host over, as `whimbrel send --gateway` and `recv --gateway` have them.
    #[arg(long, value_delimiter = ',')]
    gateway: Vec<GatewayAddress>,
    /// What attaches the host to another network, as `whimbrel send --attach` has it.
    #[arg(long)]
    attach: Option<String>,
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand, Debug)]
enum Role {
    /// Waits for one mover on these addresses (all but Whimbrel use the first).
    Serve {
        /// Addresses with ports.
        #[arg(required = true)]
        listen: Vec<SocketAddr>,
    },
    /// Connects, exchanges the records, ends.
    Move {
        /// Addresses of the host that serves.
        #[arg(required = true)]
        to: Vec<SocketAddr>,
        /// Who sends the records.
        #[arg(long, value_enum, default_value_t = Direction::Up)]
        send: Direction,
        /// For how long.
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
        /// Bytes in a record, at least 24.
        #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(24..=60_000))]
        size: u32,
        /// Records a second; 0 sends as fast as the transport takes them.
        #[arg(long, default_value_t = 500)]
        rate: u32,
    },
}

/// Which way the records go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Direction {
    /// From the host that moves.
    Up,
    /// To the host that moves.
    Down,
    /// Both at the same time, each at the full pace.
    Both,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let network = Network { gateways: options.gateway, attach: options.attach };
        let terms = Terms { patience: Duration::try_from_secs_f64(options.patience)?, network };
        match options.role {
            Role::Serve { listen } => options.transport.serve(&listen, terms).await,
            Role::Move { to, send, seconds, size, rate } => {
                let pace = Pace { size, rate, duration: Duration::try_from_secs_f64(seconds)? };
                options.transport.connect(&to, send, pace, terms).await
            }
        }
    })
}
