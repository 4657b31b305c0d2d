//! Rows as Parquet, for pandas, DuckDB and the like.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::experiment::{Experiment, Row};
use crate::value::Value;

/// A column: its values, with nothing where a row lacks it.
enum Column {
    Words(Vec<Option<String>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
}

pub(super) fn write(out: impl Write + Send, experiment: &dyn Experiment, rows: &[Row]) -> io::Result<()> {
    write_columns(out, &columns(experiment, rows)).map_err(io::Error::other)
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

fn columns(experiment: &dyn Experiment, rows: &[Row]) -> Vec<(String, Column)> {
    let words = |of: &dyn Fn(&Row) -> String| Column::Words(rows.iter().map(|row| Some(of(row))).collect());
    let mut columns = vec![
        ("figure".to_owned(), words(&|_| experiment.name().to_owned())),
        ("series".to_owned(), words(&|row| row.series.to_string())),
    ];
    for axis in experiment.axes() {
        let of = |row: &Row| row.axes.iter().find(|(name, _)| *name == axis).map(|(_, value)| value.clone());
        columns.push((axis.to_string(), axis_column(rows.iter().map(of).collect())));
    }
    let integers =
        |of: &dyn Fn(&Row) -> u64| Column::Integers(rows.iter().map(|row| Some(of(row) as i64)).collect());
    columns.push(("repetition".to_owned(), integers(&|row| row.repetition)));
    columns.push(("seed".to_owned(), integers(&|row| row.seed)));
    columns.push(("version".to_owned(), words(&|_| experiment.version())));
    for metric in experiment.metrics() {
        let of =
            |row: &Row| row.metrics.iter().find(|(name, v)| *name == metric && v.is_finite()).map(|m| m.1);
        columns.push((metric.to_string(), Column::Numbers(rows.iter().map(of).collect())));
    }
    columns
}

/// Whole numbers if all are, numbers if all are, words otherwise.
fn axis_column(values: Vec<Option<Value>>) -> Column {
    let all = |is: fn(&Value) -> bool| values.iter().flatten().all(is);
    if all(|value| matches!(value, Value::Integer(_))) {
        let whole = |value: Value| value.number().map(|number| number as i64);
        Column::Integers(values.into_iter().map(|value| value.and_then(whole)).collect())
    } else if all(|value| value.number().is_some()) {
        Column::Numbers(values.into_iter().map(|value| value.and_then(|v| v.number())).collect())
    } else {
        Column::Words(values.into_iter().map(|value| value.map(|v| v.to_string())).collect())
    }
}

fn write_columns(out: impl Write + Send, columns: &[(String, Column)]) -> Result<(), ParquetError> {
    let fields = columns.iter().map(|(name, column)| column.field(name).map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?);
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(out, schema, properties)?;
    let mut group = file.next_row_group()?;
    for (_, column) in columns {
        if let Some(writer) = group.next_column()? {
            column.write(writer)?;
        }
    }
    group.close()?;
    file.close()?;
    Ok(())
}

impl Column {
    fn field(&self, name: &str) -> Result<Type, ParquetError> {
        let physical = match self {
            Self::Words(_) => Physical::BYTE_ARRAY,
            Self::Integers(_) => Physical::INT64,
            Self::Numbers(_) => Physical::DOUBLE,
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        match self {
            Self::Words(_) => field
                .with_converted_type(ConvertedType::UTF8)
                .with_logical_type(Some(LogicalType::String))
                .build(),
            _ => field.build(),
        }
    }

    fn write(&self, mut writer: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Self::Words(values) => {
                let bytes: Vec<ByteArray> =
                    values.iter().flatten().map(|word| word.as_str().into()).collect();
                writer.typed::<ByteArrayType>().write_batch(&bytes, Some(&levels(values)), None)?;
            }
            Self::Integers(values) => {
                let whole: Vec<i64> = values.iter().flatten().copied().collect();
                writer.typed::<Int64Type>().write_batch(&whole, Some(&levels(values)), None)?;
            }
            Self::Numbers(values) => {
                let numbers: Vec<f64> = values.iter().flatten().copied().collect();
                writer.typed::<DoubleType>().write_batch(&numbers, Some(&levels(values)), None)?;
            }
        }
        writer.close()
    }
}

/// 1 where there is a value.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}
