//! Rows as comma-separated values (RFC 4180). What is missing is empty.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::experiment::{Axes, Experiment, Name, Row};
use crate::unseen::is_unseen;
use crate::value::Value;

/// What every table of the lab's begins with.
pub(super) const BEGINNING: &str = "figure,series,";

/// The names of all columns.
fn header(experiment: &dyn Experiment) -> Vec<Name> {
    let before = ["figure", "series"].map(Name::from);
    let after = ["repetition", "seed", "version"].map(Name::from);
    before.into_iter().chain(experiment.axes()).chain(after).chain(experiment.metrics()).collect()
}

pub(super) fn write(out: &mut impl Write, experiment: &dyn Experiment, rows: &[Row]) -> io::Result<()> {
    writeln!(out, "{}", header(experiment).join(","))?;
    let (axes, metrics) = (experiment.axes(), experiment.metrics());
    let version = experiment.version();
    for row in rows {
        write!(out, "{},{}", experiment.name(), field(&row.series))?;
        for axis in &axes {
            let value = row.axes.iter().find(|(name, _)| name == axis);
            write!(out, ",{}", value.map(|(_, value)| field(&value.to_string())).unwrap_or_default())?;
        }
        write!(out, ",{},{},{version}", row.repetition, row.seed)?;
        for metric in &metrics {
            let value = row.metrics.iter().find(|(name, value)| name == metric && value.is_finite());
            write!(out, ",{}", value.map(|(_, value)| value.to_string()).unwrap_or_default())?;
        }
        writeln!(out)?;
    }
    out.flush()
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// That the results of an experiment are not as they were written.
pub(super) fn wrong(experiment: &dyn Experiment, what: &str) -> io::Error {
    let (name, word) = (experiment.name(), experiment.on_command_line());
    io::Error::new(io::ErrorKind::InvalidData, format!("{name}.csv: {what}; run {word} again"))
}

/// The lines after the header.
fn lines<'a>(text: &'a str, experiment: &dyn Experiment) -> io::Result<std::str::Lines<'a>> {
    let mut lines = text.lines();
    let expected = header(experiment).join(",");
    if lines.next() != Some(&expected) {
        return Err(wrong(experiment, "these results have other columns than this version makes"));
    }
    if !text.ends_with('\n') {
        return Err(wrong(experiment, "the last line is cut off"));
    }
    Ok(lines)
}

pub(super) fn read(text: &str, experiment: &dyn Experiment) -> io::Result<Vec<Row>> {
    let unreadable = |line: usize| wrong(experiment, &format!("line {line} cannot be read"));
    let rows = (2..).zip(lines(text, experiment)?);
    rows.map(|(number, line)| row(line, experiment).ok_or_else(|| unreadable(number))).collect()
}

/// What the lines say of the program that made them.
pub(super) fn versions(text: &str, experiment: &dyn Experiment) -> io::Result<BTreeSet<String>> {
    let column = header(experiment).iter().position(|name| name == "version");
    let version = |line: &str| column.and_then(|column| split(line).into_iter().nth(column));
    let versions: BTreeSet<String> = lines(text, experiment)?.filter_map(version).collect();
    match versions.iter().find(|version| version.chars().any(is_unseen)) {
        Some(version) => Err(wrong(experiment, &format!("{version:?} is no version of the program"))),
        None => Ok(versions),
    }
}

fn row(line: &str, experiment: &dyn Experiment) -> Option<Row> {
    let mut fields = split(line).into_iter();
    fields.next().filter(|figure| figure == experiment.name())?;
    let series = fields.next()?.into();
    let mut axes = Axes::new();
    for axis in experiment.axes() {
        let text = fields.next()?;
        if !text.is_empty() {
            let value = Value::parse(&text);
            // The sweep's own value, so that a word that looks like a number stays a word.
            let known = experiment.scenario().axis(&axis).into_iter().find(|v| v.to_string() == text);
            axes.push((axis, known.unwrap_or(value)));
        }
    }
    // Further ones would have the seeds of another experiment.
    let repetition = fields.next()?.parse().ok().filter(|repetition| *repetition < 1_000_000)?;
    let seed = fields.next()?.parse().ok()?;
    fields.next()?;
    let mut metrics = Vec::new();
    for metric in experiment.metrics() {
        let text = fields.next()?;
        if !text.is_empty() {
            metrics.push((metric, text.parse().ok().filter(|value: &f64| value.is_finite())?));
        }
    }
    if fields.next().is_some() {
        return None;
    }
    Some(Row { series, axes, repetition, seed, metrics })
}

fn split(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(core::mem::take(&mut field)),
            _ => field.push(letter),
        }
    }
    fields.push(field);
    fields
}
