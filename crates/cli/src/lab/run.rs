use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use whimbrel_lab::runner::{self, Progress, Sweep};
use whimbrel_lab::store::{self, Earlier, Journal, Lock};
use whimbrel_lab::{Experiment, Papers, Row};

use super::{OutArgs, say};
use crate::exit::Failure;

/// How many seeds an experiment has.
const SEEDS: u64 = 1_000_000;

/// Run experiments
#[derive(Args, Debug)]
pub(super) struct RunArgs {
    /// Experiments (`b08_fig07`), papers (`b08`), `all`, or files with experiments of your own (`mine.toml`).
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// Repetitions of each cell; as in the paper unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    reps: Option<u64>,
    /// Number of the first repetition: other numbers are other draws.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=999_999))]
    seed: u64,
    /// Threads; one per processor unless given. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u64).range(1..=1024))]
    jobs: Option<u64>,
    /// Run again what is complete already, and put it in the place of other repetitions.
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    out: OutArgs,
    /// Print one JSON object per experiment at its end.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RunArgs) -> Result<(), Failure> {
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    let experiments = super::experiments(&papers, &args.experiments)?;
    for experiment in &experiments {
        let repetitions = args.reps.unwrap_or(experiment.repetitions());
        if args.seed.saturating_add(repetitions) > SEEDS {
            return Err(Failure::Usage(format!(
                "{repetitions} repetitions from --seed {} on go beyond number {}: there the seeds of another experiment begin",
                args.seed,
                SEEDS - 1
            )));
        }
    }
    let dir = &args.out.out;
    let _lock = Lock::of(dir).with_context(|| format!("cannot write to {}", dir.display()))?;
    for experiment in experiments {
        run_one(args, &*experiment)?;
    }
    Ok(())
}

fn run_one(args: &RunArgs, experiment: &dyn Experiment) -> anyhow::Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let jobs = args.jobs.unwrap_or(cpus) as usize;
    let mut sweep = Sweep { first: args.seed, ..Sweep::whole(experiment, jobs) };
    sweep.repetitions = args.reps.unwrap_or(sweep.repetitions);
    let (all, runs) = (sweep.cells.len(), sweep.runs());
    let dir = &args.out.out;
    let unwritable = || format!("cannot write to {}", dir.display());
    if let Some(earlier) = Earlier::find(dir, experiment).with_context(unwritable)? {
        anyhow::ensure!(
            args.again || !earlier.goes_beyond(&sweep),
            "{} has {} repetitions in {}, of which --reps and --seed would leave fewer; name another directory with --out, \
             or replace them with --again",
            experiment.name(),
            earlier.repetitions.len(),
            dir.display()
        );
        if earlier.is_all_of(&sweep) {
            Journal::clear(dir, experiment, &sweep).with_context(unwritable)?;
            if !args.again {
                let what = format!("{all} cells, {runs} runs");
                tell(args, experiment, &what, all, earlier.rows, Default::default());
                return Ok(());
            }
        }
    }
    let (mut journal, mut cells) = Journal::open(dir, experiment, &sweep).with_context(unwritable)?;
    let resumed = cells.len();
    sweep.cells.retain(|number, _| !cells.contains_key(number));
    let (began, cpu) = (Instant::now(), cpu_time());
    let bar = progress_bar(experiment.name(), sweep.runs() as u64);
    let mut failed = None;
    runner::run(experiment, &sweep, |progress| {
        match progress {
            Progress::Run => bar.inc(1),
            Progress::Cell(number, rows) => {
                failed = journal.add(number, &rows).err();
                cells.insert(number, rows);
            }
        }
        failed.is_none()
    });
    bar.finish_and_clear();
    if let Some(error) = failed {
        return Err(error).with_context(unwritable);
    }
    let rows = in_order(cells);
    store::write(dir, experiment, &rows).with_context(unwritable)?;
    let gone = || format!("cannot remove the journal in {}; does another run write there?", dir.display());
    journal.remove().with_context(gone)?;
    let took = (began.elapsed(), cpu_time().saturating_sub(cpu));
    tell(args, experiment, &format!("{all} cells, {runs} runs"), resumed, rows.len(), took);
    Ok(())
}

fn in_order(cells: BTreeMap<usize, Vec<Row>>) -> Vec<Row> {
    cells.into_values().flatten().collect()
}

fn tell(
    args: &RunArgs,
    experiment: &dyn Experiment,
    what: &str,
    resumed: usize,
    rows: usize,
    (wall, cpu): (Duration, Duration),
) {
    let table = store::csv_path(&args.out.out, experiment);
    let (wall, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
    if args.json {
        let told = serde_json::json!({
            "name": experiment.name(), "rows": rows, "cells_resumed": resumed, "seconds": wall, "cpu_seconds": cpu,
            "csv": table,
        });
        return say(format_args!("{told}"));
    }
    let before = if resumed > 0 { format!(", {resumed} cells of an earlier run") } else { String::new() };
    let name = experiment.name();
    say(format_args!(
        "{name}: {what} in {wall:.1} s ({cpu:.1} s of CPU{before}); {rows} rows in {}",
        table.display()
    ));
}

fn progress_bar(name: &str, runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(runs).with_message(name.to_owned());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} runs, {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// CPU time of this process so far.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
