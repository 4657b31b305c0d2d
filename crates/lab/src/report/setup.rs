//! A set-up as tables: each value with its place in the paper, or with the reason why it was assumed.

use std::collections::BTreeMap;

use crate::experiment::Experiment;
use crate::scenario::{Assumption, DataError, Papers, Stated};

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
}

/// What is assumed somewhere, and for which experiments.
pub(super) struct Assumed {
    pub(super) setting: Setting,
    pub(super) experiments: Vec<String>,
}

/// Everything an experiment is set up with: its own values, its access networks, its protocol profile.
///
/// # Errors
/// When the data name a profile that they do not have.
pub(super) fn tables(papers: &Papers, experiment: &dyn Experiment) -> Result<Vec<Table>, DataError> {
    let scenario = experiment.scenario();
    let mut tables = vec![table("Experiment", scenario.stated(), scenario.assumptions())];
    for name in papers.network_names() {
        if mentions(experiment, name) {
            let network = papers.network(name)?;
            let title = format!("Access network {}", name.to_uppercase());
            tables.push(table(&title, network.stated(), network.assumptions()));
        }
    }
    if !scenario.profile().is_empty() {
        let profile = papers.profile(scenario.profile())?;
        let title = format!("Protocol profile {}", scenario.profile());
        tables.push(table(&title, profile.stated(), profile.assumptions()));
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

/// What a metric of an experiment means, in whichever of its set-ups that stands; `as OTHER` is looked up there.
pub(super) fn definition(papers: &Papers, experiment: &dyn Experiment, metric: &str) -> String {
    let all = core::iter::once(experiment.scenario()).chain(experiment.others());
    let own =
        all.map(|scenario| scenario.definition(metric)).find(|text| !text.is_empty()).unwrap_or_default();
    let Some(elsewhere) = own.strip_prefix("as ") else { return own.to_owned() };
    let (id, more) = elsewhere.split_once(", ").map_or((elsewhere, None), |(id, more)| (id, Some(more)));
    let Ok(other) = papers.scenario(id) else { return own.to_owned() };
    let there = other.definition(metric);
    more.map_or_else(|| there.to_owned(), |more| format!("{there}; {more}"))
}

fn table(title: &str, stated: Vec<Stated>, assumed: Vec<Assumption>) -> Table {
    let stated = stated.into_iter().map(|one| Setting {
        what: spoken(&one.what),
        value: one.value,
        source: one.source,
        assumed: false,
    });
    let assumed = assumed.into_iter().map(|one| Setting {
        what: spoken(&one.what),
        value: one.value,
        source: one.why,
        assumed: true,
    });
    let mut settings: Vec<Setting> = stated.chain(assumed).collect();
    settings.sort();
    Table { title: title.to_owned(), settings }
}

/// `topology.wired_delay` as people say it.
fn spoken(what: &str) -> String {
    what.replace('.', ": ").replace('_', " ")
}

/// All assumptions of several experiments, each once for each value and reason.
pub(super) fn assumptions<'a>(all: impl IntoIterator<Item = (&'a str, &'a [Table])>) -> Vec<Assumed> {
    let mut known: BTreeMap<Setting, Vec<String>> = BTreeMap::new();
    for (experiment, tables) in all {
        for table in tables {
            for setting in table.settings.iter().filter(|setting| setting.assumed) {
                let users = known.entry(setting.clone()).or_default();
                if users.last().map(String::as_str) != Some(experiment) {
                    users.push(experiment.to_owned());
                }
            }
        }
    }
    known.into_iter().map(|(setting, experiments)| Assumed { setting, experiments }).collect()
}
