use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use whimbrel_lab::grid::{self, Fairness, Grid, page};
use whimbrel_lab::{Experiment, Row, store};

use super::run::{self, HowArgs};
use super::say;
use crate::exit::Failure;

/// Measure every controller on paths of every kind, beside TCP
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab grid --page docs/grid.md      the whole grid and fairness, with a page of tables
  whimbrel lab grid --rates 10,100,1000,10000  10 Gbit/s, too, which takes longer than all others together
  whimbrel lab run grid_few                  ten cells that span it
  whimbrel lab trace grid_100 --series bbr --cell 'rtt=50,queue=1,trouble=loss 1%' --events a.jsonl

Rows are stored as grid_100.csv and its like, grid_fairness.csv and grid_few.csv. What is interrupted goes on when the same command is run \
again.")]
pub(super) struct GridArgs {
    /// Rates in Mbit/s. Fairness is measured in any case.
    #[arg(long, value_name = "RATE,…", value_delimiter = ',', default_values_t = [10, 100, 1000])]
    rates: Vec<u64>,
    /// Write a page of all rates of which there are rows here (Markdown).
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
    if let Some(rate) = args.rates.iter().find(|rate| !grid::RATES.contains(rate)) {
        return Err(Failure::Usage(format!(
            "there is no rate of {rate} Mbit/s; there are {:?}",
            grid::RATES
        )));
    }
    let fairness = Fairness::default();
    let all = grid::RATES.map(Grid::of_rate);
    let wanted = grid::RATES.iter().zip(&all).filter(|(rate, _)| args.rates.contains(rate));
    let wanted = wanted.map(|(_, grid)| grid as &dyn Experiment);
    run::each(&args.how, &wanted.chain([&fairness as &dyn Experiment]).collect::<Vec<_>>())?;
    let Some(page) = &args.page else { return Ok(()) };
    let dir = &args.how.out.out;
    let grids = all.iter().map(|grid| rows(dir, grid)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut versions = BTreeSet::new();
    for one in all.iter().map(|grid| grid as &dyn Experiment).chain([&fairness as &dyn Experiment]) {
        versions.extend(store::versions(dir, one).map_err(anyhow::Error::from)?);
    }
    let text = page::written(&grids.concat(), &rows(dir, &fairness)?, &versions);
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
