//! Experiments of papers with another value in the place of each assumed one: one more axis, which says what is changed.

use crate::assumptions::{Alternative, Assumptions};
use crate::claims::Claims;
use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, Row, Watch};
use crate::figures;
use crate::meaning::Meaning;
use crate::plot::Plot;
use crate::scenario::{DataError, Papers, Scenario};
use crate::value::Value;

/// The axis that says what is changed.
const ASSUMPTION: &str = "assumption";
/// The value on it where nothing is.
pub(crate) const AS_ASSUMED: &str = "as assumed";
/// What is added to the name of an experiment.
pub(crate) const SUFFIX: &str = "_sensitivity";

/// An experiment with everything that is assumed in it changed, one alternative after the other.
///
/// Its cells are those of the paper's series, which claims look at; its seeds are the experiment's own, so that runs with an alternative and
/// runs without make pairs.
pub struct Altered {
    name: String,
    as_assumed: Box<dyn Experiment>,
    /// By label.
    with: Vec<(String, Box<dyn Experiment>)>,
    repetitions: u64,
}

impl Altered {
    /// What is changed in it: the alternatives' labels.
    pub fn alternatives(&self) -> impl Iterator<Item = &str> {
        self.with.iter().map(|(label, _)| label.as_str())
    }

    /// Whether this alternative is one of them: another paper may have one of the same name.
    pub(super) fn has(&self, alternative: &Alternative) -> bool {
        alternative.paper == self.scenario().paper()
            && self.alternatives().any(|label| label == alternative.label)
    }

    /// The experiment itself.
    pub fn experiment(&self) -> &dyn Experiment {
        &*self.as_assumed
    }

    /// The rows with an alternative, as rows of the experiment itself.
    pub(super) fn rows_with(&self, rows: &[Row], label: &str) -> Vec<Row> {
        let is = |axis: &(Name, Value)| axis.0 == ASSUMPTION && axis.1.word() == Some(label);
        let with = rows.iter().filter(|row| row.axes.iter().any(is));
        let plain = with.map(|row| {
            let mut row = row.clone();
            row.axes.retain(|(axis, _)| axis != ASSUMPTION);
            row
        });
        plain.collect()
    }
}

/// All experiments that a claim looks at and an alternative changes, in the order of the papers.
///
/// # Errors
/// When the data are not as they should be, which tests exclude.
pub fn experiments(papers: &Papers, claims: &Claims) -> Result<Vec<Altered>, DataError> {
    let assumptions = Assumptions::load(papers)?;
    let looked_at: Vec<String> = claims.all().flat_map(Claims::scenarios).collect();
    let mut all: Vec<Altered> = figures::all(papers)?
        .into_iter()
        .filter(|experiment| looked_at.iter().any(|scenario| experiment.is_of(scenario)))
        .map(|experiment| Altered {
            name: format!("{}{SUFFIX}", experiment.name()),
            repetitions: experiment
                .repetitions()
                .min(assumptions.repetitions(experiment.scenario().paper(), experiment.name())),
            as_assumed: experiment,
            with: Vec::new(),
        })
        .collect();
    for alternative in &assumptions.alternatives {
        add(papers, &mut all, alternative)?;
    }
    all.retain(|one| !one.with.is_empty());
    Ok(all)
}

fn add(papers: &Papers, all: &mut [Altered], alternative: &Alternative) -> Result<(), DataError> {
    let altered = alternative.apply(papers)?;
    for experiment in figures::all(&altered)? {
        if experiment.scenario().paper() != alternative.paper {
            continue;
        }
        let same = all.iter_mut().find(|known| known.as_assumed.name() == experiment.name());
        if let Some(known) = same
            && inputs(papers, &*known.as_assumed)? != inputs(&altered, &*experiment)?
        {
            known.with.push((alternative.label.clone(), experiment));
        }
    }
    Ok(())
}

/// Everything that stands in the data for an experiment, as text.
fn inputs(papers: &Papers, experiment: &dyn Experiment) -> Result<String, DataError> {
    let scenarios = core::iter::once(experiment.scenario()).chain(experiment.others());
    let mut text: String = scenarios.map(Scenario::written).collect();
    for profile in
        core::iter::once(experiment.scenario().profile()).chain(experiment.rivals().iter().copied())
    {
        text.push_str(&papers.profile(profile)?.written());
    }
    Ok(text)
}

impl Experiment for Altered {
    fn name(&self) -> &str {
        &self.name
    }

    fn scenario(&self) -> &Scenario {
        self.as_assumed.scenario()
    }

    fn others(&self) -> &[Scenario] {
        self.as_assumed.others()
    }

    fn axes(&self) -> Vec<Name> {
        core::iter::once(ASSUMPTION.into()).chain(self.as_assumed.axes()).collect()
    }

    fn values(&self, axis: &str) -> Vec<Value> {
        if axis == ASSUMPTION {
            let labels = core::iter::once(AS_ASSUMED).chain(self.alternatives());
            return labels.map(Value::from).collect();
        }
        self.as_assumed.values(axis)
    }

    fn metrics(&self) -> Vec<Name> {
        self.as_assumed.metrics()
    }

    fn meaning(&self, column: &str) -> Meaning {
        if column == ASSUMPTION {
            return Meaning::parse("assumed value that is changed, from what to what");
        }
        self.as_assumed.meaning(column)
    }

    fn cells(&self) -> Vec<Cell> {
        let cells = self.as_assumed.cells().into_iter().filter(|cell| cell.series == PAPER);
        let places: Vec<Axes> = cells.map(|cell| cell.axes).collect();
        let with = |label: Value| {
            let place = |axes: &Axes| {
                Cell::paper(
                    core::iter::once((ASSUMPTION.into(), label.clone())).chain(axes.clone()).collect(),
                )
            };
            places.iter().map(place).collect::<Vec<_>>()
        };
        self.values(ASSUMPTION).into_iter().flat_map(with).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let label = cell.word(ASSUMPTION);
        let with = self.with.iter().find(|(known, _)| known == label).map(|(_, experiment)| experiment);
        let axes = cell.axes.iter().filter(|(axis, _)| axis != ASSUMPTION).cloned();
        with.unwrap_or(&self.as_assumed).run(&Cell::paper(axes.collect()), seed, watch)
    }

    fn has_network(&self) -> bool {
        self.as_assumed.has_network()
    }

    fn plots(&self) -> Vec<Plot> {
        Vec::new()
    }

    fn command(&self) -> String {
        format!("sensitivity {}", self.as_assumed.name())
    }

    fn set_up(&self) -> String {
        let labels: Vec<&str> = self.alternatives().collect();
        format!("{}\n{}", self.as_assumed.set_up(), labels.join("\n"))
    }

    fn repetitions(&self) -> u64 {
        self.repetitions
    }

    fn seed(&self, repetition: u64) -> u64 {
        self.as_assumed.seed(repetition)
    }
}
