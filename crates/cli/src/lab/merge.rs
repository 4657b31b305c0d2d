use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use whimbrel_lab::Papers;
use whimbrel_lab::store::{self, Earlier, Lock, Shards, Whole};

use super::{OutArgs, say, storing};
use crate::exit::Failure;

/// Make results of shards that have been run
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab run b08 --shard 1/2 --out parts    on one machine
  whimbrel lab run b08 --shard 2/2 --out parts    on another
  whimbrel lab merge parts                        the same files as `whimbrel lab run b08` makes, byte for byte
  whimbrel lab merge one two --out both           from several directories

Shards are merged by the version of the program that made them. What is missing is said, with the command that makes it; experiments \
of which nothing is missing are written in any case.")]
pub(super) struct MergeArgs {
    /// Directories with shards.
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    #[command(flatten)]
    out: OutArgs,
    /// Print one JSON object per experiment.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &MergeArgs) -> Result<(), Failure> {
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    let found = Shards::find(&args.shards).context("cannot read the shards")?;
    if found.is_empty() {
        let dirs: Vec<String> = args.shards.iter().map(|dir| dir.display().to_string()).collect();
        let what = format!(
            "there are no shards in {}; `whimbrel lab run EXPERIMENT --shard I/N` makes them",
            dirs.join(", ")
        );
        return Err(anyhow::anyhow!(what).into());
    }
    let _lock = Lock::of(&args.out.out, None).map_err(storing(&args.out.out))?;
    let mut wrong = Vec::new();
    for shards in found {
        let whole = shards.merge(&papers).map_err(anyhow::Error::from);
        if let Err(error) = whole.and_then(|whole| write(args, &whole)) {
            wrong.push(format!("{error:#}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(anyhow::anyhow!(wrong.join("\n")).into()) }
}

fn write(args: &MergeArgs, Whole { experiment, sweep, rows, shards }: &Whole) -> anyhow::Result<()> {
    let (name, dir) = (experiment.name(), &args.out.out);
    if let Some(earlier) = Earlier::find(dir, &**experiment).map_err(storing(dir))? {
        anyhow::ensure!(
            !earlier.goes_beyond(sweep),
            "{name} has {} repetitions in {}, of which these shards have fewer; name another directory with --out",
            earlier.repetitions.len(),
            dir.display()
        );
    }
    store::write(dir, &**experiment, rows).map_err(storing(dir))?;
    let (rows, runs, table) = (rows.len(), sweep.size(), store::csv_path(dir, &**experiment));
    if args.json {
        let told = serde_json::json!({ "name": name, "shards": shards, "rows": rows, "runs": runs, "csv": table.to_string_lossy() });
        say(format_args!("{told}"));
    } else {
        let of = if *shards == 1 { "1 shard".to_owned() } else { format!("{shards} shards") };
        say(format_args!("{name}: {of}, {runs} runs; {rows} rows in {}", table.display()));
    }
    Ok(())
}
