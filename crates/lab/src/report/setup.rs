//! A set-up as tables: each value with its place in the paper, or with the reason why it was assumed.

use std::collections::BTreeMap;

use super::influence::Influence;
use crate::assumptions::Assumptions;
use crate::experiment::Experiment;
use crate::scenario::{Assumption, DataError, Papers, Stated};
use crate::sensitivity::Committed;

/// The title of an experiment's own settings.
const EXPERIMENT: &str = "Experiment";

/// Settings that belong together.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) settings: Vec<Setting>,
}

/// One value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setting {
    pub(super) what: String,
    pub(super) value: String,
    /// Its place in the paper, or why this value.
    pub(super) source: String,
    pub(super) assumed: bool,
    /// Where it stands in the data, such as `profile.b08.rwnd`.
    pub(super) leaf: String,
}

/// What is assumed somewhere, and for which experiments.
pub(super) struct Assumed {
    pub(super) setting: Setting,
    /// The table it is in, if that is no experiment's own.
    pub(super) of: String,
    pub(super) experiments: Vec<String>,
    /// What it matters.
    pub(super) influence: Influence,
}

/// Everything an experiment is set up with: its own values, its access networks, its protocol profile.
///
/// # Errors
/// When the data name a profile that they do not have.
pub(super) fn tables(papers: &Papers, experiment: &dyn Experiment) -> Result<Vec<Table>, DataError> {
    let scenario = experiment.scenario();
    let of = |stated: Vec<Stated>, assumed: Vec<Assumption>| -> Vec<Setting> {
        let stated = stated.into_iter().map(|one| {
            // What somebody writes into a file of his own is his.
            let borrowed = !experiment.is_own() && papers.is_borrowed(&one, scenario.paper());
            if borrowed { Setting::borrowed(one) } else { one.into() }
        });
        stated.chain(assumed.into_iter().map(Into::into)).collect()
    };
    let mut own = of(scenario.stated(), scenario.assumptions());
    if experiment.is_own() {
        own.iter_mut().for_each(Setting::name_as_written);
    }
    let mut tables = vec![table(papers, EXPERIMENT, ("scenario", scenario.id()), own)];
    // A word in a file of one's own is not the paper's.
    for name in papers.network_names() {
        if !experiment.is_own() && mentions(experiment, name) {
            let title = format!("Access network {}", name.to_uppercase());
            let network = papers.network(name)?;
            let settings = of(network.stated(), network.assumptions());
            tables.push(table(papers, &title, ("network", name), settings));
        }
    }
    let profiles = core::iter::once(scenario.profile()).chain(experiment.rivals().iter().copied());
    for name in profiles.filter(|name| !name.is_empty()) {
        let title = format!("Protocol profile {name}");
        let profile = papers.profile(name)?;
        let settings = of(profile.stated(), profile.assumptions());
        tables.push(table(papers, &title, ("profile", name), settings));
    }
    tables.retain(|table| !table.settings.is_empty());
    Ok(tables)
}

/// Whether a network is on one of the axes, alone or as a part of a pair: `wlan-umts`.
fn mentions(experiment: &dyn Experiment, network: &str) -> bool {
    let scenario = experiment.scenario();
    let values = scenario.axis_names().into_iter().flat_map(|axis| scenario.axis(axis));
    values
        .into_iter()
        .any(|value| value.word().is_some_and(|word| word.split('-').any(|part| part == network)))
}

impl From<Stated> for Setting {
    fn from(one: Stated) -> Self {
        Self { what: spoken(&one.what), value: one.value, source: one.source, assumed: false, leaf: one.what }
    }
}

impl Setting {
    /// Of a value that another paper states.
    fn borrowed(one: Stated) -> Self {
        let source = format!("the paper gives none; {} has it", one.source);
        Self { what: spoken(&one.what), value: one.value, source, assumed: true, leaf: one.what }
    }

    /// The places of a file of one's own are to be found there: `network.wlan.queue`.
    fn name_as_written(&mut self) {
        self.what = match self.leaf.split_once('.') {
            Some(("axes", place)) => format!("{place}, swept"),
            Some(("run", place)) => place.to_owned(),
            _ => self.leaf.clone(),
        };
    }
}

impl From<Assumption> for Setting {
    fn from(one: Assumption) -> Self {
        Self { what: spoken(&one.what), value: one.value, source: one.why, assumed: true, leaf: one.what }
    }
}

/// `kind` and `name` say where the settings stand in the data.
fn table(papers: &Papers, title: &str, (kind, name): (&str, &str), mut settings: Vec<Setting>) -> Table {
    for setting in &mut settings {
        setting.leaf = papers.home(kind, name, &setting.leaf).unwrap_or_default();
    }
    settings.sort();
    Table { title: title.to_owned(), settings }
}

/// `topology.wired_delay` as people say it.
fn spoken(what: &str) -> String {
    what.replace('.', ": ").replace('_', " ")
}

/// All assumptions of several experiments, each once for each value and reason.
///
/// # Errors
/// When the data on assumptions are incomplete.
pub(super) fn assumptions<'a>(
    papers: &Papers,
    committed: &Committed,
    all: impl IntoIterator<Item = (&'a str, &'a [Table])>,
) -> Result<Vec<Assumed>, DataError> {
    let data = Assumptions::load(papers)?;
    let mut known: BTreeMap<(String, Setting), Vec<String>> = BTreeMap::new();
    for (experiment, tables) in all {
        for table in tables {
            for setting in table.settings.iter().filter(|setting| setting.assumed) {
                let of = if table.title == EXPERIMENT { "" } else { &table.title };
                let users = known.entry((of.to_owned(), setting.clone())).or_default();
                if users.last().map(String::as_str) != Some(experiment) {
                    users.push(experiment.to_owned());
                }
            }
        }
    }
    let assumed = known.into_iter().map(|((of, setting), experiments)| {
        let influence = Influence::of(&data, committed, &setting.leaf);
        Assumed { setting, of, experiments, influence }
    });
    Ok(assumed.collect())
}
