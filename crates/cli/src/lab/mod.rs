//! `whimbrel lab`: the papers' experiments.

mod list;
mod run;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::exit::Failure;

/// Run published handover experiments and check the papers' claims
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab list
  whimbrel lab run b08_fig07                 one experiment, as often as the paper ran it
  whimbrel lab run b08 --reps 3 --out quick  all of a paper, quickly

An experiment that is interrupted goes on where it was when the same command is run again.")]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    List(list::ListArgs),
    Run(run::RunArgs),
}

/// Where results are.
#[derive(Args, Clone, Debug)]
struct OutArgs {
    /// Directory of the results.
    #[arg(long, value_name = "DIR", default_value = "lab-results")]
    out: PathBuf,
}

pub(crate) async fn run(args: LabArgs) -> Result<(), Failure> {
    tokio::task::spawn_blocking(move || match args.command {
        Command::List(args) => list::run(&args),
        Command::Run(args) => run::run(&args),
    })
    .await?
}

/// A line on stdout. Nobody may be reading it any more, which is no failure of the lab.
fn say(line: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
