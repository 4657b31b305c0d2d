//! Rows as Arrow's columns, which carry their unit and definition (`schema.field(NAME).metadata` in pyarrow).

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema};

use crate::experiment::{Cell, Experiment, Row};
use crate::meaning::Meaning;
use crate::value::Value;

pub(super) fn of(experiment: &dyn Experiment, rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    let words = |of: &dyn Fn(&Row) -> String| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row))).collect::<StringArray>())
    };
    let integers = |of: &dyn Fn(&Row) -> u64| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row) as i64)).collect::<Int64Array>())
    };
    let says = |text: &str| Meaning::parse(text);
    let cells = experiment.cells();
    let version = experiment.version();
    let mut columns = vec![
        ("figure".into(), says("experiment"), words(&|_| experiment.name().to_owned())),
        ("series".into(), series(experiment), words(&|row| row.series.to_string())),
    ];
    for axis in experiment.axes() {
        let of = |row: &Row| row.axes.iter().find(|(name, _)| *name == axis).map(|(_, value)| value.clone());
        let column = axis_column(&known_values(experiment, &cells, &axis), rows.iter().map(of).collect());
        columns.push((axis.clone(), experiment.meaning(&axis), column));
    }
    columns.extend([
        ("repetition".into(), says("number of the repetition, from 0"), integers(&|row| row.repetition)),
        ("seed".into(), says("what its random numbers come from"), integers(&|row| row.seed)),
        ("version".into(), says("program, its sources and set-up"), words(&|_| version.clone())),
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

/// What can stand on an axis, as far as that is known without rows.
fn known_values(experiment: &dyn Experiment, cells: &[Cell], axis: &str) -> Vec<Value> {
    let swept: Vec<Value> = cells.iter().filter_map(|cell| cell.get(axis)).cloned().collect();
    if swept.is_empty() { experiment.values(axis) } else { swept }
}

/// Whole numbers if all are, numbers if all are, words otherwise. What is known of the sweep decides with the rows, so that the rows of a part
/// of it have the types of the whole.
fn axis_column(known: &[Value], values: Vec<Option<Value>>) -> ArrayRef {
    let all = |is: fn(&Value) -> bool| known.iter().chain(values.iter().flatten()).all(is);
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
#[path = "columns_tests.rs"]
mod tests;
