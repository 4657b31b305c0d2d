use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::{csv, csv_path, parquet, parquet_path, parse, text};
use crate::experiment::Experiment;
use crate::runner::Sweep;

/// What an earlier run to its end, by this program and with this set-up, has left where the rows of an experiment belong.
#[derive(Debug)]
pub struct Earlier {
    /// How many rows there are.
    pub rows: usize,
    /// The numbers of the repetitions.
    pub repetitions: BTreeSet<u64>,
    /// Whether there is a whole Parquet file, too.
    has_columns: bool,
}

impl Earlier {
    /// Looks into `dir`; `None` if there is nothing, or nothing that is still worth anything.
    ///
    /// # Errors
    /// What the file system says, or that a table is there that is not the lab's.
    pub fn find(dir: &Path, experiment: &dyn Experiment) -> io::Result<Option<Self>> {
        let path = csv_path(dir, experiment);
        let Some(text) = text(&path)? else { return Ok(None) };
        if !text.is_empty() && !text.starts_with(csv::BEGINNING) {
            let what =
                format!("{} is no table of the lab's; move it, or name another directory", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        let own = BTreeSet::from([experiment.version()]);
        let of_this = csv::versions(&text, experiment).is_ok_and(|versions| versions == own);
        let rows = parse(&text, experiment).ok().filter(|_| of_this);
        Ok(rows.map(|rows| Self {
            rows: rows.len(),
            repetitions: rows.iter().map(|row| row.repetition).collect(),
            has_columns: parquet::is_whole(&parquet_path(dir, experiment)),
        }))
    }

    /// Whether it has repetitions that the sweep has not: they would be lost to it.
    pub fn goes_beyond(&self, sweep: &Sweep) -> bool {
        !self.repetitions.iter().all(|number| sweep.numbers().contains(number))
    }

    /// Whether it is all that the sweep would make.
    pub fn is_all_of(&self, sweep: &Sweep) -> bool {
        self.has_columns && self.repetitions.iter().copied().eq(sweep.numbers())
    }
}
