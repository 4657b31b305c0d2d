//! Parts of a sweep, one for each of as many machines as there are: which runs are whose.

use core::fmt;
use core::str::FromStr;

use whimbrel_machine::Seed;

/// Into how many parts a sweep can be divided.
const MOST: u64 = 1_000_000;

/// One of several parts that together are a sweep, each run in one of them.
///
/// What is dealt out is the single run: some experiments have many cells of one repetition, others one cell of many. Each part gets one run in
/// turn, and in every round somebody else is the first. So none has more than one run more than another; the repetitions of a cell,
/// which take about as long as each other, are spread over all; and where the values of an axis come round as often as the parts do, the
/// value that takes longest is not always the same one's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Shard {
    of: u64,
    number: u64,
}

/// What is no part of anything.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShardError {
    /// It is not written as one.
    #[error("a shard is written as its number and how many there are, such as 2/8")]
    Unreadable,
    /// There are none, or too many.
    #[error("there may be 1 to {MOST} shards")]
    Count,
    /// It is not one of those that there are.
    #[error("of {0} shards the first is 1/{0} and the last {0}/{0}")]
    Number(u64),
}

impl Shard {
    /// All of it in one part.
    pub const WHOLE: Self = Self { of: 1, number: 1 };

    /// Part `number`, counted from 1, of so many.
    ///
    /// # Errors
    /// When there is no such part.
    pub const fn new(number: u64, of: u64) -> Result<Self, ShardError> {
        if of == 0 || of > MOST {
            return Err(ShardError::Count);
        }
        if number == 0 || number > of {
            return Err(ShardError::Number(of));
        }
        Ok(Self { of, number })
    }

    /// Which it is, counted from 1.
    pub const fn number(self) -> u64 {
        self.number
    }

    /// How many there are.
    pub const fn of(self) -> u64 {
        self.of
    }

    /// All of them, this one among them.
    pub(crate) fn all(self) -> impl Iterator<Item = Self> {
        (1..=self.of).map(move |number| Self { number, ..self })
    }

    /// The place of its run of a round among all runs of the sweep. In the last round some have none: theirs is beyond the end.
    pub(crate) fn place(self, round: u64) -> u64 {
        if self.of == 1 {
            return round;
        }
        let first = Seed::from_u64(round).stream("shards", 0).below(self.of);
        round.saturating_mul(self.of).saturating_add((self.number - 1 + first) % self.of)
    }

    /// How many of so many runs are its own.
    pub(crate) fn share(self, runs: u64) -> u64 {
        let rounds = runs / self.of;
        rounds + u64::from(self.place(rounds) < runs)
    }

    /// As a part of a file's name: `2-of-8`.
    pub(crate) fn in_name(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (number, of) = text.split_once('/').ok_or(ShardError::Unreadable)?;
        let whole = |text: &str| text.parse::<u64>().map_err(|_| ShardError::Unreadable);
        Self::new(whole(number)?, whole(of)?)
    }
}

#[cfg(test)]
#[path = "shard_tests.rs"]
mod tests;
