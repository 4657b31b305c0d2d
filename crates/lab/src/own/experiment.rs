//! A scenario file as an experiment.

use std::path::Path;

use toml::{Table, Value as Toml};

use super::file::{File, PolicyName, put};
use super::limits;
use super::sweep::{Axis, axes};
use super::world::Place;
use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, Sample, Watch};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Scenario};

const METRICS: [(&str, &str); 4] = [
    ("goodput", "bit/s; user data delivered to the mobile node, over the duration"),
    ("longest_silence", "s; the longest time in which no user data reached the mobile node"),
    ("moves", "how often new data took another path"),
    ("retransmitted", "share of DATA chunks that were sent more than once"),
];

struct Own {
    name: String,
    source: String,
    text: String,
    table: Table,
    policies: Vec<PolicyName>,
    sweep: Vec<Axis>,
    scenario: Scenario,
}

/// What results of a file are called: its name without directory and extension.
pub fn name(source: &str) -> String {
    Path::new(source).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The experiment in a scenario file; `source` is its path, `text` what is in it.
///
/// # Errors
/// What is wrong with the file.
pub fn load(source: &str, text: &str) -> Result<Box<dyn Experiment>, DataError> {
    let name = &*name(source);
    let wrong = |error: toml::de::Error| DataError(format!("{name}: {error}"));
    let table: Table = text.parse().map_err(wrong)?;
    let file: File = toml::from_str(text).map_err(wrong)?;
    let broken = |error: String| DataError(format!("{name}: {error}"));
    limits::check(&file).map_err(broken)?;
    let sweep = axes(&file.sweep, file.policies.len()).map_err(broken)?;
    let scenario = scenario(name, &file);
    let (source, text) = (source.to_owned(), text.to_owned());
    let own = Own { name: name.to_owned(), source, text, table, policies: file.policies, sweep, scenario };
    // Every cell must make sense before anything is run.
    own.cells().iter().try_for_each(|cell| own.file(cell).map(|_| ()))?;
    Ok(Box::new(own))
}

fn scenario(name: &str, file: &File) -> Scenario {
    let mut table = Table::new();
    table.insert("title".to_owned(), file.title.clone().into());
    table.insert("paper".to_owned(), name.into());
    table.insert("figures".to_owned(), Toml::Array(vec![name.into()]));
    let leaf = |value: Toml| {
        Toml::Table(Table::from_iter([("v".to_owned(), value), ("src".to_owned(), name.into())]))
    };
    table.insert(
        "run".to_owned(),
        Toml::Table(Table::from_iter([("repetitions".to_owned(), leaf((file.repetitions as i64).into()))])),
    );
    let axes = file.sweep.iter().map(|(path, values)| (path.clone(), leaf(Toml::Array(values.clone()))));
    table.insert("axes".to_owned(), Toml::Table(axes.collect()));
    let metrics = METRICS.iter().map(|(metric, what)| ((*metric).to_owned(), Toml::from(*what)));
    table.insert("metrics".to_owned(), Toml::Table(metrics.collect()));
    Scenario::of_table(name, table)
}

impl Own {
    /// The file with a cell's values in it.
    fn file(&self, cell: &Cell) -> Result<File, DataError> {
        let mut table = self.table.clone();
        for axis in &self.sweep {
            let wanted = cell.get(&axis.path);
            if let Some((_, raw)) = axis.values.iter().find(|(value, _)| Some(value) == wanted) {
                put(&mut table, &axis.path, raw)?;
            }
        }
        let wrong = |error: String| DataError(format!("{}, {}: {error}", self.name, cell.label()));
        let file: File = table.try_into().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
        // What is swept may lead out of the limits that the file itself keeps.
        limits::check(&file).map_err(wrong)?;
        Ok(file)
    }

    fn places(&self) -> Vec<Axes> {
        let mut places = vec![Axes::new()];
        for axis in &self.sweep {
            let longer = places.iter().flat_map(|place| {
                axis.values.iter().map(move |(value, _)| {
                    let mut place = place.clone();
                    place.push((axis.path.clone().into(), value.clone()));
                    place
                })
            });
            places = longer.collect();
        }
        places
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

    fn axes(&self) -> Vec<Name> {
        self.sweep.iter().map(|axis| axis.path.clone().into()).collect()
    }

    fn metrics(&self) -> Vec<Name> {
        METRICS.iter().map(|(name, _)| (*name).into()).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let series = self.policies.iter().map(|policy| Name::from(policy.name()));
        series
            .flat_map(|series| {
                self.places().into_iter().map(move |axes| Cell { series: series.clone(), axes })
            })
            .collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let policy = self.policies.iter().copied().find(|policy| policy.name() == cell.series);
        let (Ok(file), Some(policy)) = (self.file(cell), policy) else { return Outcome::default() };
        let mut place = Place::new(&file, policy, seed);
        if let Some(trace) = watch.trace {
            place.world.trace_to(trace);
        }
        if let Some(pcap) = watch.pcap {
            let names: Vec<String> =
                (0..place.access.len()).map(|number| format!("network {number}")).collect();
            let links: Vec<_> = place.access.iter().copied().zip(names.iter().map(String::as_str)).collect();
            let _ = place.world.capture(&links, pcap);
        }
        place.world.run_until(place.end);
        let _ = place.world.finish();
        let mut sample = Sample::default();
        let reader = place.world.app(place.mn);
        sample.put("goodput", reader.received as f64 * 8.0 / file.duration);
        sample.put("longest_silence", reader.longest_silence(place.end).as_secs_f64());
        let sender = place.world.app(place.cn);
        sample.put("moves", sender.uses.len().saturating_sub(1) as f64);
        let paths =
            sender.association().map(|id| place.world.machine(place.cn).paths(id)).unwrap_or_default();
        let sum = |of: fn(&whimbrel_proto::PathCounters) -> u64| {
            paths.iter().map(|path| of(&path.counters)).sum::<u64>()
        };
        let (new, again) = (sum(|counters| counters.data_sent), sum(|counters| counters.data_retransmitted));
        sample.put("retransmitted", again as f64 / new.max(1) as f64);
        Outcome::of(sample, place.world.trace_hash())
    }

    fn plots(&self) -> Vec<Plot> {
        let numeric = |axis: &&Axis| axis.values.iter().all(|(value, _)| value.number().is_some());
        let Some(Axis { path: across, .. }) = self.sweep.iter().find(numeric) else { return Vec::new() };
        let mut lines = Vec::new();
        for policy in &self.policies {
            for place in self.places() {
                let at: Axes = place.into_iter().filter(|(axis, _)| axis != across).collect();
                let label = at.iter().fold(policy.name().to_owned(), |label, (axis, value)| {
                    format!("{label}, {axis} = {value}")
                });
                let line = Line { label, series: policy.name().into(), at };
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        let panel = |figure, metric, label, factor| Plot {
            figure,
            title: format!("{}: {metric}", self.scenario.title()),
            x: Quantity {
                of: crate::plot::Source::Axis(across.clone().into()),
                label: across.clone().into(),
                ..Quantity::axis("", "")
            },
            y: Quantity::metric(metric, label).times(factor),
            lines: lines.clone(),
        };
        vec![
            panel("1", "goodput", "goodput (Mbit/s)", 1e-6),
            panel("2", "longest_silence", "longest silence (s)", 1.0),
        ]
    }

    fn seed(&self, repetition: u64) -> u64 {
        900_000_000 + repetition
    }
}
