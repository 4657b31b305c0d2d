use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use whimbrel_lab::grid::{self, Fairness, Grid, page};
use whimbrel_lab::{Experiment, Row, store};

use super::run::{self, HowArgs};
use super::say;
use crate::exit::Failure;

/// The part that is no rate.
const FAIRNESS: &str = "fairness";

/// Measure every controller on paths of every kind, beside TCP
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab grid --page docs/grid.md      up to 1 Gbit/s, and fairness, with a page of tables
  whimbrel lab grid 10 fairness              parts of it
  whimbrel lab grid 10000                    10 Gbit/s, which takes longer than all others together
  whimbrel lab run grid_few                  ten cells that span it
  whimbrel lab run grid_disorder             paths on which packets come in another order
  whimbrel lab trace grid_100 --series mobile --cell 'rtt=50,queue=1,trouble=loss 1%' --events a.jsonl

Rows are stored as grid_100.csv and its like, grid_fairness.csv, grid_few.csv and grid_disorder.csv. What is interrupted goes on when the same command is run \
again.")]
pub(super) struct GridArgs {
    /// Rates in Mbit/s (10, 100, 1000, 10000), and `fairness`; all but 10000 unless given.
    #[arg(value_name = "PART", default_values = ["10", "100", "1000", FAIRNESS])]
    parts: Vec<String>,
    /// Write a page of all parts of which there are rows here (Markdown).
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    page: Option<PathBuf>,
    #[command(flatten)]
    how: HowArgs,
}

/// Whether a name is that of the grid or of one of its parts.
pub(super) fn is_one(name: &str) -> bool {
    named(name).next().is_some()
}

/// The experiment of that name.
pub(super) fn named(name: &str) -> impl Iterator<Item = Box<dyn Experiment>> {
    grid::experiments().into_iter().filter(move |experiment| experiment.name() == name)
}

pub(super) fn run(args: &GridArgs) -> Result<(), Failure> {
    if let Some(page) = &args.page {
        super::check_output(page, &[])?;
    }
    let fairness = Fairness::default();
    let grids = grid::RATES.map(|rate| (rate.to_string(), Grid::of_rate(rate)));
    let rates = grids.iter().map(|(rate, grid)| (rate.as_str(), grid as &dyn Experiment));
    let all: Vec<(&str, &dyn Experiment)> = rates.chain([(FAIRNESS, &fairness as &dyn Experiment)]).collect();
    if let Some(part) = args.parts.iter().find(|part| !all.iter().any(|(name, _)| name == part)) {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        return Err(Failure::Usage(format!("the grid has no part {part}; there are {}", names.join(", "))));
    }
    let wanted = all.iter().filter(|(name, _)| args.parts.iter().any(|part| part == name));
    run::each(&args.how, &wanted.map(|(_, one)| *one).collect::<Vec<_>>())?;
    let Some(page) = &args.page else { return Ok(()) };
    let dir = &args.how.out.out;
    let mut versions = BTreeSet::new();
    for (_, one) in &all {
        versions.extend(store::versions(dir, *one).map_err(anyhow::Error::from)?);
    }
    let rates = grids.iter().map(|(_, grid)| rows(dir, grid)).collect::<anyhow::Result<Vec<_>>>()?;
    let text = page::written(&rates.concat(), &rows(dir, &fairness)?, &versions);
    store::write_to(page, text.as_bytes()).with_context(|| format!("cannot write {}", page.display()))?;
    if !args.how.json {
        say(format_args!("{}", page.display()));
    }
    Ok(())
}

fn rows(dir: &Path, experiment: &dyn Experiment) -> anyhow::Result<Vec<Row>> {
    let rows = store::read(dir, experiment)
        .with_context(|| format!("cannot read the results in {}", dir.display()))?;
    Ok(rows.unwrap_or_default())
}
