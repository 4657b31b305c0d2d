//! What assumed values matter: which verdicts turn when one of them is another.

use std::collections::BTreeSet;

use crate::assumptions::{Assumptions, Looked};
use crate::claims::Judgement;
use crate::sensitivity::{Committed, Turn};

/// A verdict that another value turns.
pub(super) struct Effect {
    pub(super) claim: String,
    pub(super) before: String,
    pub(super) turn: Turn,
}

/// What is known of one assumed value's influence.
pub(super) enum Influence {
    /// It turns the verdicts on these claims.
    Turns(Vec<String>),
    /// It turns none.
    TurnsNone,
    /// Alternatives are there and have not been run.
    NotRun,
    /// None, for this reason.
    None(String),
    /// Nobody has looked.
    Unknown,
}

impl Effect {
    /// All verdicts that turn, in the order of the claims.
    pub(super) fn all(judgements: &[Judgement<'_>]) -> Vec<Self> {
        let of = |judgement: &Judgement<'_>| {
            let (claim, before) = (judgement.claim.id.clone(), judgement.verdict.name());
            let turns = judgement.turns().to_vec().into_iter();
            turns
                .map(|turn| Self { claim: claim.clone(), before: before.to_owned(), turn })
                .collect::<Vec<_>>()
        };
        judgements.iter().flat_map(of).collect()
    }
}

impl Influence {
    /// Of the value at a leaf of the data.
    pub(super) fn of(assumptions: &Assumptions, committed: &Committed, leaf: &str) -> Self {
        match assumptions.looked_into(leaf) {
            None => Self::Unknown,
            Some(Looked::WithoutInfluence(why)) => Self::None(why),
            Some(Looked::Changed) if committed.is_empty() => Self::NotRun,
            Some(Looked::Changed) => {
                let own = assumptions.alternatives.iter();
                let own = own.filter(|one| one.changes.iter().any(|(changed, _)| changed == leaf));
                let labels: BTreeSet<&str> = own.map(|one| one.label.as_str()).collect();
                let turned = committed
                    .all()
                    .filter(|tried| tried.turns.iter().any(|turn| labels.contains(turn.assumption.as_str())));
                let claims: Vec<String> = turned.map(|tried| tried.claim.clone()).collect();
                if claims.is_empty() { Self::TurnsNone } else { Self::Turns(claims) }
            }
        }
    }

    /// As people read it.
    pub(super) fn spoken(&self) -> String {
        match self {
            Self::Turns(claims) => format!("turns {}", claims.join(", ")),
            Self::TurnsNone => "turns no verdict".to_owned(),
            Self::NotRun => "not run".to_owned(),
            Self::None(why) => format!("none: {why}"),
            Self::Unknown => "not looked into".to_owned(),
        }
    }
}
