//! `loss` and `burst` of a network.

use serde::Deserialize;
use whimbrel_netsim::{GilbertElliott, Loss};

use super::limits::{PROBABILITY, within};

/// What a network loses.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "loss is a probability, or a table with p, r and perhaps h and k (Gilbert-Elliott)"
)]
pub(super) enum LossPlan {
    /// The probability that a packet is lost.
    Mean(f64),
    Chain(Chain),
}

/// The chain of Gilbert and Elliott, with the letters that the literature has for it.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chain {
    /// Probability, for each packet, that the good state is left.
    pub(super) p: f64,
    /// Probability, for each packet, that the bad state is left.
    pub(super) r: f64,
    /// Probability that a packet passes in the bad state.
    #[serde(default)]
    pub(super) h: f64,
    /// Probability that a packet passes in the good state.
    #[serde(default = "one")]
    pub(super) k: f64,
}

const fn one() -> f64 {
    1.0
}

impl Default for LossPlan {
    fn default() -> Self {
        Self::Mean(0.0)
    }
}

impl LossPlan {
    /// As links have it; `burst` is the mean length of a burst.
    pub(super) fn model(self, burst: Option<f64>) -> Loss {
        match (self, burst) {
            (Self::Mean(mean), _) if mean <= 0.0 => Loss::None,
            (Self::Mean(mean), None) => Loss::Bernoulli(mean),
            (Self::Mean(mean), Some(burst)) => Loss::GilbertElliott(GilbertElliott::bursts(mean, burst)),
            (Self::Chain(Chain { p, r, h, k }), _) => Loss::GilbertElliott(GilbertElliott {
                good_to_bad: p,
                bad_to_good: r,
                loss_good: 1.0 - k,
                loss_bad: 1.0 - h,
            }),
        }
    }

    /// Says what of it there cannot be; `place` is the network's.
    pub(super) fn check(self, place: &str, burst: Option<f64>) -> Result<(), String> {
        match self {
            Self::Chain(_) if burst.is_some() => Err(format!(
                "{place}.burst belongs to a loss that is a number; in a chain 1 / r is the mean length"
            )),
            Self::Chain(Chain { p, r, h, k }) => {
                [("p", p), ("r", r), ("h", h), ("k", k)].into_iter().try_for_each(|(letter, value)| {
                    within(format!("{place}.loss.{letter}"), value, PROBABILITY, "")
                })
            }
            Self::Mean(_) => self.check_mean(&format!("{place}.loss"), burst),
        }
    }

    /// The same of a mean alone. Two bursts are at least one packet apart, so that not everything can be lost.
    pub(super) fn check_mean(self, place: &str, burst: Option<f64>) -> Result<(), String> {
        let Self::Mean(mean) = self else { return Ok(()) };
        within(place, mean, PROBABILITY, "")?;
        let most = burst.map(|burst| (burst, GilbertElliott::most_in_bursts(burst)));
        match most {
            Some((burst, most)) if mean > most => Err(format!(
                "{place} is {mean}: in bursts of {burst} packets at most {:.3} can be lost; say less, or leave out `burst`",
                (most * 1e3).floor() / 1e3
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "losses_tests.rs"]
mod tests;
