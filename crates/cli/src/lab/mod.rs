//! `whimbrel lab`: the papers' experiments.

mod claims;
mod grid;
mod list;
mod merge;
mod report;
mod run;
mod sensitivity;
mod trace;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use whimbrel_lab::{Experiment, Papers, figures, own};

use crate::exit::Failure;

/// Run published handover experiments and check the papers' claims
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab list
  whimbrel lab run b08_fig07                 one experiment in full
  whimbrel lab run b08 --reps 3 --out quick  all of a paper, quickly
  whimbrel lab run mine.toml                 an experiment of your own
  whimbrel lab run b08 --shard 2/8 --out p   the second of eight parts
  whimbrel lab merge p                       all parts together
  whimbrel lab sensitivity                   other values for what is assumed
  whimbrel lab grid                          controllers on paths of every kind
  whimbrel lab claims                        what results say about claims
  whimbrel lab report                        one HTML file with everything
  whimbrel lab report --results quick        from other results

An experiment that is interrupted goes on where it was when the same command is run again.")]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    List(list::ListArgs),
    Run(run::RunArgs),
    Merge(merge::MergeArgs),
    Sensitivity(sensitivity::SensitivityArgs),
    Grid(grid::GridArgs),
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
    // What has been begun stays on disk, run by run.
    let left = match args.command {
        Command::Run(_) | Command::Sensitivity(_) | Command::Grid(_) => {
            "complete runs are kept, and the same command goes on from there"
        }
        _ => "",
    };
    let work = tokio::task::spawn_blocking(move || match args.command {
        Command::List(args) => list::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Grid(args) => grid::run(&args),
        Command::Sensitivity(args) => sensitivity::run(&args),
        Command::Claims(args) => claims::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Trace(args) => trace::run(&args),
    });
    tokio::select! {
        done = work => done?,
        _ = crate::exit::interrupted() => Err(Failure::Interrupted(left)),
    }
}

/// The experiments that `names` name, and those in files among them. Results are called as their experiment is, so that two of one
/// name would overwrite each other.
fn experiments(papers: &Papers, names: &[String]) -> Result<Vec<Box<dyn Experiment>>, Failure> {
    let (files, names): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| is_path(name));
    let names: Vec<String> = names.into_iter().cloned().collect();
    let (of_grid, names): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| grid::is_one(name));
    let mut found = figures::named(papers, &names).map_err(|error| Failure::Usage(error.to_string()))?;
    found.extend(of_grid.iter().flat_map(|name| grid::named(name)));
    for file in files {
        let text = own::read(Path::new(file)).with_context(|| format!("cannot read {file}"))?;
        let name = own::name(file);
        let usage = |text: String| Failure::Usage(format!("{file}: {text}"));
        if grid::is_one(&name) || figures::is_taken(papers, &name).map_err(anyhow::Error::from)? {
            return Err(usage(format!("a paper or an experiment of one is called {name}; rename the file")));
        }
        if let Some(known) = found.iter().find(|known| known.name() == name) {
            if is_same_file(Path::new(known.on_command_line()), Path::new(file)) {
                continue;
            }
            return Err(usage(format!("another file is called {name}, too; rename one")));
        }
        found.push(own::load(file, &text).map_err(|error| Failure::Usage(error.to_string()))?);
    }
    Ok(found)
}

/// What the file system says of a directory of results; what is wrong with a file that is there already says so itself.
fn storing(dir: &Path) -> impl Fn(io::Error) -> anyhow::Error {
    move |error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::AlreadyExists => error.into(),
        _ => anyhow::Error::from(error).context(format!("cannot write to {}", dir.display())),
    }
}

/// What is read is not written over: experiments of one's own, among them those in `read`, and results.
fn check_output(path: &Path, read: &[String]) -> Result<(), Failure> {
    let name = path.display();
    let real = path.canonicalize();
    for path in [Some(path), real.as_deref().ok()].into_iter().flatten() {
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default().to_lowercase();
        if ["toml", "csv", "parquet", "journal", "shard"].contains(&kind.as_str()) {
            return Err(Failure::Usage(format!(
                "{name} has the name of an experiment or of results; name another file"
            )));
        }
    }
    match read.iter().find(|input| is_path(input) && is_same_file(path, Path::new(input))) {
        Some(input) => Err(Failure::Usage(format!("{name} is the experiment {input}; name another file"))),
        None => Ok(()),
    }
}

/// Whether two names lead to the same file, by links of either kind; files that are not there yet are the same by name.
fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (std::fs::metadata(one), std::fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    place(one) == place(other)
}

/// Where a file is, or would be: one that is not there yet has its directory's place.
fn place(path: &Path) -> PathBuf {
    let there = path.canonicalize().ok();
    let directory = || std::path::absolute(path).ok()?.parent()?.canonicalize().ok();
    let beside = || Some(directory()?.join(path.file_name()?));
    there.or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Whether somebody means a file and no experiment of a paper.
fn is_path(name: &str) -> bool {
    name.contains(std::path::is_separator) || name.to_lowercase().ends_with(".toml")
}

/// A line on stdout.
fn say(line: std::fmt::Arguments<'_>) {
    crate::output::line(&line.to_string());
}
