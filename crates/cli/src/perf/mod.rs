//! `whimbrel perf`: what a connection can do, and what it costs.

mod ahead;
mod client;
mod count;
mod histogram;
mod protocol;
mod report;
mod run;
mod server;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::addresses::{self, Address};
use crate::args::{sctp_port, size};
use crate::destination::Destination;
use crate::exit::Failure;
use crate::mobility::MobilityArgs;
use crate::shards::ShardsArgs;
pub(crate) use protocol::SCTP_PORT;

/// Measure
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel perf server
  whimbrel perf client --to whm1…           encrypted, with the server's ticket
  whimbrel perf server --anyone --listen 192.0.2.7
  whimbrel perf client --to 192.0.2.7                        64 KiB messages
  whimbrel perf client --to 192.0.2.7 --size 64 --streams 8  small messages
  whimbrel perf client --to 192.0.2.7 --reverse --json       from the server
  whimbrel perf client --to 192.0.2.7 --window 64M           far and fast
  whimbrel perf client --to 192.0.2.7 -P 4 --bidir           four, both ways
  whimbrel perf client --to 192.0.2.7 --rate 20M             no faster than that
  whimbrel perf client --to 192.0.2.7 --latency              one at a time")]
pub(crate) struct PerfArgs {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand, Debug)]
enum Role {
    /// Serve measurements until Ctrl-C.
    Server(ServerArgs),
    /// Measure against a server.
    Client(ClientArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel perf server                             for who has its ticket
  whimbrel perf server --anyone --listen 192.0.2.7,198.51.100.7:9899")]
struct ServerArgs {
    /// Local addresses, each IP or IP:UDPPORT (one port for all), or `any` for all that this host has or gets
    /// [default: any, port 9899].
    #[arg(long, value_name = "ADDR", value_delimiter = ',', value_parser = addresses::of_ours)]
    listen: Vec<Address>,
    /// SCTP port.
    #[arg(long, value_name = "PORT", default_value_t = SCTP_PORT, value_parser = sctp_port())]
    sctp_port: u16,
    /// Let everybody measure who can reach the port. Without this only who has the ticket may, and paired hosts.
    #[arg(long, conflicts_with = "auth_key_file")]
    anyone: bool,
    /// Write the ticket to this file, for you alone to read, instead of printing it; one that this host has written there before stays
    /// good.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["anyone", "insecure"])]
    ticket_file: Option<PathBuf>,
    /// Exit after one measurement.
    #[arg(long)]
    once: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    mobility: MobilityArgs,
    #[command(flatten)]
    shards: ShardsArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  whimbrel perf client --to 192.0.2.7 --size 1200 --time 5 --unordered")]
struct ClientArgs {
    /// The server's ticket, or the name of a paired host, or addresses, each IP, IP:UDPPORT or a host name. With addresses alone you are
    /// asked once whether the key of the server that is there is the right one.
    #[arg(long, value_name = "TICKET|NAME|ADDR", value_delimiter = ',', value_parser = Destination::parse)]
    to: Vec<Destination>,
    /// The server's ticket is in this file; - for standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ticket_file: Option<PathBuf>,
    /// Local addresses to use, or `any` for all that this host has or gets [default: any; with a server on this host, its
    /// own].
    #[arg(long, value_name = "ADDR", value_delimiter = ',', value_parser = addresses::of_ours)]
    bind: Vec<Address>,
    /// The server's SCTP port [default: 7879, or what the ticket says].
    #[arg(long, value_name = "PORT", value_parser = sctp_port())]
    sctp_port: Option<u16>,
    /// Bytes in a message [default: 65536, or 64 with --latency].
    #[arg(long, value_name = "SIZE", value_parser = message_size)]
    size: Option<u32>,
    /// How long to measure.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    time: f64,
    /// Stop after this many bytes in each association and direction instead, such as 500M or 64Ki.
    #[arg(long, value_name = "SIZE", conflicts_with = "time", value_parser = bytes)]
    bytes: Option<u64>,
    /// The server sends, we receive.
    #[arg(long)]
    reverse: bool,
    /// Send in both directions at once.
    #[arg(long, conflicts_with_all = ["reverse", "latency"])]
    bidir: bool,
    /// Associations to measure at the same time.
    #[arg(long, short = 'P', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=16))]
    parallel: u16,
    /// Send no more than this many bits of payload per second and direction, such as 20M, over all associations together.
    #[arg(long, value_name = "BITS", value_parser = bits_per_second)]
    rate: Option<u64>,
    /// Streams to spread the messages over, in each association.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    streams: u16,
    /// Send unordered messages.
    #[arg(long)]
    unordered: bool,
    /// One message at a time, echoed by the server: round-trip times instead of goodput.
    #[arg(long, conflicts_with_all = ["reverse", "bytes", "streams", "parallel", "rate"])]
    latency: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    mobility: MobilityArgs,
}

impl PerfArgs {
    /// On how many processors to run, for a server.
    pub(crate) fn shards(&self) -> Option<ShardsArgs> {
        match &self.role {
            Role::Server(args) => Some(args.shards),
            Role::Client(_) => None,
        }
    }
}

/// Serves or measures.
pub(crate) async fn run(args: PerfArgs) -> Result<(), Failure> {
    match args.role {
        Role::Server(args) => server::run(args).await,
        Role::Client(args) => client::run(args).await,
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("expected a number of seconds, above 0 and at most 86400".into()),
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    match size(text)? {
        0 => Err("expected more than 0 bytes".into()),
        bytes => Ok(bytes),
    }
}

fn bits_per_second(text: &str) -> Result<u64, String> {
    match size(text) {
        Ok(bits @ 1000..) => Ok(bits),
        _ => Err("expected a number of bits per second, at least 1000, such as 20M".into()),
    }
}

fn message_size(text: &str) -> Result<u32, String> {
    match size(text)? {
        bytes @ 1..=0x10_0000 => Ok(bytes as u32),
        bytes => Err(format!("a message of {bytes} bytes is none; give between 1 and 1Mi")),
    }
}

/// The protocol parameters of measurements.
fn config() -> whimbrel::Config {
    let mut config = whimbrel::Config::mobile();
    config.streams.outbound = 64;
    config.streams.inbound_max = 64;
    config
}
