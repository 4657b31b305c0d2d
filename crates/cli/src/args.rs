//! The command line.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand};

use crate::addresses::{self, Address};
use crate::demo::DemoArgs;
use crate::destination::Destination;
#[cfg(target_os = "linux")]
use crate::gateway::GatewayArgs;
use crate::lab::LabArgs;
use crate::mobility::MobilityArgs;
use crate::pairing::pair::PairArgs;
use crate::pairing::peers::PeersArgs;
use crate::paths::PathsArgs;
use crate::perf::PerfArgs;
use crate::qlog::QlogArgs;
use crate::shards::ShardsArgs;
use crate::soak::SoakArgs;
use crate::ssh::Target;
use crate::transfer::protocol::SCTP_PORT;

const EXIT_CODES: &str = "Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted by Ctrl-C. SIGTERM ends a server with 0.";

/// Seconds; more than anybody waits, and no more than clocks can add.
pub(crate) const A_YEAR: u64 = 365 * 86_400;

/// SCTP port 0 is nobody's (RFC 9260 §3.1).
pub(crate) fn sctp_port() -> impl TypedValueParser<Value = u16> {
    clap::value_parser!(u16).range(1..)
}

/// A number of bytes, with a decimal or a binary unit.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("k", 1000),
        ("K", 1000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
    ];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(unit, bytes)| text.strip_suffix(unit).map(|digits| (digits, *bytes)))
        .unwrap_or((text, 1));
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| "expected a number of bytes, such as 500M, 20G or 64Ki".into())
}

/// Moves data over SCTP between hosts that change networks.
///
/// A connection uses every address that both hosts have. When a network dies, the data takes another one, and the
/// connection lives on.
#[derive(Parser, Debug)]
#[command(name = "whimbrel", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// See a file survive the loss of its network, on this machine, in some 15 seconds.
    Demo(DemoArgs),
    /// Receive files.
    Recv(RecvArgs),
    /// Send files.
    Send(SendArgs),
    /// Let two hosts know each other, so that they need no tickets any more.
    Pair(PairArgs),
    /// Show the hosts that this one is paired with.
    Peers(PeersArgs),
    /// Measure goodput, message rate, latency and CPU cost.
    Perf(PerfArgs),
    /// See the connections of all running commands and their paths, live.
    Paths(PathsArgs),
    /// Print this host's public key, by which others know it.
    Key(KeyArgs),
    Qlog(QlogArgs),
    #[cfg(target_os = "linux")]
    Gateway(GatewayArgs),
    /// Play random networks, faults and users in virtual time, and check that SCTP keeps its promises.
    Soak(SoakArgs),
    Lab(LabArgs),
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// What every command that reports progress understands.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OutputArgs {
    /// Print one JSON object per line: events, and a summary at the end.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but errors.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

/// Receive files
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel recv --dir incoming             from ticket holders and paired hosts
  whimbrel recv --dir incoming --paired    from paired hosts (whimbrel pair)
  whimbrel recv --dir incoming --anyone --listen 192.0.2.7,198.51.100.7
  whimbrel recv --dir incoming --anyone --listen 127.0.0.1:9900 --once
  whimbrel recv --dir incoming --insecure --auth-key-file whimbrel.key

A file appears in DIR when its content is complete and its BLAKE3 hash is verified. Until then it is in \
DIR/.whimbrel-partial, where an interrupted transfer finds it again. Names that would lead out of DIR are \
refused, hidden names without --hidden too, and symbolic links in DIR are not followed.")]
pub(crate) struct RecvArgs {
    /// Directory to put the files in; must exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Write the ticket to this file, for you alone to read, instead of printing it; one that this host has written there before stays
    /// good.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["anyone", "insecure"])]
    pub(crate) ticket_file: Option<PathBuf>,
    /// Take files from everybody who can reach the port. Without this files are taken from who has the ticket and from paired hosts.
    #[arg(long, conflicts_with = "auth_key_file")]
    pub(crate) anyone: bool,
    /// Take files from paired hosts alone (`whimbrel peers`), and print no ticket.
    #[arg(long, conflicts_with_all = ["anyone", "insecure", "ticket_file"])]
    pub(crate) paired: bool,
    /// Print the ticket, and go on in the background: what `whimbrel send --ssh` runs here. Without a sender the receiver ends after a
    /// minute.
    #[arg(long, conflicts_with_all = ["anyone", "insecure", "ticket_file", "paired", "json", "quiet"])]
    pub(crate) detach: bool,
    /// This is the one in the background.
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub(crate) detached: bool,
    /// Take hidden files and directories too, those whose names begin with a dot.
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Local addresses, each IP or IP:UDPPORT (one port for all), or `any` for all that this host has or gets
    /// [default: any, port 9899].
    #[arg(long, value_name = "ADDR", value_delimiter = ',', value_parser = addresses::of_ours)]
    pub(crate) listen: Vec<Address>,
    /// SCTP port.
    #[arg(long, value_name = "PORT", default_value_t = SCTP_PORT, value_parser = sctp_port())]
    pub(crate) sctp_port: u16,
    /// Replace files of the same name instead of refusing.
    #[arg(long, conflicts_with = "rename")]
    pub(crate) overwrite: bool,
    /// Append .1, .2, … to the name of a file whose name is taken instead of refusing.
    #[arg(long)]
    pub(crate) rename: bool,
    /// Exit after one complete transfer.
    #[arg(long)]
    pub(crate) once: bool,
    /// Senders served at a time; others are turned away.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) senders: u16,
    /// Space that unfinished files may take together, as 500M, 20G or 1T [default: nine tenths of what is free at the start].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) partial_space: Option<u64>,
    /// Do not wait until files are on the disk before confirming them: faster, but a power failure may lose them.
    #[arg(long)]
    pub(crate) no_sync: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) mobility: MobilityArgs,
    #[command(flatten)]
    pub(crate) shards: ShardsArgs,
}

/// Print this host's public key
#[derive(Args, Debug)]
#[command(after_help = "Example:
  whimbrel key

The private key is made at first use, in $XDG_CONFIG_HOME/whimbrel/key or ~/.config/whimbrel/key, for you alone \
to read. Who has it is this host.")]
pub(crate) struct KeyArgs {
    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Send files
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel send film.mkv --to whm1…      encrypted, with the receiver's ticket
  whimbrel send film.mkv --ssh robot:films  encrypted, begins a receiver by ssh
  whimbrel send film.mkv --to robot      encrypted, a host of `whimbrel pair`
  whimbrel send film.mkv --to 192.0.2.7  encrypted, to `recv --anyone`
  whimbrel send film.mkv --to 192.0.2.7,198.51.100.7  a peer with two addresses
  whimbrel send -r photos notes.txt --to host.example:9900
  whimbrel send film.mkv --to 192.0.2.7 --bind 10.0.0.2,10.1.0.2
  whimbrel send film.mkv --to 192.0.2.7 --prefer wlan0,wwan0 --metered wwan0
  whimbrel send film.mkv --to 192.0.2.7 --window 64M  far and fast, as at recv
  whimbrel send film.mkv --to 192.0.2.7 --multipath aggregate  on all networks

An interrupted transfer resumes when the same command is run again: what the receiver has is checked by its \
BLAKE3 hash and not sent twice.")]
pub(crate) struct SendArgs {
    /// Files, and directories with -r.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The receiver's ticket, or the name of a paired host, or addresses, each IP, IP:UDPPORT or a host name; one that works is enough. With
    /// a ticket or a paired host addresses are tried first; without, you are asked once whether the key of the host that is there is the right one.
    #[arg(long, value_name = "TICKET|NAME|ADDR", value_delimiter = ',', value_parser = Destination::parse)]
    pub(crate) to: Vec<Destination>,
    /// The receiver's ticket is in this file; - for standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) ticket_file: Option<PathBuf>,
    /// Begin a receiver on this host through ssh, for one transfer into DIR (or the home directory). ssh says who it is; the files take
    /// the networks that there are, and ssh's connection is not needed any more.
    #[arg(long, value_name = "[USER@]HOST[:DIR]", conflicts_with_all = ["ticket_file", "insecure"], value_parser = Target::parse)]
    pub(crate) ssh: Option<Target>,
    /// With --ssh: replace files of the same name there instead of refusing.
    #[arg(long, requires = "ssh", conflicts_with = "rename")]
    pub(crate) overwrite: bool,
    /// With --ssh: append .1, .2, … to names that are taken there.
    #[arg(long, requires = "ssh")]
    pub(crate) rename: bool,
    /// With --ssh: hidden files and directories are taken there, too.
    #[arg(long, requires = "ssh")]
    pub(crate) hidden: bool,
    /// What runs `whimbrel` on the host of --ssh.
    #[arg(long, value_name = "COMMAND", default_value = "whimbrel", requires = "ssh")]
    pub(crate) remote_command: String,
    /// Local addresses to use, or `any` for all that this host has or gets [default: any; with a receiver on this host,
    /// its own].
    #[arg(long, value_name = "ADDR", value_delimiter = ',', value_parser = addresses::of_ours)]
    pub(crate) bind: Vec<Address>,
    /// The receiver's SCTP port [default: 7878, or what the ticket says].
    #[arg(long, value_name = "PORT", value_parser = sctp_port())]
    pub(crate) sctp_port: Option<u16>,
    /// Send directories with everything in them (symbolic links are left out).
    #[arg(long, short)]
    pub(crate) recursive: bool,
    /// How long to wait for a network, a name and a first answer (3 s at least), and to try again after a lost connection. A
    /// refusal (UDP port unreachable) of the first connection ends it at once; later ones are waited out.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(..=A_YEAR))]
    pub(crate) retry: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) mobility: MobilityArgs,
}

impl SendArgs {
    /// What the receiver that --ssh begins is told.
    pub(crate) fn remote_options(&self) -> Vec<&'static str> {
        let all = [("--overwrite", self.overwrite), ("--rename", self.rename), ("--hidden", self.hidden)];
        all.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }
}

impl Command {
    /// On how many processors to run, for a server.
    pub(crate) fn shards(&self) -> Option<ShardsArgs> {
        match self {
            Self::Recv(args) => Some(args.shards),
            Self::Perf(args) => args.shards(),
            _ => None,
        }
    }
}
