//! What assumed values matter: how far the headline numbers of the papers move when one of them is another.

use super::Measured;
use crate::assumptions::{CHANGE, Looked, looked_into};
use crate::claims::digits;
use crate::experiment::Name;
use crate::scenario::{DataError, Papers};
use crate::statistics::Estimate;
use crate::summary::Group;
use crate::value::Value;

/// One value changed, and how far a headline number moved.
pub(super) struct Effect {
    /// The experiment that measured it.
    pub(super) experiment: String,
    pub(super) headline: String,
    /// What was changed, from what to what.
    pub(super) assumption: String,
    /// In per cent, or in words where that is no number.
    pub(super) change: String,
    /// How far; where it is no number, farther than any.
    mean: f64,
}

/// What is said where the alternative leaves nothing to measure.
const GONE: &str = "can no longer be measured";

/// What is known of one assumed value's influence.
pub(super) enum Influence {
    /// The greatest change that an alternative makes, and to what.
    Greatest(String),
    /// Alternatives are there and have not been run.
    NotRun,
    /// None, for this reason.
    None(String),
    /// Nobody has looked.
    Unknown,
}

impl Effect {
    /// All that have been measured, the greatest first.
    pub(super) fn all(measured: &[Measured], groups: &[Vec<Group>]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (one, groups) in measured.iter().zip(groups) {
            let name = one.experiment.name();
            if one.experiment.metrics().contains(&Name::from(CHANGE)) && name.ends_with("_assumptions") {
                all.extend(groups.iter().filter_map(|group| Self::of(name, group)));
            }
        }
        all.sort_by(|a, b| b.mean.abs().total_cmp(&a.mean.abs()));
        all
    }

    fn of(experiment: &str, group: &Group) -> Option<Self> {
        let word = |axis: &str| group.get(axis).and_then(Value::word).map(str::to_owned);
        let (change, mean) = change(group)?;
        Some(Self {
            experiment: experiment.to_owned(),
            headline: word("headline")?,
            assumption: word("assumption")?,
            change,
            mean,
        })
    }

    /// As a sentence.
    fn spoken(&self) -> String {
        let Self { headline, assumption, change, .. } = self;
        let of = if self.mean.is_finite() { " % of" } else { ":" };
        format!("{change}{of} “{headline}” ({assumption})")
    }
}

/// How far the number moves; `None` if it was not measured as assumed either. From 0, or to a number that cannot be measured, it is no
/// share.
fn change(group: &Group) -> Option<(String, f64)> {
    let assumed = group.metric("assumed")?;
    let Some(Estimate { mean, half_width, count }) = group.metric(CHANGE) else {
        let altered = group.metric("altered").map(|altered| digits(altered.mean));
        let words = altered
            .map_or_else(|| GONE.to_owned(), |altered| format!("{} → {altered}", digits(assumed.mean)));
        return Some((words, f64::INFINITY));
    };
    let sign = if mean > 0.0 { "+" } else { "" };
    let range = if half_width > 0.0 { format!(" ± {}", digits(half_width)) } else { String::new() };
    let part =
        if count < assumed.count { format!(" ({count} of {} runs)", assumed.count) } else { String::new() };
    Some((format!("{sign}{}{range}{part}", digits(mean)), mean))
}

impl Influence {
    /// Of the value at a leaf of the data.
    ///
    /// # Errors
    /// When the data on assumptions are incomplete.
    pub(super) fn of(papers: &Papers, effects: &[Effect], leaf: &str) -> Result<Self, DataError> {
        Ok(match looked_into(papers, leaf)? {
            None => Self::Unknown,
            Some(Looked::WithoutInfluence(why)) => Self::None(why),
            Some(Looked::Changed(all)) => {
                let is = |effect: &&Effect| {
                    all.iter().any(|(says, label)| *says == effect.headline && *label == effect.assumption)
                };
                let greatest = effects.iter().find(is);
                greatest.map_or(Self::NotRun, |effect| Self::Greatest(effect.spoken()))
            }
        })
    }

    /// As people read it.
    pub(super) fn spoken(&self) -> String {
        match self {
            Self::Greatest(what) => what.clone(),
            Self::NotRun => "not run".to_owned(),
            Self::None(why) => format!("none: {why}"),
            Self::Unknown => "not looked into".to_owned(),
        }
    }
}
