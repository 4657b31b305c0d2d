//! `whimbrel gateway`

mod capture;
mod check;
mod orders;
mod run;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::OutputArgs;
use crate::exit::Failure;
use crate::watching::page;

/// Run a gateway that decides where hosts go, or tell one what it is to decide
///
/// A gateway stands between the hosts of one network and the world. On an order it asks other gateways which of them can take a host, has what is sent to the host
/// wait there, and tells the host and its peer by SIP. Their connection goes on without ASCONF, and with nothing lost.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel gateway run north.toml --check          what is wrong with the file
  whimbrel gateway run north.toml                  as root, or with CAP_NET_ADMIN
  whimbrel gateway sessions                        what leads through the gateway on this host
  whimbrel gateway move 10.1.0.100 --to south      has a host go to another gateway
  whimbrel send FILE --to TICKET --gateway sip:KEY@10.1.0.1 --attach ./join-wifi

docs/gateway.md has a network in namespaces to try it in.")]
pub(crate) struct GatewayArgs {
    #[command(subcommand)]
    command: GatewayCommand,
}

#[derive(Subcommand, Debug)]
enum GatewayCommand {
    /// Run a gateway until Ctrl-C. On SIGHUP it reads its file anew.
    Run(RunArgs),
    /// Have a host that is at the gateway of this machine go to another one.
    Move(MoveArgs),
    /// Show what leads through the gateway of this machine.
    Sessions(SessionsArgs),
}

/// Run a gateway
///
/// On SIGHUP it reads its file anew: gateways and hosts are known by it from then on, and who is not in it any more has no SIP here any more. What else
/// has changed counts when the gateway is started anew.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// What it is and whom it knows; crates/gateway/examples/north.toml explains each line.
    file: PathBuf,
    /// Say whether the file is good, whom it names and what the gateway's key is, and end. Nothing is changed or made.
    #[arg(long)]
    check: bool,
    /// Serve counters to Prometheus, at http://ADDR/metrics. A port alone is one of 127.0.0.1; everybody who can reach another address can read them.
    #[arg(long, value_name = "ADDR", value_parser = page::address)]
    metrics: Option<SocketAddr>,
    /// Write every message of SIP that the gateway says and hears into this file (pcapng), readable by you alone, for Wireshark, tshark or sngrep: also what TLS hides
    /// from the network, and without what is refused for want of a password. It shows who has called whom, and no password. A file that is there is overwritten.
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Move a host
#[derive(Args, Debug)]
pub(crate) struct MoveArgs {
    /// Its address here.
    address: IpAddr,
    /// Where it may go, by the names in the gateway's file; the one that has most for it takes it [default: all that the file names].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    to: Vec<String>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Show sessions
#[derive(Args, Debug)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) async fn run(args: GatewayArgs) -> Result<(), Failure> {
    match args.command {
        GatewayCommand::Run(args) => run::run(args).await,
        GatewayCommand::Move(args) => orders::move_host(args).await,
        GatewayCommand::Sessions(args) => orders::show_sessions(args).await,
    }
}
