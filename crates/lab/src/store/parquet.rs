//! Rows as Parquet, for pandas, DuckDB and the like. Columns carry their unit and definition (`schema.field(NAME).metadata` in pyarrow).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema};
use parquet::arrow::ArrowWriter;

use crate::experiment::{Experiment, Row};
use crate::meaning::Meaning;
use crate::value::Value;

pub(super) fn write(out: impl Write + Send, experiment: &dyn Experiment, rows: &[Row]) -> io::Result<()> {
    let table = table(experiment, rows).map_err(io::Error::other)?;
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

fn table(experiment: &dyn Experiment, rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    let words = |of: &dyn Fn(&Row) -> String| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row))).collect::<StringArray>())
    };
    let integers = |of: &dyn Fn(&Row) -> u64| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row) as i64)).collect::<Int64Array>())
    };
    let says = |text: &str| Meaning::parse(text);
    let mut columns = vec![
        ("figure".into(), says("experiment"), words(&|_| experiment.name().to_owned())),
        ("series".into(), series(experiment), words(&|row| row.series.to_string())),
    ];
    for axis in experiment.axes() {
        let of = |row: &Row| row.axes.iter().find(|(name, _)| *name == axis).map(|(_, value)| value.clone());
        let column = axis_column(rows.iter().map(of).collect());
        columns.push((axis.clone(), experiment.meaning(&axis), column));
    }
    columns.extend([
        ("repetition".into(), says("number of the repetition, from 0"), integers(&|row| row.repetition)),
        ("seed".into(), says("what its random numbers come from"), integers(&|row| row.seed)),
        ("version".into(), says("program, its sources and set-up"), words(&|_| experiment.version())),
    ]);
    for metric in experiment.metrics() {
        let of =
            |row: &Row| row.metrics.iter().find(|(name, v)| *name == metric && v.is_finite()).map(|m| m.1);
        let column = Arc::new(rows.iter().map(of).collect::<Float64Array>());
        columns.push((metric.clone(), experiment.meaning(&metric), column));
    }
    let field = |(name, Meaning { unit, definition }, column): &(crate::Name, Meaning, ArrayRef)| {
        let says =
            [("unit", unit), ("definition", definition)].into_iter().filter(|(_, text)| !text.is_empty());
        let field = Field::new(name.to_string(), column.data_type().clone(), true);
        field.with_metadata(says.map(|(key, text)| (key, text.as_str())).collect::<arrow_schema::Metadata>())
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, _, column)| column).collect())
}

/// What the series of an experiment are.
fn series(experiment: &dyn Experiment) -> Meaning {
    let named = |(name, what): (crate::Name, &str)| format!("; {name}: {what}");
    let others: String = experiment.series().into_iter().map(named).collect();
    let definition = format!("what is compared{others}");
    Meaning { definition, ..Meaning::default() }
}

/// Whole numbers if all are, numbers if all are, words otherwise.
fn axis_column(values: Vec<Option<Value>>) -> ArrayRef {
    let all = |is: fn(&Value) -> bool| values.iter().flatten().all(is);
    if all(|value| matches!(value, Value::Integer(_))) {
        let whole = |value: Value| value.number().map(|number| number as i64);
        Arc::new(values.into_iter().map(|value| value.and_then(whole)).collect::<Int64Array>())
    } else if all(|value| value.number().is_some()) {
        Arc::new(values.into_iter().map(|value| value.and_then(|v| v.number())).collect::<Float64Array>())
    } else {
        Arc::new(values.into_iter().map(|value| value.map(|v| v.to_string())).collect::<StringArray>())
    }
}

#[cfg(test)]
#[path = "parquet_tests.rs"]
mod tests;
