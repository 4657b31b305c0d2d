//! Rows as Parquet, for pandas, DuckDB and the like. Columns carry their unit and definition (`schema.field(NAME).metadata` in pyarrow).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use parquet::arrow::ArrowWriter;

use super::columns;
use crate::experiment::{Experiment, Row};

pub(super) fn write(out: impl Write + Send, experiment: &dyn Experiment, rows: &[Row]) -> io::Result<()> {
    let table = columns::of(experiment, rows).map_err(io::Error::other)?;
    let mut file = ArrowWriter::try_new(out, table.schema(), None)?;
    file.write(&table)?;
    file.close()?;
    Ok(())
}

/// Whether a file has the beginning and the end of a Parquet file: one that was cut off has no end.
pub(super) fn is_whole(path: &Path) -> bool {
    const MAGIC: [u8; 4] = *b"PAR1";
    let ends = || -> io::Result<[[u8; 4]; 2]> {
        let mut ends = [[0; 4]; 2];
        let mut file = File::open(path)?;
        file.read_exact(&mut ends[0])?;
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut ends[1])?;
        Ok(ends)
    };
    path.is_file() && ends().is_ok_and(|ends| ends == [MAGIC; 2])
}

#[cfg(test)]
#[path = "parquet_tests.rs"]
mod tests;
