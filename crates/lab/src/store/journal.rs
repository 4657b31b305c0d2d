//! What a sweep has done so far: a line that says which sweep, then one line of JSON per run.
//!
//! That of a shard stays when all its runs are done: it is what the shard has yielded.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Fresh;
use crate::experiment::{Axes, Experiment, Name, Row};
use crate::runner::{Done, Run, Sweep};
use crate::shard::Shard;
use crate::value::Value;

/// The journal of one sweep, open for more.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// The first line.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(super) struct Head {
    #[serde(flatten)]
    pub(super) sweep: SweepLine,
    /// How `whimbrel lab` was told of the experiment.
    #[serde(default)]
    pub(super) word: String,
}

/// Tells one sweep from another.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(super) struct SweepLine {
    pub(super) figure: String,
    pub(super) version: String,
    pub(super) repetitions: u64,
    pub(super) first: u64,
    /// Number and count.
    pub(super) shard: Option<(u64, u64)>,
    pub(super) cells: String,
    pub(super) set_up: String,
}

#[derive(Serialize, Deserialize)]
struct RunLine {
    cell: usize,
    repetition: u64,
    seed: u64,
    series: String,
    rows: Vec<RowLine>,
}

#[derive(Serialize, Deserialize)]
struct RowLine {
    axes: Vec<(String, Plain)>,
    metrics: Vec<(String, f64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Plain {
    Integer(i64),
    Number(f64),
    Word(String),
}

impl Journal {
    /// Opens the journal of a sweep in `dir` and returns the runs in it. The journal of another sweep is thrown away.
    ///
    /// # Errors
    /// What the file system says, or that the journal is not as it was written.
    pub fn open(dir: &Path, experiment: &dyn Experiment, sweep: &Sweep) -> io::Result<(Self, Done)> {
        fs::create_dir_all(dir)?;
        let path = path(dir, experiment, sweep.shard);
        let head = Head::of(experiment, sweep);
        let done = done(&path, experiment, sweep)?;
        let mut fresh = Fresh::create(path.clone())?;
        fresh.file.write_all(&checked(serde_json::to_vec(&head)?))?;
        for (&run, rows) in &done {
            fresh.file.write_all(&line(run, rows)?)?;
        }
        Ok((Self { path, file: fresh.put_in_place()? }, done))
    }

    /// Removes a journal that is whole: the rows of a sweep say no less, and whoever wrote them may have been ended before it could; and a
    /// shard may be made again.
    ///
    /// # Errors
    /// What the file system says.
    pub fn clear(dir: &Path, experiment: &dyn Experiment, sweep: &Sweep) -> io::Result<()> {
        let path = path(dir, experiment, sweep.shard);
        let whole = done(&path, experiment, sweep)
            .is_ok_and(|done| !done.is_empty() && done.len() as u64 == sweep.share());
        if whole { fs::remove_file(path) } else { Ok(()) }
    }

    /// Notes a run.
    ///
    /// # Errors
    /// What the file system says.
    pub fn add(&mut self, run: Run, rows: &[Row]) -> io::Result<()> {
        self.file.write_all(&line(run, rows)?)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sweep is done and its rows are safe.
    ///
    /// # Errors
    /// What the file system says.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

pub(super) fn path(dir: &Path, experiment: &dyn Experiment, shard: Option<Shard>) -> PathBuf {
    let name = experiment.name();
    dir.join(match shard {
        Some(shard) => format!("{name}.{}.{SHARD}", shard.in_name()),
        None => format!("{name}.journal"),
    })
}

/// What the names of shards end with.
pub(super) const SHARD: &str = "shard";

impl Head {
    pub(super) fn of(experiment: &dyn Experiment, sweep: &Sweep) -> Self {
        let sweep = SweepLine {
            figure: experiment.name().to_owned(),
            version: experiment.version(),
            repetitions: sweep.repetitions,
            first: sweep.first,
            shard: sweep.shard.map(|shard| (shard.number(), shard.of())),
            cells: sweep.cells.values().map(|cell| cell.label()).collect::<Vec<_>>().join("\n"),
            set_up: experiment.set_up(),
        };
        Self { sweep, word: experiment.on_command_line().to_owned() }
    }
}

/// The runs in a journal, none if it is that of another sweep or there is none.
fn done(path: &Path, experiment: &dyn Experiment, sweep: &Sweep) -> io::Result<Done> {
    let text = super::text(path)?.unwrap_or_default();
    match head_of(path, &text)? {
        Some(old) if old.sweep == Head::of(experiment, sweep).sweep => runs(path, &text, experiment, sweep),
        _ => Ok(Done::new()),
    }
}

/// What the first line of a journal says, if there is one.
pub(super) fn head_of(path: &Path, text: &str) -> io::Result<Option<Head>> {
    lines(text).next().map(|(number, line)| parsed(path, number, line)).transpose()
}

/// The runs in the journal of a sweep.
pub(super) fn runs(path: &Path, text: &str, experiment: &dyn Experiment, sweep: &Sweep) -> io::Result<Done> {
    let mut done = Done::new();
    for (number, line) in lines(text).skip(1) {
        let (run, rows) = parsed::<RunLine>(path, number, line)?.run();
        if done.insert(run, rows).is_some() {
            return Err(wrong(path, &format!("line {number} is a run that is there already")));
        }
    }
    super::runs::check(experiment, sweep, &done).map_err(|what| wrong(path, &what))?;
    Ok(done)
}

fn wrong(path: &Path, what: &str) -> io::Error {
    let what = format!("{}: {what}; remove it to begin again", path.display());
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// All lines with their numbers. The last one may have been cut off when the program was ended.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.split_inclusive('\n').filter(|line| line.ends_with('\n')))
}

/// What stands in a journal of a run.
fn line(run: Run, rows: &[Row]) -> io::Result<Vec<u8>> {
    let (seed, series) = rows.first().map(|row| (row.seed, row.series.to_string())).unwrap_or_default();
    let rows = rows.iter().map(RowLine::new).collect();
    let line = RunLine { cell: run.cell, repetition: run.repetition, seed, series, rows };
    Ok(checked(serde_json::to_vec(&line)?))
}

/// A line: a checksum (CRC-32), a space and JSON.
fn checked(json: Vec<u8>) -> Vec<u8> {
    let mut line = format!("{:08x} ", crc32fast::hash(&json)).into_bytes();
    line.extend(json);
    line.push(b'\n');
    line
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path, number: usize, line: &str) -> io::Result<T> {
    let json = line.trim_end_matches('\n').split_once(' ').and_then(|(sum, json)| {
        let whole = u32::from_str_radix(sum, 16) == Ok(crc32fast::hash(json.as_bytes()));
        serde_json::from_str(json).ok().filter(|_| whole)
    });
    json.ok_or_else(|| wrong(path, &format!("line {number} is not as it was written")))
}

/// Changes what lines say, and their checksums with it.
#[cfg(test)]
pub(super) fn rewrite(path: &Path, change: &dyn Fn(&str) -> String) {
    let text = fs::read_to_string(path).unwrap();
    let json = text.lines().map(|line| line.split_once(' ').unwrap().1);
    let lines: Vec<Vec<u8>> = json.map(|json| checked(change(json).into_bytes())).collect();
    fs::write(path, lines.concat()).unwrap();
}

impl RunLine {
    fn run(self) -> (Run, Vec<Row>) {
        let (series, repetition, seed) = (Name::from(self.series), self.repetition, self.seed);
        let row = |row: RowLine| {
            let (axes, metrics) = row.columns();
            Row { series: series.clone(), axes, repetition, seed, metrics }
        };
        (Run { cell: self.cell, repetition }, self.rows.into_iter().map(row).collect())
    }
}

impl RowLine {
    fn new(row: &Row) -> Self {
        let plain = |value: &Value| match value {
            Value::Integer(value) => Plain::Integer(*value),
            Value::Number(value) => Plain::Number(*value),
            Value::Word(word) => Plain::Word(word.clone()),
        };
        let finite = row.metrics.iter().filter(|(_, value)| value.is_finite());
        Self {
            axes: row.axes.iter().map(|(name, value)| (name.to_string(), plain(value))).collect(),
            metrics: finite.map(|(name, value)| (name.to_string(), *value)).collect(),
        }
    }

    fn columns(self) -> (Axes, Vec<(Name, f64)>) {
        let value = |plain| match plain {
            Plain::Integer(value) => Value::Integer(value),
            Plain::Number(value) => Value::Number(value),
            Plain::Word(word) => Value::Word(word),
        };
        let axes = self.axes.into_iter().map(|(name, plain)| (name.into(), value(plain)));
        let metrics = self.metrics.into_iter().map(|(name, value)| (name.into(), value));
        (axes.collect(), metrics.collect())
    }
}
