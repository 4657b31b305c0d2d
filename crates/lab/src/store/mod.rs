//! Results on disk: rows as CSV and Parquet, and a journal from which an interrupted sweep goes on.

mod check;
mod csv;
mod journal;
mod lock;
mod parquet;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use crate::experiment::{Experiment, Row};

pub use journal::Journal;
pub use lock::Lock;

/// Where the rows of an experiment are.
pub fn csv_path(dir: &Path, experiment: &dyn Experiment) -> PathBuf {
    dir.join(format!("{}.csv", experiment.name()))
}

/// Writes all rows of an experiment, as `NAME.csv` and `NAME.parquet`.
///
/// # Errors
/// What the file system says.
pub fn write(dir: &Path, experiment: &dyn Experiment, rows: &[Row]) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let table = csv_path(dir, experiment);
    // Complete or not at all.
    let beside = table.with_extension("csv.new");
    csv::write(&mut BufWriter::new(File::create(&beside)?), experiment, rows)?;
    fs::rename(beside, table)?;
    let columns = dir.join(format!("{}.parquet", experiment.name()));
    parquet::write(File::create(columns)?, experiment, rows)
}

/// Reads the rows of an experiment; `None` if there are none.
///
/// # Errors
/// What the file system says, or that the file is not as a complete run of this experiment leaves it.
pub fn read(dir: &Path, experiment: &dyn Experiment) -> io::Result<Option<Vec<Row>>> {
    match fs::read_to_string(csv_path(dir, experiment)) {
        Ok(text) => {
            let rows = csv::read(&text, experiment)?;
            let complete = check::complete(experiment, &rows);
            complete.map_err(|what| csv::wrong(experiment, &what))?;
            Ok(Some(rows))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The versions of the program that made the rows of an experiment; empty if there are none.
///
/// # Errors
/// As [`read`].
pub fn versions(dir: &Path, experiment: &dyn Experiment) -> io::Result<BTreeSet<String>> {
    match fs::read_to_string(csv_path(dir, experiment)) {
        Ok(text) => csv::versions(&text, experiment),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "../store_tests.rs"]
mod tests;
