//! What a sweep has done so far: a line that says which sweep, then one line of JSON per complete cell.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Fresh;
use crate::experiment::{Experiment, Row};
use crate::runner::Sweep;
use crate::value::Value;

/// The journal of one sweep, open for more.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// Tells one sweep from another.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Head {
    figure: String,
    version: String,
    repetitions: u64,
    first: u64,
    cells: String,
    set_up: String,
}

#[derive(Serialize, Deserialize)]
struct CellLine {
    cell: usize,
    rows: Vec<RowLine>,
}

#[derive(Serialize, Deserialize)]
struct RowLine {
    series: String,
    axes: Vec<(String, Plain)>,
    repetition: u64,
    seed: u64,
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
    /// Opens the journal of a sweep in `dir` and returns the cells in it that are complete. The journal of another sweep is
    /// thrown away.
    ///
    /// # Errors
    /// What the file system says, or that the journal is not as it was written.
    pub fn open(
        dir: &Path,
        experiment: &dyn Experiment,
        sweep: &Sweep,
    ) -> io::Result<(Self, BTreeMap<usize, Vec<Row>>)> {
        fs::create_dir_all(dir)?;
        let path = path(dir, experiment);
        let head = Head::of(experiment, sweep);
        let text = super::text(&path)?.unwrap_or_default();
        let done = done(&text, &head).map_err(|what| {
            let text = format!("{}: {what}; remove it to begin again", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        let mut fresh = Fresh::create(path.clone())?;
        fresh.file.write_all(&checked(serde_json::to_vec(&head)?))?;
        for (&cell, rows) in &done {
            fresh.file.write_all(&line(cell, rows)?)?;
        }
        Ok((Self { path, file: fresh.put_in_place()? }, done))
    }

    /// Removes a journal that says no more than the rows do: whoever wrote them may have been ended before it could.
    ///
    /// # Errors
    /// What the file system says.
    pub fn clear(dir: &Path, experiment: &dyn Experiment, sweep: &Sweep) -> io::Result<()> {
        let path = path(dir, experiment);
        let text = super::text(&path)?.unwrap_or_default();
        let whole =
            done(&text, &Head::of(experiment, sweep)).is_ok_and(|cells| cells.len() == sweep.cells.len());
        if whole { fs::remove_file(path) } else { Ok(()) }
    }

    /// Notes a complete cell.
    ///
    /// # Errors
    /// What the file system says.
    pub fn add(&mut self, cell: usize, rows: &[Row]) -> io::Result<()> {
        self.file.write_all(&line(cell, rows)?)
    }

    /// The sweep is done and its rows are safe.
    ///
    /// # Errors
    /// What the file system says.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

pub(super) fn path(dir: &Path, experiment: &dyn Experiment) -> PathBuf {
    dir.join(format!("{}.journal", experiment.name()))
}

impl Head {
    fn of(experiment: &dyn Experiment, sweep: &Sweep) -> Self {
        Self {
            figure: experiment.name().to_owned(),
            version: experiment.version(),
            repetitions: sweep.repetitions,
            first: sweep.first,
            cells: sweep.cells.values().map(|cell| cell.label()).collect::<Vec<_>>().join("\n"),
            set_up: experiment.set_up(),
        }
    }
}

/// The complete cells in a journal, none if it is that of another sweep.
fn done(text: &str, head: &Head) -> Result<BTreeMap<usize, Vec<Row>>, String> {
    // The last line may have been cut off when the program was ended.
    let mut lines = (1..).zip(text.split_inclusive('\n').filter(|line| line.ends_with('\n')));
    let mut done = BTreeMap::new();
    let Some((number, first)) = lines.next() else { return Ok(done) };
    let old: Head = parsed(number, first)?;
    if old != *head {
        return Ok(done);
    }
    for (number, line) in lines {
        let CellLine { cell, rows } = parsed(number, line)?;
        done.insert(cell, rows.into_iter().map(RowLine::row).collect());
    }
    Ok(done)
}

/// What stands in a journal of a complete cell.
fn line(cell: usize, rows: &[Row]) -> io::Result<Vec<u8>> {
    let line = CellLine { cell, rows: rows.iter().map(RowLine::new).collect() };
    Ok(checked(serde_json::to_vec(&line)?))
}

/// A line: a checksum (CRC-32), a space and JSON.
fn checked(json: Vec<u8>) -> Vec<u8> {
    let mut line = format!("{:08x} ", crc32fast::hash(&json)).into_bytes();
    line.extend(json);
    line.push(b'\n');
    line
}

fn parsed<T: serde::de::DeserializeOwned>(number: usize, line: &str) -> Result<T, String> {
    let wrong = || format!("line {number} is not as it was written");
    let (sum, json) = line.trim_end_matches('\n').split_once(' ').ok_or_else(wrong)?;
    if u32::from_str_radix(sum, 16) != Ok(crc32fast::hash(json.as_bytes())) {
        return Err(wrong());
    }
    serde_json::from_str(json).map_err(|_| wrong())
}

/// Changes what lines say, and their checksums with it.
#[cfg(test)]
pub(super) fn rewrite(path: &Path, change: &dyn Fn(&str) -> String) {
    let text = fs::read_to_string(path).unwrap();
    let json = text.lines().map(|line| line.split_once(' ').unwrap().1);
    let lines: Vec<Vec<u8>> = json.map(|json| checked(change(json).into_bytes())).collect();
    fs::write(path, lines.concat()).unwrap();
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
            series: row.series.to_string(),
            axes: row.axes.iter().map(|(name, value)| (name.to_string(), plain(value))).collect(),
            repetition: row.repetition,
            seed: row.seed,
            metrics: finite.map(|(name, value)| (name.to_string(), *value)).collect(),
        }
    }

    fn row(self) -> Row {
        let value = |plain| match plain {
            Plain::Integer(value) => Value::Integer(value),
            Plain::Number(value) => Value::Number(value),
            Plain::Word(word) => Value::Word(word),
        };
        Row {
            series: self.series.into(),
            axes: self.axes.into_iter().map(|(name, plain)| (name.into(), value(plain))).collect(),
            repetition: self.repetition,
            seed: self.seed,
            metrics: self.metrics.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        }
    }
}
