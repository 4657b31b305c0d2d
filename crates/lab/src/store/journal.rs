//! What a sweep has done so far: a line that says which sweep, then one line of JSON per complete cell.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::VERSION;
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
    /// What the file system says.
    pub fn open(
        dir: &Path,
        experiment: &dyn Experiment,
        sweep: &Sweep,
    ) -> io::Result<(Self, BTreeMap<usize, Vec<Row>>)> {
        fs::create_dir_all(dir)?;
        let path = dir.join(format!("{}.journal", experiment.name()));
        let head = Head {
            figure: experiment.name().to_owned(),
            version: VERSION.to_owned(),
            repetitions: sweep.repetitions,
            first: sweep.first,
            cells: sweep.cells.values().map(|cell| cell.label()).collect::<Vec<_>>().join("\n"),
            set_up: experiment.set_up(),
        };
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut lines = text.split_inclusive('\n');
        let same = lines
            .next()
            .and_then(|line| serde_json::from_str::<Head>(line).ok())
            .is_some_and(|old| old == head);
        let mut done: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
        // The last line may have been cut off.
        for line in lines.filter(|line| same && line.ends_with('\n')) {
            let Ok(cell) = serde_json::from_str::<CellLine>(line) else { break };
            done.insert(cell.cell, cell.rows.into_iter().map(RowLine::row).collect());
        }
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&path)?;
        writeln!(file, "{}", serde_json::to_string(&head)?)?;
        let mut journal = Self { path, file };
        for (&cell, rows) in &done {
            journal.add(cell, rows)?;
        }
        Ok((journal, done))
    }

    /// Notes a complete cell.
    ///
    /// # Errors
    /// What the file system says.
    pub fn add(&mut self, cell: usize, rows: &[Row]) -> io::Result<()> {
        let line = CellLine { cell, rows: rows.iter().map(RowLine::new).collect() };
        let mut line = serde_json::to_vec(&line)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// The sweep is done and its rows are safe.
    ///
    /// # Errors
    /// What the file system says.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(self.path)
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
