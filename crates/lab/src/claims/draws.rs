//! Other draws of the seeds, made of those that there are: the bootstrap (Efron 1979) over repetitions.
//!
//! A draw takes as many repetitions as there are, each as often as chance has it. Repetitions are drawn for a whole experiment: its cells share
//! seeds, so that a repetition that is odd in one cell is odd in another.

use whimbrel_machine::Seed;

use super::results::Results;

/// How many draws a verdict is tried with.
const DRAWS: u64 = 400;
/// With fewer repetitions draws are too much alike to say anything.
const FEWEST: usize = 5;

/// Which repetitions count, by experiment.
#[derive(Clone, Debug)]
pub(super) struct Draw(Vec<Vec<usize>>);

impl Draw {
    pub(super) fn of(&self, experiment: usize) -> &[usize] {
        self.0.get(experiment).map_or(&[], Vec::as_slice)
    }
}

/// The draws for these results; the same ones each time, for all claims.
pub(super) fn draws(results: &Results) -> Vec<Draw> {
    let seed = Seed::from_u64(1979);
    let draw = |number: u64| {
        let of = |(experiment, &repetitions): (usize, &usize)| {
            let mut rng = seed.stream(&experiment.to_string(), number);
            (0..repetitions).map(|_| rng.below(repetitions as u64) as usize).collect()
        };
        Draw(results.experiments.iter().enumerate().map(of).collect())
    };
    (0..DRAWS).map(draw).collect()
}

/// In how many draws a claim holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Those in which it holds.
    pub held: usize,
    /// Those that say anything.
    pub of: usize,
}

impl Share {
    /// The draws in which it holds, of all that there are for so many repetitions; `None` if there are too few to draw from.
    pub(super) fn of(repetitions: usize, outcomes: impl IntoIterator<Item = Option<bool>>) -> Option<Self> {
        if repetitions < FEWEST {
            return None;
        }
        let said: Vec<bool> = outcomes.into_iter().flatten().collect();
        let held = said.iter().filter(|held| **held).count();
        Some(Self { held, of: said.len() })
    }

    /// Whether 95 % of the draws say `holds`.
    pub const fn is_sure(self, holds: bool) -> bool {
        let agree = if holds { self.held } else { self.of - self.held };
        self.of > 0 && agree * 100 >= self.of * 95
    }
}
