//! What an experiment is: a sweep over cells, each run several times with seeds of its own.

use std::borrow::Cow;
use std::io::{self, Write};

use whimbrel_machine::Machine;
use whimbrel_netsim::{App, LinkId, World};

use crate::meaning::Meaning;
use crate::plot::Plot;
use crate::scenario::Scenario;
use crate::summary::Group;
use crate::value::Value;

/// The name of an axis, a metric or a series.
pub type Name = Cow<'static, str>;
/// A place in a sweep: values by axis, in the order of the experiment's axes.
pub type Axes = Vec<(Name, Value)>;

/// The series with what the paper describes. Claims are checked on it, and on it alone.
pub const PAPER: &str = "paper";
/// The series with Whimbrel's own policy and profile in the same place.
pub const SEAMLESS: &str = "seamless";

/// Whether a series is [`SEAMLESS`] or a variant of it, whose name begins so. Others explain what the paper's does.
pub fn is_ours(series: &str) -> bool {
    series.starts_with(SEAMLESS)
}

/// An experiment of a paper: one file in `figures/`, one line in its list.
pub trait Experiment: Send + Sync {
    /// Its name on the command line and in files, such as `b08_fig07`.
    fn name(&self) -> &str;

    /// Its set-up, from `data/scenarios.toml`: claims name metrics by the scenario's name.
    fn scenario(&self) -> &Scenario;

    /// Set-ups that are the same runs and ask for other metrics of them.
    fn others(&self) -> &[Scenario] {
        &[]
    }

    /// The profiles of other protocols in its runs, beside that of its set-up.
    fn rivals(&self) -> &[&'static str] {
        &[]
    }

    /// Whether a set-up of this name is what its runs are.
    fn is_of(&self, scenario: &str) -> bool {
        self.scenario().id() == scenario || self.others().iter().any(|other| other.id() == scenario)
    }

    /// What it is about: the titles of its set-ups.
    fn title(&self) -> String {
        let all = core::iter::once(self.scenario()).chain(self.others());
        all.map(Scenario::title).collect::<Vec<_>>().join("; ")
    }

    /// The axes that rows have, in the order of columns. A row may lack some.
    fn axes(&self) -> Vec<Name>;

    /// The values on an axis, as far as they are known before anything runs. A run that has rows for some of them has rows for all.
    fn values(&self, axis: &str) -> Vec<Value> {
        self.scenario().axis(axis)
    }

    /// The metrics that rows have, in the order of columns.
    fn metrics(&self) -> Vec<Name>;

    /// What an axis or a metric means, in whichever of its set-ups that stands.
    fn meaning(&self, column: &str) -> Meaning {
        let all = core::iter::once(self.scenario()).chain(self.others());
        all.filter_map(|scenario| scenario.meaning(column)).next().unwrap_or_default()
    }

    /// All that is to be run.
    fn cells(&self) -> Vec<Cell>;

    /// Runs `cell` once. Equal seeds give equal outcomes, on every machine and whatever else runs.
    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome;

    /// Whether its runs are a network's, of which packets and events can be recorded.
    fn has_network(&self) -> bool {
        true
    }

    /// What is plotted.
    fn plots(&self) -> Vec<Plot>;

    /// What these results have that no chart of it shows, as sentences.
    fn remarks(&self, _groups: &[Group]) -> Vec<String> {
        Vec::new()
    }

    /// What its series are, besides [`PAPER`]: name and explanation.
    fn series(&self) -> Vec<(Name, &'static str)> {
        Vec::new()
    }

    /// How `whimbrel lab` is told of it: its name, or the file it comes from.
    fn on_command_line(&self) -> &str {
        self.name()
    }

    /// The subcommand of `whimbrel lab` that runs it, as a shell reads it.
    fn command(&self) -> String {
        format!("run {}", crate::command_line::quoted(self.on_command_line()))
    }

    /// Everything it is set up with, as text: runs of equal set-ups may be gathered, others not.
    fn set_up(&self) -> String {
        self.scenario().written()
    }

    /// Whether somebody wrote it who uses the lab: it is of no paper.
    fn is_own(&self) -> bool {
        self.on_command_line() != self.name()
    }

    /// What made its rows: the program, and the set-up where that is no part of it.
    fn version(&self) -> String {
        crate::VERSION.to_owned()
    }

    /// How often each cell is run unless told otherwise.
    fn repetitions(&self) -> u64 {
        self.scenario().repetitions()
    }

    /// The seed of a repetition, counted from 0: `1000000 * scenario number + repetition`.
    fn seed(&self, repetition: u64) -> u64 {
        1_000_000 * self.scenario().number() + repetition
    }
}

/// One point of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// [`PAPER`], [`SEAMLESS`] or another series of the experiment.
    pub series: Name,
    /// Its values. A cell of another series than the paper's may lack axes that mean nothing to it.
    pub axes: Axes,
}

impl Cell {
    /// A cell of the paper's series.
    pub fn paper(axes: Axes) -> Self {
        Self { series: PAPER.into(), axes }
    }

    /// The value on an axis, if the cell has one there.
    pub fn get(&self, axis: &str) -> Option<&Value> {
        self.axes.iter().find(|(name, _)| name == axis).map(|(_, value)| value)
    }

    /// The number on an axis; 0 if there is none.
    pub fn number(&self, axis: &str) -> f64 {
        self.get(axis).and_then(Value::number).unwrap_or_default()
    }

    /// The whole number on an axis, not below 0; 0 if there is none.
    pub fn count(&self, axis: &str) -> u32 {
        self.number(axis) as u32
    }

    /// The word on an axis, empty if there is none.
    pub fn word(&self, axis: &str) -> &str {
        self.get(axis).and_then(Value::word).unwrap_or_default()
    }

    /// As people write it: `paper pair=wlan-umts pmr=2`.
    pub fn label(&self) -> String {
        let mut label = self.series.to_string();
        for (name, value) in &self.axes {
            label.push_str(&format!(" {name}={value}"));
        }
        label
    }
}

/// Every combination of the values of these axes, the last axis running fastest.
pub fn grid<N: Clone + Into<Name>>(axes: &[(N, Vec<Value>)]) -> Vec<Axes> {
    let mut cells = vec![Axes::new()];
    for (name, values) in axes {
        let extend = |cell: &Axes| {
            let cell = cell.clone();
            values.iter().map(move |value| {
                let mut longer = cell.clone();
                longer.push((name.clone().into(), value.clone()));
                longer
            })
        };
        cells = cells.iter().flat_map(extend).collect::<Vec<_>>();
    }
    cells
}

/// What came of one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// Rows, at least one.
    pub samples: Vec<Sample>,
    /// Of everything that happened in the run ([`whimbrel_netsim::World::trace_hash`]); 0 if that was [not wanted](Fingerprint).
    pub fingerprint: u64,
}

impl Outcome {
    /// The outcome of a run that yields one row.
    pub fn of(sample: Sample, fingerprint: u64) -> Self {
        Self { samples: vec![sample], fingerprint }
    }
}

/// One row that a run yields.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sample {
    /// Axes that the cell does not have, because one run yields several rows.
    pub axes: Axes,
    /// What was measured. What is missing here, or not finite, is left out of means.
    pub metrics: Vec<(Name, f64)>,
}

impl Sample {
    /// Adds a metric.
    pub fn put(&mut self, name: &'static str, value: f64) {
        self.metrics.push((name.into(), value));
    }

    /// Adds a metric if it could be measured.
    pub fn put_some(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }
}

/// Where a run is recorded. A run with several worlds records the first.
#[derive(Default)]
pub struct Watch {
    /// Packets as pcapng.
    pub pcap: Option<Box<dyn Write + Send>>,
    /// Events, one JSON object per line.
    pub trace: Option<Box<dyn Write + Send>>,
    /// Whether [`Outcome::fingerprint`] is wanted, which makes a run a twelfth longer.
    pub fingerprint: Fingerprint,
}

/// Whether a run's fingerprint is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fingerprint {
    /// Nobody will compare it: it is 0.
    #[default]
    Unwanted,
    /// See [`whimbrel_netsim::World::trace_hash`].
    Wanted,
}

impl Watch {
    /// For a run of which the fingerprint alone is wanted.
    pub fn fingerprint() -> Self {
        Self { fingerprint: Fingerprint::Wanted, ..Self::default() }
    }

    /// Records what happens in `world`, and what packets cross `links`, which bear these names.
    ///
    /// # Errors
    /// What the writers say.
    pub fn record<M: Machine, A: App<M>>(
        self,
        world: &mut World<M, A>,
        links: &[(LinkId, &str)],
    ) -> io::Result<()> {
        if self.fingerprint == Fingerprint::Unwanted {
            world.forgo_trace_hash();
        }
        if let Some(trace) = self.trace {
            world.trace_to(trace);
        }
        match self.pcap {
            Some(pcap) => world.capture(links, pcap),
            None => Ok(()),
        }
    }
}

/// One row of results.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The series of its cell.
    pub series: Name,
    /// The axes of its cell and of its sample.
    pub axes: Axes,
    /// From 0.
    pub repetition: u64,
    /// What it was run with.
    pub seed: u64,
    /// What was measured.
    pub metrics: Vec<(Name, f64)>,
}
