//! `whimbrel lab`: the papers' experiments.

mod claims;
mod list;
mod report;
mod run;
mod trace;

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use whimbrel_lab::{Experiment, Papers, figures, own};

use crate::exit::Failure;

/// Run published handover experiments and check the papers' claims
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab list
  whimbrel lab run b08_fig07                 one experiment, as often as the paper ran it
  whimbrel lab run b08 --reps 3 --out quick  all of a paper, quickly
  whimbrel lab run mine.toml                 an experiment of your own
  whimbrel lab claims                        what the results say about the papers' claims
  whimbrel lab report                        one HTML file with everything
  whimbrel lab report --results quick        the same from results in another directory

An experiment that is interrupted goes on where it was when the same command is run again.")]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    List(list::ListArgs),
    Run(run::RunArgs),
    Claims(claims::ClaimsArgs),
    Report(report::ReportArgs),
    Trace(trace::TraceArgs),
}

/// Where results are unless somebody says otherwise.
const RESULTS: &str = "lab-results";

/// Where results are.
#[derive(Args, Clone, Debug)]
struct OutArgs {
    /// Directory of the results.
    #[arg(long, value_name = "DIR", default_value = RESULTS)]
    out: PathBuf,
}

pub(crate) async fn run(args: LabArgs) -> Result<(), Failure> {
    tokio::task::spawn_blocking(move || match args.command {
        Command::List(args) => list::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Claims(args) => claims::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Trace(args) => trace::run(&args),
    })
    .await?
}

/// The experiments that `names` name, and those in files among them. Results are called as their experiment is, so that two of one
/// name would overwrite each other.
fn experiments(papers: &Papers, names: &[String]) -> Result<Vec<Box<dyn Experiment>>, Failure> {
    let (files, names): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| name.ends_with(".toml"));
    let names: Vec<String> = names.into_iter().cloned().collect();
    let mut found = figures::named(papers, &names).map_err(|error| Failure::Usage(error.to_string()))?;
    for file in files {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
        let name = own::name(file);
        let usage = |text: String| Failure::Usage(format!("{file}: {text}"));
        if figures::all(papers)
            .map_err(anyhow::Error::from)?
            .iter()
            .any(|known| known.name() == name || known.scenario().paper() == name)
        {
            return Err(usage(format!("a paper or an experiment of one is called {name}; rename the file")));
        }
        if found.iter().any(|known| known.name() == name) {
            return Err(usage(format!("another file is called {name}, too; rename one")));
        }
        found.push(own::load(file, &text).map_err(|error| Failure::Usage(error.to_string()))?);
    }
    Ok(found)
}

/// A line on stdout.
fn say(line: std::fmt::Arguments<'_>) {
    crate::output::line(&line.to_string());
}
