//! The `whimbrel` command.
#![forbid(unsafe_code)]
// The command is where wall-clock time, threads and files live; the protocol core below it has none.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod acquaintance;
mod addresses;
mod args;
mod association;
mod commands;
mod control;
mod controller;
mod demo;
mod destination;
mod display;
mod exit;
mod failures;
#[cfg(target_os = "linux")]
mod gateway;
mod identity;
mod key_file;
mod lab;
mod mobility;
mod multipath;
mod network_control;
mod news;
mod output;
mod pairing;
mod path_words;
mod paths;
mod peer;
mod perf;
mod qlog;
mod replace;
mod shards;
mod soak;
mod ssh;
mod template;
mod tickets;
mod transfer;
mod watching;

use std::process::ExitCode;
use std::time::Duration;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use exit::Failure;

/// How long tidying up may take at the end.
const TIDYING: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    // Looked for before the command line is understood: that it is not is an error, too.
    let json = std::env::args_os().any(|argument| argument == "--json");
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if json && error.use_stderr() {
                exit::tell_programs(2, &error.to_string(), None);
            }
            error.exit();
        }
    };
    let threads = shards::threads(cli.command.shards());
    let runtime =
        match tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return Failure::from(error).report(json),
        };
    let outcome = runtime.block_on(run(cli.command));
    // Tasks tidy up behind them when they are dropped. A thread may still wait for a slow disk; that is not waited for.
    runtime.shutdown_timeout(TIDYING);
    match outcome.and_then(|()| output::outcome().map_err(Failure::from)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json),
    }
}

async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(args).await,
        Command::Recv(args) => commands::recv::run(args).await,
        Command::Send(args) => commands::send::run(args).await,
        Command::Perf(args) => perf::run(args).await,
        Command::Pair(args) => pairing::pair::run(args).await,
        Command::Peers(args) => pairing::peers::run(&args),
        Command::Key(args) => commands::key::run(&args),
        Command::Paths(args) => paths::run(args).await,
        Command::Qlog(args) => qlog::run(args).await,
        #[cfg(target_os = "linux")]
        Command::Gateway(args) => gateway::run(args).await,
        Command::Soak(args) => soak::run(args).await,
        Command::Lab(args) => lab::run(args).await,
        Command::Completions { shell } => {
            // Into memory first: the generator panics where it cannot write.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "whimbrel", &mut script);
            output::text(&script);
            Ok(())
        }
    }
}
