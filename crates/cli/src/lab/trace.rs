use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use clap::Args;
use serde_json::Value as Json;
use whimbrel_lab::{Axes, Cell, Experiment, Fingerprint, Outcome, PAPER, Papers, Sample, Value, Watch};

use super::say;
use crate::exit::Failure;

/// Replay one run and record it
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  whimbrel lab trace b08_fig07 --cell pair=wlan-umts,src=bulk,qs=50,pmr=2 \\
    --seed 1000003 --pcap a.pcapng --events a.jsonl

Cell and seed stand in each row of the results. A run that consists of several worlds records the first.")]
pub(super) struct TraceArgs {
    /// The experiment.
    #[arg(value_name = "EXPERIMENT")]
    experiment: String,
    /// Values of the cell; the first cell that has them all is taken.
    #[arg(long, value_name = "AXIS=VALUE,…", value_delimiter = ',')]
    cell: Vec<String>,
    /// The series of the cell; `paper` unless given, or the first policy of an experiment of your own.
    #[arg(long, value_name = "SERIES")]
    series: Option<String>,
    /// The seed of the run; that of the first repetition unless given.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Write packets here, for Wireshark.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write events here, one JSON object per line: packets, links, and what changes about SCTP's paths (cwnd, rto, state).
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Print one JSON object instead of lines.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &TraceArgs) -> Result<(), Failure> {
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    let named = super::experiments(&papers, std::slice::from_ref(&args.experiment))?;
    let [experiment] = named.as_slice() else {
        let names: Vec<&str> = named.iter().map(|one| one.name()).collect();
        let (what, names) = (&args.experiment, names.join(", "));
        return Err(Failure::Usage(format!("{what} stands for several experiments; name one of {names}")));
    };
    let experiment = &**experiment;
    if (args.pcap.is_some() || args.events.is_some()) && !experiment.has_network() {
        return Err(Failure::Usage(format!(
            "{} has no network in it whose packets or events could be recorded; leave out --pcap and --events",
            experiment.name()
        )));
    }
    check_records(args)?;
    let cell = cell(args, experiment)?;
    let seed = args.seed.unwrap_or_else(|| experiment.seed(0));
    let (pcap, events) = (Record::create(args.pcap.as_deref())?, Record::create(args.events.as_deref())?);
    let watch = Watch { pcap: pcap.writer(), trace: events.writer(), fingerprint: Fingerprint::Wanted };
    let outcome = experiment.run(&cell, seed, watch);
    pcap.finish()?;
    events.finish()?;
    if args.json {
        say(format_args!("{}", told(experiment, &cell, seed, &outcome)));
    } else {
        tell(experiment, &cell, seed, &outcome);
    }
    Ok(())
}

fn tell(experiment: &dyn Experiment, cell: &Cell, seed: u64, outcome: &Outcome) {
    let (name, label) = (experiment.name(), cell.label());
    say(format_args!("{name} {label} seed={seed} fingerprint={:016x}", outcome.fingerprint));
    for sample in &outcome.samples {
        let axes = sample.axes.iter().map(|(name, value)| format!("{name}={value}"));
        let metrics = sample.metrics.iter().map(|(name, value)| format!("{name}={value}"));
        say(format_args!("  {}", axes.chain(metrics).collect::<Vec<_>>().join(" ")));
    }
}

/// The same for machines.
fn told(experiment: &dyn Experiment, cell: &Cell, seed: u64, outcome: &Outcome) -> Json {
    let plain = |value: &Value| match value {
        Value::Integer(value) => Json::from(*value),
        Value::Number(value) => Json::from(*value),
        Value::Word(word) => Json::from(word.to_string()),
    };
    let axes =
        |axes: &Axes| -> Json { axes.iter().map(|(name, value)| (name.to_string(), plain(value))).collect() };
    let row = |sample: &Sample| {
        let metrics = sample.metrics.iter().map(|(name, value)| (name.to_string(), Json::from(*value)));
        serde_json::json!({ "axes": axes(&sample.axes), "metrics": metrics.collect::<Json>() })
    };
    serde_json::json!({
        "name": experiment.name(), "series": cell.series.as_ref(), "axes": axes(&cell.axes), "seed": seed,
        "fingerprint": format!("{:016x}", outcome.fingerprint), "rows": outcome.samples.iter().map(row).collect::<Vec<_>>(),
    })
}

/// Records are written while the run goes on: each into a file of its own.
fn check_records(args: &TraceArgs) -> Result<(), Failure> {
    let records: Vec<&PathBuf> = [&args.pcap, &args.events].into_iter().flatten().collect();
    let read = [args.experiment.clone()];
    records.iter().try_for_each(|path| super::check_output(path, &read))?;
    match records.as_slice() {
        [pcap, events] if super::is_same_file(pcap, events) => {
            Err(Failure::Usage("--pcap and --events name the same file; name two".to_owned()))
        }
        _ => Ok(()),
    }
}

fn cell(args: &TraceArgs, experiment: &dyn Experiment) -> Result<Cell, Failure> {
    let mut wanted: Vec<(&str, String)> = Vec::new();
    for pair in &args.cell {
        match (pair.split_once('='), wanted.last_mut()) {
            (Some((axis, value)), _) => wanted.push((axis, value.to_owned())),
            // A value with a comma in it.
            (None, Some((_, value))) => value.push_str(&format!(",{pair}")),
            (None, None) => return Err(Failure::Usage(format!("--cell wants AXIS=VALUE, not {pair}"))),
        }
    }
    let has = |cell: &Cell, axis: &str, value: &Value| {
        cell.get(axis).is_some_and(|known| known.is_same(value) || known.to_string() == value.to_string())
    };
    let cells = experiment.cells();
    // What only rows have, because one run yields several, tells no cell from another.
    let rows_have = |axis: &str| experiment.axes().iter().any(|known| known == axis);
    wanted.retain(|(axis, _)| !rows_have(axis) || cells.iter().any(|cell| cell.get(axis).is_some()));
    let wanted: Vec<_> = wanted.into_iter().map(|(axis, value)| (axis, Value::parse(&value))).collect();
    let usual = cells.iter().find(|cell| cell.series == PAPER).or(cells.first());
    let series = args.series.clone().or(usual.map(|cell| cell.series.to_string())).unwrap_or_default();
    let fits =
        |cell: &&Cell| cell.series == series && wanted.iter().all(|(axis, value)| has(cell, axis, value));
    cells.iter().find(fits).cloned().ok_or_else(|| no_such_cell(experiment, &cells))
}

fn no_such_cell(experiment: &dyn Experiment, cells: &[Cell]) -> Failure {
    let mut series: Vec<&str> = Vec::new();
    for cell in cells {
        if !series.contains(&&*cell.series) {
            series.push(&cell.series);
        }
    }
    let (name, axes, series) = (experiment.name(), experiment.axes().join(", "), series.join(", "));
    let axes = if axes.is_empty() { "it has no axes".to_owned() } else { format!("its axes are {axes}") };
    Failure::Usage(format!("{name} has no such cell; {axes}, its series are {series}"))
}

/// A file that a run writes to, which has no way to say that the disk is full.
struct Record(Option<(PathBuf, Arc<Mutex<Kept>>)>);

struct Kept {
    file: BufWriter<File>,
    failed: Option<io::Error>,
}

impl Record {
    fn create(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let kept = Kept { file: BufWriter::new(file), failed: None };
        Ok(Self(Some((path.to_owned(), Arc::new(Mutex::new(kept))))))
    }

    fn writer(&self) -> Option<Box<dyn Write + Send>> {
        let (_, kept) = self.0.as_ref()?;
        Some(Box::new(Writer(Arc::clone(kept))))
    }

    /// Whether all of it is on the disk.
    fn finish(self) -> anyhow::Result<()> {
        let Some((path, kept)) = self.0 else { return Ok(()) };
        let mut kept = lock(&kept);
        let outcome = kept.failed.take().map_or_else(|| kept.file.flush(), Err);
        outcome.with_context(|| format!("cannot write {}", path.display()))
    }
}

struct Writer(Arc<Mutex<Kept>>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = lock(&self.0);
        if let Err(error) = kept.file.write_all(bytes) {
            // The run goes on; the first error is told when it is over.
            kept.failed.get_or_insert(error);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
