//! Results on disk: rows as CSV and Parquet, and a journal from which an interrupted sweep goes on.

mod check;
mod csv;
mod journal;
mod lock;
mod parquet;
mod several_rows;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::experiment::{Experiment, Row};
use crate::runner::Sweep;

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
    let table = Fresh::create(csv_path(dir, experiment))?;
    csv::write(&mut BufWriter::new(&table.file), experiment, rows)?;
    let columns = Fresh::create(dir.join(format!("{}.parquet", experiment.name())))?;
    parquet::write(&columns.file, experiment, rows)?;
    table.put_in_place()?;
    columns.put_in_place()?;
    Ok(())
}

/// Writes a file whole, or not at all. What stands there may be a link: it is replaced, and what it leads to stays as it is.
///
/// # Errors
/// What the file system says, or that something stands there that is no file.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file() && !there.is_symlink()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut fresh = Fresh::create(path.to_owned())?;
    fresh.file.write_all(bytes)?;
    fresh.put_in_place()?;
    Ok(())
}

/// A file that takes the place of another one when it is complete. Nobody finds half of it, and what stands there may be a link: it is
/// replaced, and what it leads to stays as it is.
struct Fresh {
    beside: PathBuf,
    path: PathBuf,
    file: File,
}

impl Fresh {
    fn create(path: PathBuf) -> io::Result<Self> {
        let mut beside = path.clone().into_os_string();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", beside.display()));
        let file = File::create_new(&beside).map_err(named)?;
        Ok(Self { beside, path, file })
    }

    fn put_in_place(self) -> io::Result<File> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display()));
        fs::rename(&self.beside, &self.path).map_err(named)?;
        Ok(self.file)
    }
}

/// Reads the rows of an experiment; `None` if there are none.
///
/// # Errors
/// What the file system says, or that the file is not as a complete run of this experiment leaves it.
pub fn read(dir: &Path, experiment: &dyn Experiment) -> io::Result<Option<Vec<Row>>> {
    let Some(text) = text(&csv_path(dir, experiment))? else { return Ok(None) };
    let rows = csv::read(&text, experiment)?;
    let own = experiment.version();
    if csv::versions(&text, experiment)?.iter().any(|version| set_up(version) != set_up(&own)) {
        return Err(csv::wrong(experiment, "these rows were made with another text of the file"));
    }
    let complete = check::complete(experiment, &rows);
    complete.map_err(|what| csv::wrong(experiment, &what))?;
    Ok(Some(rows))
}

/// How many rows there are of a sweep that has been run to its end, by this program and with this set-up; `None` if it has not.
pub fn complete(dir: &Path, experiment: &dyn Experiment, sweep: &Sweep) -> Option<usize> {
    let rows = read(dir, experiment).ok()??;
    let of_this = versions(dir, experiment).ok()? == BTreeSet::from([experiment.version()]);
    let had: BTreeSet<u64> = rows.iter().map(|row| row.repetition).collect();
    let wanted = sweep.first..sweep.first + sweep.repetitions;
    (of_this && had.into_iter().eq(wanted)).then_some(rows.len())
}

/// What a file says; `None` if there is none. Pipes and devices may never end.
fn text(path: &Path) -> io::Result<Option<String>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(what) if !what.is_file() => {
            let what = format!("{} is no regular file", path.display());
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        }
        Ok(_) => fs::read_to_string(path).map(Some),
    }
}

/// The part of a version that stands for a set-up of one's own, if it has one.
fn set_up(version: &str) -> Option<&str> {
    version.split_once('+')?.1.split_once('.').map(|(_, set_up)| set_up)
}

/// The versions of the program that made the rows of an experiment; empty if there are none.
///
/// # Errors
/// As [`read`].
pub fn versions(dir: &Path, experiment: &dyn Experiment) -> io::Result<BTreeSet<String>> {
    match text(&csv_path(dir, experiment))? {
        Some(text) => csv::versions(&text, experiment),
        None => Ok(BTreeSet::new()),
    }
}

#[cfg(test)]
#[path = "../store_tests.rs"]
mod tests;
