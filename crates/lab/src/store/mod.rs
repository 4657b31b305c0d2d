//! Results on disk: rows as CSV and Parquet, a journal from which an interrupted sweep goes on, and shards, which are parts of sweeps.

mod check;
mod columns;
mod csv;
mod earlier;
mod journal;
mod lock;
mod missing;
mod parquet;
mod runs;
mod several_rows;
mod shards;
mod text;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;

use crate::experiment::{Experiment, Row};

pub use earlier::Earlier;
pub use journal::Journal;
pub use lock::Lock;
pub use shards::{MergeError, Shards, Whole, in_the_way};
pub(crate) use text::text;

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
    let columns = Fresh::create(parquet_path(dir, experiment))?;
    parquet::write(&columns.file, experiment, rows)?;
    // The table last: that it is there says that both are.
    columns.put_in_place()?;
    table.put_in_place()?;
    Ok(())
}

/// All rows of an experiment as an Arrow IPC stream, with the columns of [`write()`]'s Parquet file.
///
/// # Errors
/// What Arrow says of the rows.
pub fn arrow_stream(experiment: &dyn Experiment, rows: &[Row]) -> io::Result<Vec<u8>> {
    let stream = |table: &RecordBatch| {
        let mut stream = StreamWriter::try_new(Vec::new(), &table.schema())?;
        stream.write(table)?;
        stream.into_inner()
    };
    columns::of(experiment, rows).and_then(|table| stream(&table)).map_err(io::Error::other)
}

fn parquet_path(dir: &Path, experiment: &dyn Experiment) -> PathBuf {
    dir.join(format!("{}.parquet", experiment.name()))
}

/// Writes what a user wants to have in a file of his choice: whole or not at all if it is a regular file or none yet. A link is
/// followed; a pipe, a terminal or another device (`/dev/stdout`) is written to as it is.
///
/// # Errors
/// What the file system says, or that it is a directory.
pub fn write_to(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let there = fs::metadata(path).ok();
    if there.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a directory"));
    }
    let special = there.as_ref().is_some_and(|there| !there.is_file());
    // What the program writes to already may well be a regular file, which must not be taken away from under it.
    let open = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|open| path.starts_with(open));
    if special || open {
        return File::options().append(true).open(path)?.write_all(bytes);
    }
    let path = if there.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let mut fresh = Fresh::create(path)?;
    fresh.file.write_all(bytes)?;
    fresh.put_in_place()?;
    Ok(())
}

/// A file that takes the place of another one when it is complete. Nobody finds half of it, and what stands there may be a link: it is
/// replaced, and what it leads to stays as it is.
struct Fresh {
    beside: Beside,
    path: PathBuf,
    file: File,
}

/// The name of a file that has no other name yet, and goes if it never gets one.
struct Beside(PathBuf);

impl Drop for Beside {
    fn drop(&mut self) {
        // There is none any more once it is in place.
        let _ = fs::remove_file(&self.0);
    }
}

impl Fresh {
    fn create(path: PathBuf) -> io::Result<Self> {
        let mut beside = path.clone().into_os_string();
        beside.push(".whimbrel-new");
        let beside = PathBuf::from(beside);
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let file = File::create_new(&beside).map_err(named)?;
        Ok(Self { beside: Beside(beside), path, file })
    }

    fn put_in_place(self) -> io::Result<File> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display()));
        fs::rename(&self.beside.0, &self.path).map_err(named)?;
        Ok(self.file)
    }
}

/// Reads the rows of an experiment; `None` if there are none.
///
/// # Errors
/// What the file system says, or that the file is not as a complete run of this experiment leaves it.
pub fn read(dir: &Path, experiment: &dyn Experiment) -> io::Result<Option<Vec<Row>>> {
    text(&csv_path(dir, experiment))?.map(|text| parse(&text, experiment)).transpose()
}

/// The rows of a file, which must be as a complete run of this experiment leaves them.
fn parse(text: &str, experiment: &dyn Experiment) -> io::Result<Vec<Row>> {
    let rows = csv::read(text, experiment)?;
    let own = experiment.version();
    if csv::versions(text, experiment)?.iter().any(|version| set_up(version) != set_up(&own)) {
        return Err(csv::wrong(experiment, "these rows were made with another text of the file"));
    }
    let complete = check::complete(experiment, &rows);
    complete.map_err(|what| csv::wrong(experiment, &what))?;
    Ok(rows)
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
