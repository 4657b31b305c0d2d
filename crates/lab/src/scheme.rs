//! Who decides when to move, and with which protocol profile: what a series has besides its place.
//!
//! The two are independent. Both are the paper's in what the paper describes, and Whimbrel's own in `seamless`; the two series
//! that have one of each tell what the policy does from what the profile does.

use whimbrel_proto::Config;

use crate::experiment::{Axes, Cell, Name, SEAMLESS, grid, is_ours};
use crate::profile;
use crate::value::Value;

/// The series with the paper's policy and Whimbrel's profile.
pub(crate) const PROFILE_ALONE: &str = "profile-alone";
/// The series with Whimbrel's policy and the paper's profile.
pub(crate) const POLICY_ALONE: &str = "policy-alone";
/// What [`PROFILE_ALONE`] is called where it is drawn, behind what the paper's policy is called.
pub(crate) const PROFILE_ALONE_LABEL: &str = "with Config::mobile()";
/// What [`POLICY_ALONE`] is called where it is drawn.
pub(crate) const POLICY_ALONE_LABEL: &str = "seamless with the paper's profile";

/// Whose a policy, a profile or an axis is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whose {
    Papers,
    Ours,
}

/// A policy and a profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scheme {
    pub(crate) policy: Whose,
    pub(crate) profile: Whose,
}

impl Scheme {
    /// That of a series. What only explains the paper's series has the paper's.
    pub(crate) fn of(series: &str) -> Self {
        let (policy, profile) = match series {
            PROFILE_ALONE => (Whose::Papers, Whose::Ours),
            POLICY_ALONE => (Whose::Ours, Whose::Papers),
            _ if is_ours(series) => (Whose::Ours, Whose::Ours),
            _ => (Whose::Papers, Whose::Papers),
        };
        Self { policy, profile }
    }

    /// The configuration of its hosts, of the paper's and Whimbrel's own.
    pub(crate) fn config(self, paper: &Config, mobile: &Config) -> Config {
        match (self.profile, self.policy) {
            (Whose::Ours, _) => mobile.clone(),
            (Whose::Papers, Whose::Ours) => profile::with_requests(paper.clone()),
            (Whose::Papers, Whose::Papers) => paper.clone(),
        }
    }

    /// Whether an axis means something to it.
    const fn knows(self, part: Part) -> bool {
        match part {
            Part::Place => true,
            Part::Policy => matches!(self.policy, Whose::Papers),
            Part::Profile => matches!(self.profile, Whose::Papers),
        }
    }
}

/// What an axis changes: the place, or something of the paper's policy or profile, which others do not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Place,
    Policy,
    Profile,
}

/// The cells of a series: every combination of the axes' values, without those axes that mean nothing to its scheme.
pub(crate) fn cells<N: Clone + Into<Name>>(
    series: &'static str,
    axes: &[(Part, N, Vec<Value>)],
) -> Vec<Cell> {
    let scheme = Scheme::of(series);
    let known = axes.iter().filter(|(part, ..)| scheme.knows(*part));
    let known: Vec<_> = known.map(|(_, name, values)| (name.clone(), values.clone())).collect();
    grid(&known).into_iter().map(|axes: Axes| Cell { series: series.into(), axes }).collect()
}

/// [`SEAMLESS`], which `says` describes, and the two series that take it apart.
pub(crate) fn described(says: &'static str) -> [(Name, &'static str); 3] {
    [
        (SEAMLESS.into(), says),
        (PROFILE_ALONE.into(), "the paper's policy with Config::mobile(): what the profile does by itself"),
        (POLICY_ALONE.into(), "the seamless policy with the paper's profile: what the policy does by itself"),
    ]
}

#[cfg(test)]
#[path = "scheme_tests.rs"]
mod tests;
