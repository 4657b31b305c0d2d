use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use whimbrel_lab::{Cell, Experiment, PAPER, Papers, Value, Watch};

use super::say;
use crate::exit::Failure;

/// Replay one run and record it
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab trace b08_fig07 --cell pair=wlan-umts,src=bulk,qs=50,pmr=2 --seed 1000003 --pcap a.pcapng --events a.jsonl

Cell and seed stand in each row of the results. A run that consists of several worlds records the first.")]
pub(super) struct TraceArgs {
    /// The experiment.
    #[arg(value_name = "EXPERIMENT")]
    experiment: String,
    /// Values of the cell; the first cell that has them all is taken.
    #[arg(long, value_name = "AXIS=VALUE,…", value_delimiter = ',')]
    cell: Vec<String>,
    /// The series of the cell.
    #[arg(long, value_name = "SERIES", default_value = PAPER)]
    series: String,
    /// The seed of the run; that of the first repetition unless given.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Write packets here, for Wireshark.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write events here, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
}

pub(super) fn run(args: &TraceArgs) -> Result<(), Failure> {
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    let named = super::experiments(&papers, std::slice::from_ref(&args.experiment))?;
    let experiment = &*named[0];
    let cell = cell(args, experiment)?;
    let seed = args.seed.unwrap_or_else(|| experiment.seed(0));
    let watch = Watch { pcap: open(args.pcap.as_deref())?, trace: open(args.events.as_deref())? };
    let outcome = experiment.run(&cell, seed, watch);
    say(format_args!(
        "{} {} seed={seed} fingerprint={:016x}",
        experiment.name(),
        cell.label(),
        outcome.fingerprint
    ));
    for sample in outcome.samples {
        let axes = sample.axes.iter().map(|(name, value)| format!("{name}={value}"));
        let metrics = sample.metrics.iter().map(|(name, value)| format!("{name}={value}"));
        say(format_args!("  {}", axes.chain(metrics).collect::<Vec<_>>().join(" ")));
    }
    Ok(())
}

fn cell(args: &TraceArgs, experiment: &dyn Experiment) -> Result<Cell, Failure> {
    let mut wanted = Vec::new();
    for pair in &args.cell {
        let Some((axis, value)) = pair.split_once('=') else {
            return Err(Failure::Usage(format!("--cell wants AXIS=VALUE, not {pair}")));
        };
        wanted.push((axis, Value::parse(value)));
    }
    let has = |cell: &Cell, axis: &str, value: &Value| {
        cell.get(axis).is_some_and(|known| known.is_same(value) || known.to_string() == value.to_string())
    };
    let fits =
        |cell: &Cell| cell.series == args.series && wanted.iter().all(|(axis, value)| has(cell, axis, value));
    let found = experiment.cells().into_iter().find(fits);
    found.ok_or_else(|| Failure::Usage(format!("{} has no such cell", experiment.name())))
}

fn open(path: Option<&Path>) -> anyhow::Result<Option<Box<dyn Write + Send>>> {
    let Some(path) = path else { return Ok(None) };
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Some(Box::new(BufWriter::new(file))))
}
