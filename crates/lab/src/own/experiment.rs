//! A scenario file as an experiment.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use toml::{Table, Value as Toml};

use super::file::{File, put};
use super::measures::{self, METRICS};
use super::sources::{self, Sourced};
use super::sweep::{Axis, axes};
use super::unread::Unread;
use super::world::Place;
use super::{limits, plots, quantities};
use crate::Value;
use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, Watch, grid};
use crate::meaning::{Meaning, WHAT};
use crate::plot::Plot;
use crate::scenario::{DataError, Scenario};

struct Own {
    name: String,
    source: String,
    text: String,
    table: Table,
    /// Of what the text says, however it is written.
    mark: u32,
    policies: Vec<String>,
    sweep: Vec<Axis>,
    /// The names of the hosts, if the file names them: each run yields a row for each.
    hosts: Vec<String>,
    /// What is measured in any cell.
    metrics: Vec<(&'static str, &'static str)>,
    scenario: Scenario,
}

/// Bytes that a file with an experiment may have.
const LONGEST: u64 = 1 << 20;

/// The axis on which the hosts of a run stand.
pub(super) const HOST: &str = "host";

/// What results of a file are called: its name without directory and extension.
pub fn name(source: &str) -> String {
    Path::new(source).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What a file with an experiment says. Pipes and devices may never end, and what is longer than 1 MiB is something else.
///
/// # Errors
/// What the file system says, or that no experiment is in it.
pub fn read(file: &Path) -> io::Result<String> {
    let what = fs::metadata(file)?;
    let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    if !what.is_file() {
        return wrong("it is no regular file".to_owned());
    }
    if what.len() > LONGEST {
        return wrong(format!("it is longer than {LONGEST} bytes and no experiment"));
    }
    fs::read_to_string(file)
}

/// The experiment in a scenario file; `source` is its path, `text` what is in it.
///
/// # Errors
/// What is wrong with the file.
pub fn load(source: &str, text: &str) -> Result<Box<dyn Experiment>, DataError> {
    let name = &*name(source);
    let wrong = |error: toml::de::Error| DataError(format!("{name}: {}", said(&error)));
    let broken = |error: String| DataError(format!("{name}: {error}"));
    if text.len() as u64 > LONGEST {
        return Err(broken(format!("it is longer than {LONGEST} bytes and no experiment")));
    }
    let mut table: Table = text.parse().map_err(wrong)?;
    let sourced = sources::take(&mut table).map_err(broken)?;
    // What is read from the text itself is complained about with its line.
    let file = if sourced.is_empty() { toml::from_str(text) } else { table.clone().try_into() };
    let mut file: File = file.map_err(wrong)?;
    file.multiply().map_err(broken)?;
    limits::check_name("the file", name).map_err(broken)?;
    limits::check(&file).map_err(broken)?;
    let sweep = axes(&file.sweep, file.policies.len()).map_err(broken)?;
    let counts =
        |path: &str| path.starts_with("host.") && path.matches('.').count() == 2 && path.ends_with(".count");
    if let Some(axis) = sweep.iter().find(|axis| counts(&axis.path)) {
        return Err(broken(format!(
            "sweep: {} says how many rows a run yields, and cannot be swept",
            axis.path
        )));
    }
    let hosts = file.host.keys().cloned().collect();
    let mut own = Own {
        name: name.to_owned(),
        source: source.to_owned(),
        text: text.to_owned(),
        mark: crc32fast::hash(table.to_string().as_bytes()),
        table,
        scenario: Scenario::of_table(name, Table::new()),
        policies: file.policies.clone(),
        sweep,
        hosts,
        metrics: Vec::new(),
    };
    // Every cell must make sense before anything is run.
    let (mut measured, mut unread) = (BTreeSet::new(), Unread::default());
    for cell in own.cells() {
        let file = own.file(&cell)?;
        measures::of_file(&file, &mut measured);
        unread.look_at(&file);
    }
    unread.check().map_err(broken)?;
    own.metrics = METRICS.into_iter().filter(|(metric, _)| measured.contains(metric)).collect();
    own.scenario = scenario(name, &file, sourced, &own.metrics);
    Ok(Box::new(own))
}

/// What is wrong with a value, with the kinds of numbers as people call them.
fn said(error: &toml::de::Error) -> String {
    let kinds = [
        ("expected f64", "expected a number"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected u8", "expected a whole number from 0 to 255"),
    ];
    kinds.into_iter().fold(error.to_string(), |text, (kind, name)| text.replace(kind, name))
}

fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Toml)>) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn scenario(name: &str, file: &File, sourced: Vec<Sourced>, metrics: &[(&str, &str)]) -> Scenario {
    let axis = |(path, values): (&String, &Vec<Toml>)| {
        let Meaning { unit, definition } = quantities::at(path);
        let says = [
            ("v", Toml::Array(values.clone())),
            ("src", name.into()),
            ("u", unit.into()),
            (WHAT, definition.into()),
        ];
        let says = says.into_iter().filter(|(_, value)| value.as_str() != Some(""));
        (path.clone(), Toml::Table(table(says)))
    };
    let repetitions = table([("v", (file.repetitions as i64).into()), ("src", name.into())]);
    let mut all = table([
        ("title", file.title.clone().into()),
        ("paper", name.into()),
        ("figures", Toml::Array(vec![name.into()])),
        ("run", table([("repetitions", repetitions.into())]).into()),
        ("axes", Toml::Table(file.sweep.iter().map(axis).collect())),
        ("metrics", table(metrics.iter().map(|(metric, what)| (*metric, Toml::from(*what)))).into()),
    ]);
    for (place, leaf) in sourced {
        let (home, rest) = sources::home(&place);
        let home = all.entry(home).or_insert_with(|| Toml::Table(Table::new()));
        if let Some(home) = home.as_table_mut() {
            home.insert(rest.to_owned(), Toml::Table(leaf));
        }
    }
    Scenario::of_table(name, all)
}

impl Own {
    /// The file with a cell's values in it.
    fn file(&self, cell: &Cell) -> Result<File, DataError> {
        let mut file = Toml::Table(self.table.clone());
        for axis in &self.sweep {
            let wanted = cell.get(&axis.path);
            if let Some((_, raw)) = axis.values.iter().find(|(value, _)| Some(value) == wanted) {
                put(&mut file, &axis.path, raw)
                    .map_err(|DataError(error)| DataError(format!("{}: {error}", self.name)))?;
            }
        }
        let wrong = |error: String| DataError(format!("{}, {}: {error}", self.name, cell.label()));
        let mut file: File = file.try_into().map_err(|error: toml::de::Error| wrong(said(&error)))?;
        file.multiply().map_err(wrong)?;
        // What is swept may lead out of the limits that the file itself keeps.
        limits::check(&file).map_err(wrong)?;
        Ok(file)
    }

    fn places(&self) -> Vec<Axes> {
        let values = |axis: &Axis| axis.values.iter().map(|(value, _)| value.clone()).collect();
        grid(&self.sweep.iter().map(|axis| (axis.path.clone(), values(axis))).collect::<Vec<_>>())
    }
}

impl Experiment for Own {
    fn name(&self) -> &str {
        &self.name
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn on_command_line(&self) -> &str {
        &self.source
    }

    fn set_up(&self) -> String {
        self.text.clone()
    }

    fn version(&self) -> String {
        format!("{}.{:08x}", crate::VERSION, self.mark)
    }

    fn axes(&self) -> Vec<Name> {
        let host = (!self.hosts.is_empty()).then_some(HOST.into());
        self.sweep.iter().map(|axis| axis.path.clone().into()).chain(host).collect()
    }

    fn values(&self, axis: &str) -> Vec<Value> {
        if axis == HOST {
            return self.hosts.iter().map(|host| host.as_str().into()).collect();
        }
        self.scenario.axis(axis)
    }

    fn meaning(&self, column: &str) -> Meaning {
        if column == HOST {
            return Meaning::parse("host whose row it is");
        }
        self.scenario.meaning(column).unwrap_or_default()
    }

    fn metrics(&self) -> Vec<Name> {
        self.metrics.iter().map(|(name, _)| (*name).into()).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let series = self.policies.iter().map(|policy| Name::from(policy.clone()));
        series
            .flat_map(|series| {
                self.places().into_iter().map(move |axes| Cell { series: series.clone(), axes })
            })
            .collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let Ok(file) = self.file(cell) else { return Outcome::default() };
        let Ok(mut place) = Place::new(&file, &cell.series, seed) else { return Outcome::default() };
        let links: Vec<_> = place.networks.iter().map(|network| (network.link, network.name)).collect();
        let _ = watch.record(&mut place.world, &links);
        place.run();
        let _ = place.world.finish();
        let samples = place.residents.iter().map(|resident| {
            let mut sample = place.sample(resident);
            if !resident.name.is_empty() {
                sample.axes.push((HOST.into(), resident.name.into()));
            }
            sample
        });
        Outcome { samples: samples.collect(), fingerprint: place.world.trace_hash() }
    }

    fn plots(&self) -> Vec<Plot> {
        let numeric = self.sweep.iter().find(|axis| axis.is_numeric());
        let Some(Axis { path: across, .. }) = numeric.or(self.sweep.first()) else { return Vec::new() };
        let metrics = self.metrics.iter().map(|(metric, _)| *metric);
        plots::of(
            self.scenario.title(),
            across,
            metrics,
            plots::lines(&self.policies, &self.places(), across, &self.hosts),
        )
    }

    fn seed(&self, repetition: u64) -> u64 {
        900_000_000 + repetition
    }
}
