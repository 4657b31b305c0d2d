//! Other draws of the seeds, made of those that there are: the bootstrap (Efron 1979) over repetitions.
//!
//! A draw takes as many repetitions as there are, each as often as chance has it. Repetitions are drawn for a whole experiment: its cells share
//! seeds, so that a repetition that is odd in one cell is odd in another.

use whimbrel_machine::Seed;

use super::results::Results;

/// How many draws a verdict is tried with.
const DRAWS: u64 = 400;
/// With fewer repetitions draws are too much alike to say anything.
pub(super) const FEWEST: usize = 5;

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

/// What other draws of the seeds say of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draws {
    /// There is nothing to draw: all repetitions are the same, or one is all there is to run.
    Alike,
    /// There are too few repetitions to draw from.
    TooFew,
    /// In how many the claim holds.
    Made(Share),
}

/// In how many draws a claim holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Those in which it holds.
    pub held: usize,
    /// All of them; one in which something could not be measured agrees with nothing.
    pub of: usize,
    /// Those in which it does not hold.
    pub failed: usize,
}

impl Draws {
    /// Whether 95 % of them say `holds`.
    pub const fn are_sure(self, holds: bool) -> bool {
        match self {
            Self::Alike => true,
            Self::TooFew => false,
            Self::Made(Share { held, failed, of }) => {
                let agree = if holds { held } else { failed };
                agree * 100 >= of * 95
            }
        }
    }
}

impl Share {
    pub(super) fn of(outcomes: impl IntoIterator<Item = Option<bool>>) -> Self {
        let mut share = Self { held: 0, of: 0, failed: 0 };
        for outcome in outcomes {
            share.of += 1;
            match outcome {
                Some(true) => share.held += 1,
                Some(false) => share.failed += 1,
                None => {}
            }
        }
        share
    }
}
