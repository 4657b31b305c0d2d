//! Scenarios: what Python says, as experiments of the lab.

use std::io;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use whimbrel_lab::runner::Sweep;
use whimbrel_lab::{Cell, Experiment, Papers, Value, figures, own};

use crate::sweep::choose_seeds;

/// What a caller has to change.
pub(crate) fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The experiment of a name and a text, or the one of a paper's that bears the name.
pub(crate) fn open(name: &str, text: Option<&str>) -> PyResult<Box<dyn Experiment>> {
    let papers = Papers::load().map_err(wrong)?;
    let Some(text) = text else {
        let mut found = figures::named(&papers, &[name.to_owned()]).map_err(wrong)?;
        if found.len() > 1 {
            let all: Vec<&str> = found.iter().map(|experiment| experiment.name()).collect();
            return Err(wrong(format!(
                "{name} is {} experiments, and a table has one: {}",
                all.len(),
                all.join(", ")
            )));
        }
        return found.pop().ok_or_else(|| wrong(format!("{name} is no experiment")));
    };
    if figures::is_taken(&papers, name).map_err(wrong)? {
        return Err(wrong(format!("a paper or an experiment of one is called {name}; take another name")));
    }
    let source = format!("{name}.toml");
    if own::name(&source) != name {
        return Err(wrong(format!("{name:?} cannot be the name of a file, which a scenario's must be")));
    }
    own::load(&source, text).map_err(wrong)
}

/// The names of the papers' experiments, and their titles.
#[pyfunction]
pub(crate) fn experiments() -> PyResult<Vec<(String, String)>> {
    let papers = Papers::load().map_err(wrong)?;
    let all = figures::all(&papers).map_err(wrong)?;
    Ok(all.iter().map(|experiment| (experiment.name().to_owned(), experiment.title())).collect())
}

/// The name and the text of a scenario file.
#[pyfunction]
pub(crate) fn read(path: PathBuf) -> PyResult<(String, String)> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let text = own::read(&path).map_err(named)?;
    Ok((own::name(&path.to_string_lossy()), text))
}

/// The text of a scenario that is JSON.
#[pyfunction]
pub(crate) fn text(json: &str) -> PyResult<String> {
    let table: toml::Table = serde_json::from_str(json).map_err(wrong)?;
    toml::to_string(&table).map_err(wrong)
}

/// A value of an axis as Python has it.
#[derive(IntoPyObject)]
pub(crate) enum Plain {
    Integer(i64),
    Number(f64),
    Word(String),
}

impl From<Value> for Plain {
    fn from(value: Value) -> Self {
        match value {
            Value::Integer(value) => Self::Integer(value),
            Value::Number(value) => Self::Number(value),
            Value::Word(value) => Self::Word(value),
        }
    }
}

/// A series, and values by axis.
type Place = (String, Vec<(String, Plain)>);

/// All cells of a scenario, with the number of the first repetition of each and how many there are.
#[pyfunction]
#[pyo3(signature = (name, text, seeds))]
pub(crate) fn cells(
    name: &str,
    text: Option<&str>,
    seeds: Option<(u64, u64)>,
) -> PyResult<(Vec<Place>, u64, u64)> {
    let experiment = open(name, text)?;
    let mut sweep = Sweep::whole(&*experiment, 1);
    choose_seeds(&mut sweep, seeds)?;
    let place = |cell: Cell| {
        let axes = cell.axes.into_iter().map(|(axis, value)| (axis.into_owned(), value.into()));
        (cell.series.into_owned(), axes.collect())
    };
    Ok((sweep.cells.into_values().map(place).collect(), sweep.first, sweep.repetitions))
}
