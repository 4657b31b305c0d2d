use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use whimbrel_lab::runner::{self, Sweep};
use whimbrel_lab::store::{self, Earlier, Journal, Lock};
use whimbrel_lab::{Experiment, Papers, Row, Shard};

use super::{OutArgs, say, storing};
use crate::exit::Failure;

/// How many seeds an experiment has.
const SEEDS: u64 = 1_000_000;

/// Run experiments
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab run b08_fig07                    one experiment in full
  whimbrel lab run b08 --reps 3 --out quick     all of a paper, quickly
  whimbrel lab run b08 --shard 2/8 --out parts  the second of eight parts, on a machine of its own
  whimbrel lab merge parts                      the results of all eight, as if they had been one run

What is interrupted goes on where it was when the same command is run again, shards as well.")]
pub(super) struct RunArgs {
    /// Experiments (`b08_fig07`), papers (`b08`), `all`, or files with experiments of your own (`mine.toml`).
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    #[command(flatten)]
    how: HowArgs,
}

/// How experiments are run.
#[derive(Args, Debug)]
pub(super) struct HowArgs {
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
    /// Run part I of N alone, for N machines: any scheduler's array job. Each part is stored as NAME.I-of-N.shard, and no results are
    /// written; `whimbrel lab merge` makes them of all parts. A part depends on I and N alone.
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Shard>,
    #[command(flatten)]
    pub(super) out: OutArgs,
    /// Print one JSON object per experiment at its end.
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &RunArgs) -> Result<(), Failure> {
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    let experiments = super::experiments(&papers, &args.experiments)?;
    each(&args.how, &experiments.iter().map(|experiment| &**experiment).collect::<Vec<_>>())
}

/// Runs one experiment after the other.
pub(super) fn each(args: &HowArgs, experiments: &[&dyn Experiment]) -> Result<(), Failure> {
    for experiment in experiments {
        let repetitions = args.reps.unwrap_or(experiment.repetitions());
        if args.seed.saturating_add(repetitions) > SEEDS {
            return Err(Failure::Usage(format!(
                "{repetitions} repetitions from --seed {} on go beyond number {}: there the seeds of another experiment begin",
                args.seed,
                SEEDS - 1
            )));
        }
    }
    let lock = Lock::of(&args.out.out, args.shard);
    if lock.as_ref().is_err_and(is_read_only) && are_complete(args, experiments)? {
        return Ok(());
    }
    let _lock = lock.map_err(storing(&args.out.out))?;
    for experiment in experiments {
        run_one(args, *experiment)?;
    }
    Ok(())
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whether everything has been done already, which is told then: whoever has nothing to write needs no leave to.
fn are_complete(args: &HowArgs, experiments: &[&dyn Experiment]) -> anyhow::Result<bool> {
    if args.again || args.shard.is_some() {
        return Ok(false);
    }
    let mut there = Vec::new();
    for experiment in experiments {
        let sweep = sweep(args, *experiment);
        let Some(rows) = complete(args, *experiment, &sweep)? else { return Ok(false) };
        there.push((experiment, sweep, rows));
    }
    for (experiment, sweep, rows) in there {
        tell_complete(args, *experiment, &sweep, rows);
    }
    Ok(true)
}

fn sweep(args: &HowArgs, experiment: &dyn Experiment) -> Sweep {
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let jobs = args.jobs.unwrap_or(cpus) as usize;
    let whole = Sweep::whole(experiment, jobs);
    let repetitions = args.reps.unwrap_or(whole.repetitions);
    Sweep { first: args.seed, shard: args.shard, repetitions, ..whole }
}

fn tell_complete(args: &HowArgs, experiment: &dyn Experiment, sweep: &Sweep, rows: usize) {
    let table = store::csv_path(&args.out.out, experiment);
    let told = Told { sweep, resumed: sweep.share(), rows, table: &table, took: Default::default() };
    tell(args, experiment, &told);
}

fn run_one(args: &HowArgs, experiment: &dyn Experiment) -> anyhow::Result<()> {
    let sweep = sweep(args, experiment);
    let dir = &args.out.out;
    let complete = match args.shard {
        Some(_) => {
            let there = store::in_the_way(dir, experiment, &sweep).map_err(storing(dir))?;
            there.map_or(Ok(()), |there| would_lose(args, experiment, there as usize))?;
            None
        }
        None => complete(args, experiment, &sweep)?,
    };
    if complete.is_some() || args.shard.is_some() && args.again {
        Journal::clear(dir, experiment, &sweep).map_err(storing(dir))?;
    }
    if let Some(rows) = complete.filter(|_| !args.again) {
        tell_complete(args, experiment, &sweep, rows);
        return Ok(());
    }
    let (mut journal, done) = Journal::open(dir, experiment, &sweep).map_err(storing(dir))?;
    let resumed = done.len() as u64;
    let (began, cpu) = (Instant::now(), cpu_time());
    let bar = progress_bar(experiment.name(), sweep.share().saturating_sub(resumed));
    let mut failed = None;
    let done = runner::run(experiment, &sweep, done, |run, rows| {
        bar.inc(1);
        failed = journal.add(run, rows).err();
        failed.is_none()
    });
    bar.finish_and_clear();
    if let Some(error) = failed {
        return Err(storing(dir)(error));
    }
    let rows: Vec<Row> = done.into_values().flatten().collect();
    let table = match args.shard {
        Some(_) => journal.path().to_owned(),
        None => {
            store::write(dir, experiment, &rows).map_err(storing(dir))?;
            let gone =
                || format!("cannot remove the journal in {}; does another run write there?", dir.display());
            journal.remove().with_context(gone)?;
            store::csv_path(dir, experiment)
        }
    };
    let took = (began.elapsed(), cpu_time().saturating_sub(cpu));
    tell(args, experiment, &Told { sweep: &sweep, resumed, rows: rows.len(), table: &table, took });
    Ok(())
}

/// The rows that are there if all has been done already.
///
/// # Errors
/// That the sweep would take the place of something that it does not contain.
fn complete(args: &HowArgs, experiment: &dyn Experiment, sweep: &Sweep) -> anyhow::Result<Option<usize>> {
    let dir = &args.out.out;
    let earlier = Earlier::find(dir, experiment).map_err(storing(dir))?;
    let Some(earlier) = earlier else { return Ok(None) };
    if earlier.goes_beyond(sweep) {
        would_lose(args, experiment, earlier.repetitions.len())?;
    }
    Ok(earlier.is_all_of(sweep).then_some(earlier.rows))
}

fn would_lose(args: &HowArgs, experiment: &dyn Experiment, repetitions: usize) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.again,
        "{} has {repetitions} repetitions in {}, of which --reps and --seed would leave fewer; name another directory with --out, \
         or replace them with --again",
        experiment.name(),
        args.out.out.display()
    );
    Ok(())
}

/// What has been done.
struct Told<'a> {
    sweep: &'a Sweep,
    /// Runs from before.
    resumed: u64,
    rows: usize,
    table: &'a Path,
    /// By the clock, and of all processors.
    took: (Duration, Duration),
}

fn tell(args: &HowArgs, experiment: &dyn Experiment, told: &Told<'_>) {
    let (name, Told { sweep, resumed, rows, table, .. }) = (experiment.name(), told);
    let (wall, cpu) = (told.took.0.as_secs_f64(), told.took.1.as_secs_f64());
    if args.json {
        let kind = if sweep.shard.is_some() { "file" } else { "csv" };
        let mut told = serde_json::json!({
            "name": name, "rows": rows, "runs": sweep.share(), "runs_resumed": resumed, "seconds": wall, "cpu_seconds": cpu,
            kind: table.to_string_lossy(),
        });
        if let Some(shard) = sweep.shard {
            told["shard"] = shard.to_string().into();
        }
        return say(format_args!("{told}"));
    }
    let what = match sweep.shard {
        Some(shard) => format!("shard {shard}, {} of {} runs", sweep.share(), sweep.size()),
        None => format!("{} cells, {} runs", sweep.cells.len(), sweep.size()),
    };
    let before = if *resumed > 0 { format!(", {resumed} runs from before") } else { String::new() };
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
