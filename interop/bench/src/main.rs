//! The speed of Whimbrel beside that of other transports over loopback, in one alternating run.
//!
//! Each end of each transfer is a process of its own, so that the CPU time of both can be read from the system. This
//! program is the referee and, started again as `end …`, the ends of every stack but usrsctp, whose driver is the C
//! program next door.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

mod ends;
mod measure;
mod referee;
mod rounds;
mod setups;
mod table;
mod train_socket;
mod transfers;

#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Goodput, CPU seconds per GB and messages per second of every stack, per message size
    Transfers(Transfers),
    /// Set-ups per second, Whimbrel and usrsctp
    Setups(Setups),
    /// Memory per idle association, Whimbrel and usrsctp
    Memory(Memory),
    /// Whimbrel's throughput per CPU second with many idle associations in the process
    Crowd(Crowd),
    /// One end of one transfer: prints one JSON line when it is over
    End(ends::End),
}

/// What every comparison needs to know.
#[derive(Args)]
struct Common {
    /// How often each stack takes its turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The usrsctp driver, built by `make -C interop`
    #[arg(long, default_value = "interop/build/usrsctp-bench")]
    usrsctp: PathBuf,
    /// First of the UDP and TCP ports used
    #[arg(long, default_value_t = 21_000)]
    port: u16,
    /// JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Transfers {
    #[command(flatten)]
    common: Common,
    /// Message sizes in bytes
    #[arg(long, value_delimiter = ',', default_values_t = [65_536, 16_384, 1200, 64])]
    sizes: Vec<usize>,
    /// Stacks, in the order of their turns
    #[arg(long, value_delimiter = ',', default_values_t = transfers::STACKS.map(String::from))]
    stacks: Vec<String>,
    /// Seconds per transfer
    #[arg(long, default_value_t = 2)]
    seconds: u64,
}

#[derive(Args)]
struct Setups {
    #[command(flatten)]
    common: Common,
    /// Associations set up in one turn
    #[arg(long, default_value_t = 2000)]
    count: usize,
    /// How many are under way at a time
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16])]
    inflight: Vec<usize>,
}

#[derive(Args)]
struct Memory {
    #[command(flatten)]
    common: Common,
    /// Associations held
    #[arg(long, default_value_t = 10_000)]
    count: usize,
}

#[derive(Args)]
struct Crowd {
    #[command(flatten)]
    common: Common,
    /// Idle associations beside the busy one
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Message size in bytes
    #[arg(long, default_value_t = 65_536)]
    size: usize,
    /// Seconds per transfer
    #[arg(long, default_value_t = 3)]
    seconds: u64,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Transfers(arguments) => transfers::run(&arguments),
        Command::Setups(arguments) => setups::run_setups(&arguments),
        Command::Memory(arguments) => setups::run_memory(&arguments),
        Command::Crowd(arguments) => transfers::run_crowd(&arguments),
        Command::End(end) => ends::run(&end),
    }
}
