//! Shards on disk, `NAME.2-of-8.shard`: each is the journal of a part of a sweep, and all of them together are its table. Nobody who looks for
//! tables finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::check;
use super::journal::{self, Head, SweepLine};
use super::missing::Missing;
use crate::claims::Claims;
use crate::experiment::{Experiment, Row};
use crate::runner::{Done, Sweep};
use crate::scenario::{DataError, Papers};
use crate::shard::Shard;
use crate::{figures, grid, own, sensitivity};

/// The shards of one experiment.
#[derive(Debug)]
pub struct Shards {
    first: Found,
    others: Vec<Found>,
}

/// A file with a shard, and what its first line says.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    head: Head,
    shard: Shard,
}

/// A sweep of which all shards are there.
pub struct Whole {
    /// Of what.
    pub experiment: Box<dyn Experiment>,
    /// What one run would have been told to do.
    pub sweep: Sweep,
    /// All rows, as one run would have made them.
    pub rows: Vec<Row>,
    /// How many shards that was.
    pub shards: u64,
}

/// Why shards are no table.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// What the file system says, or that a file is not as it was written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is of nothing that this program knows.
    #[error("{} is no shard that this program can read: {what}; make it again", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// Why not.
        what: String,
    },
    /// Another program would make other rows, and other columns.
    #[error("{} was made by whimbrel {by}, and this is {}; merge with that version, or make all shards again with this one", path.display(), crate::VERSION)]
    OtherProgram {
        /// The file.
        path: PathBuf,
        /// What made it.
        by: String,
    },
    /// They are not of one sweep.
    #[error("{} and {} do not belong together: {what}; make one of them again, or take it elsewhere", one.display(), other.display())]
    Apart {
        /// A file.
        one: PathBuf,
        /// Another.
        other: PathBuf,
        /// What differs.
        what: String,
    },
    /// The same part of the same sweep.
    #[error("shard {shard} is there twice, {} and {}; take one away", one.display(), other.display())]
    Twice {
        /// Which.
        shard: Shard,
        /// Its file.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
    },
    /// Shards, or runs of them, are missing: which, and the commands that make them.
    #[error("{0}")]
    Incomplete(String),
    /// All runs are there, but not with the rows that they yield.
    #[error("the shards of {0} have not the rows that the experiment yields: {1}; make them again")]
    Rows(String, String),
}

impl Shards {
    /// All that there are in some directories, by the name of the experiment.
    ///
    /// # Errors
    /// What the file system says, or that a file is not as it was written.
    pub fn find(dirs: &[PathBuf]) -> Result<Vec<Self>, MergeError> {
        let mut found: BTreeMap<String, Self> = BTreeMap::new();
        for path in files(dirs)? {
            let Some(one) = Found::read(path)? else { continue };
            match found.get_mut(&one.head.sweep.figure) {
                Some(shards) => shards.others.push(one),
                None => {
                    found.insert(one.head.sweep.figure.clone(), Self { first: one, others: Vec::new() });
                }
            }
        }
        Ok(found.into_values().collect())
    }

    /// The name of the experiment.
    pub fn name(&self) -> &str {
        &self.first.head.sweep.figure
    }

    /// All rows, if all shards are whole and of one sweep.
    ///
    /// # Errors
    /// What is missing, there twice or of another sweep.
    pub fn merge(&self, papers: &Papers) -> Result<Whole, MergeError> {
        let (first, shard) = (&self.first, self.first.shard);
        self.others.iter().try_for_each(|other| first.belongs_to(other))?;
        let experiment = first.experiment(papers)?;
        let SweepLine { repetitions, first: number, .. } = first.head.sweep;
        let sweep = Sweep { repetitions, first: number, ..Sweep::whole(&*experiment, 1) };
        let here = Head::of(&*experiment, &Sweep { shard: Some(shard), ..sweep.clone() });
        if here.sweep != first.head.sweep {
            let what = "its set-up is not the one that goes by its name here".to_owned();
            return Err(MergeError::Unknown { path: first.path.clone(), what });
        }
        let files = self.by_number()?;
        let mut missing = Missing::of(&*experiment, &sweep);
        missing.shards(&shard.all().filter(|one| !files.contains_key(one)).collect::<Vec<_>>(), &first.path);
        let mut all = Done::new();
        for (&shard, file) in &files {
            let own = Sweep { shard: Some(shard), ..sweep.clone() };
            let done = file.runs(&*experiment, &own)?;
            let there = done.len() as u64;
            if there < own.share() {
                missing.runs(shard, there, own.share(), &file.path);
            }
            all.extend(done);
        }
        missing.said().map_or(Ok(()), |said| Err(MergeError::Incomplete(said)))?;
        let rows: Vec<Row> = all.into_values().flatten().collect();
        check::complete(&*experiment, &rows)
            .map_err(|what| MergeError::Rows(self.name().to_owned(), what))?;
        Ok(Whole { experiment, sweep, rows, shards: shard.of() })
    }

    fn by_number(&self) -> Result<BTreeMap<Shard, &Found>, MergeError> {
        let mut files: BTreeMap<Shard, &Found> = BTreeMap::new();
        for file in core::iter::once(&self.first).chain(&self.others) {
            if let Some(one) = files.insert(file.shard, file) {
                let (one, other) = (one.path.clone(), file.path.clone());
                return Err(MergeError::Twice { shard: file.shard, one, other });
            }
        }
        Ok(files)
    }
}

/// All files with shards, by name.
fn files(dirs: &[PathBuf]) -> io::Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    for dir in dirs {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", dir.display()));
        for entry in fs::read_dir(dir).map_err(named)? {
            let path = entry.map_err(named)?.path();
            if path.extension().is_some_and(|kind| kind == journal::SHARD) {
                files.insert(path);
            }
        }
    }
    Ok(files)
}

/// Beyond these the seeds of another experiment begin.
const MOST_REPETITIONS: u64 = 1_000_000;

impl Found {
    /// What the first line of a file says; `None` if it has been taken away meanwhile.
    fn read(path: PathBuf) -> Result<Option<Self>, MergeError> {
        let Some(text) = super::text(&path)? else { return Ok(None) };
        let head = journal::head_of(&path, &text)?;
        let shard = head.as_ref().and_then(|head| head.sweep.shard);
        let shard = shard.and_then(|(number, of)| Shard::new(number, of).ok());
        let most = |head: &Head| head.sweep.first.saturating_add(head.sweep.repetitions);
        if head.as_ref().is_some_and(|head| most(head) > MOST_REPETITIONS || head.sweep.repetitions == 0) {
            let what =
                format!("its repetitions are none, or more than {MOST_REPETITIONS}, which no sweep has");
            return Err(MergeError::Unknown { path, what });
        }
        match head.zip(shard) {
            Some((head, shard)) => Ok(Some(Self { path, head, shard })),
            None => {
                Err(MergeError::Unknown { path, what: "it does not say which part it is of what".to_owned() })
            }
        }
    }

    fn runs(&self, experiment: &dyn Experiment, sweep: &Sweep) -> io::Result<Done> {
        let text = super::text(&self.path)?.unwrap_or_default();
        journal::runs(&self.path, &text, experiment, sweep)
    }

    /// Whether another is of the same sweep.
    fn belongs_to(&self, other: &Self) -> Result<(), MergeError> {
        let (a, b) = (&self.head.sweep, &other.head.sweep);
        let numbers = |line: &SweepLine| match line.first {
            0 => format!("{} repetitions", line.repetitions),
            first => format!("{} repetitions from number {first} on", line.repetitions),
        };
        let differ = |what: &str, a: &dyn std::fmt::Display, b: &dyn std::fmt::Display| {
            Some(format!("{what} {a} and {b}"))
        };
        let what = if program(&a.version) != program(&b.version) {
            differ("they were made by whimbrel", &program(&a.version), &program(&b.version))
        } else if self.shard.of() != other.shard.of() {
            differ("they are shards", &self.shard, &other.shard)
        } else if numbers(a) != numbers(b) {
            differ("they have", &numbers(a), &numbers(b))
        } else if (&a.set_up, &a.version, &a.cells) != (&b.set_up, &b.version, &b.cells) {
            Some("their set-ups differ".to_owned())
        } else {
            None
        };
        what.map_or(Ok(()), |what| {
            Err(MergeError::Apart { one: self.path.clone(), other: other.path.clone(), what })
        })
    }

    /// What it is a shard of: an experiment of a paper, or the file whose text it has.
    fn experiment(&self, papers: &Papers) -> Result<Box<dyn Experiment>, MergeError> {
        let Head { sweep, word } = &self.head;
        if program(&sweep.version) != crate::VERSION {
            let by = program(&sweep.version).to_owned();
            return Err(MergeError::OtherProgram { path: self.path.clone(), by });
        }
        let unknown = |what: String| MergeError::Unknown { path: self.path.clone(), what };
        if *word != sweep.figure {
            return own::load(word, &sweep.set_up).map_err(|error| unknown(error.to_string()));
        }
        let known = known(papers, &sweep.figure).map_err(|error| unknown(error.to_string()))?;
        known.ok_or_else(|| unknown(format!("there is no experiment called {}", sweep.figure)))
    }
}

/// The experiment of that name: one of a paper, one with other assumptions, or the grid.
fn known(papers: &Papers, name: &str) -> Result<Option<Box<dyn Experiment>>, DataError> {
    let all = figures::all(papers)?.into_iter().chain(grid::experiments());
    let found = all.into_iter().find(|known| known.name() == name);
    if found.is_some() {
        return Ok(found);
    }
    let altered = sensitivity::experiments(papers, &Claims::load()?)?.into_iter();
    let mut altered = altered.filter(|known| known.name() == name);
    Ok(altered.next().map(|known| Box::new(known) as Box<dyn Experiment>))
}

/// The part of a version that stands for the program.
fn program(version: &str) -> &str {
    let set_up = super::set_up(version).map_or(0, |set_up| set_up.len() + 1);
    &version[..version.len() - set_up]
}

/// How many repetitions a shard has that stands where that of a sweep belongs, if it is of the same program and set-up and has repetitions
/// that the sweep has not: they would be lost to it.
///
/// # Errors
/// What the file system says, or that the shard is not as it was written.
pub fn in_the_way(dir: &Path, experiment: &dyn Experiment, sweep: &Sweep) -> io::Result<Option<u64>> {
    let path = journal::path(dir, experiment, sweep.shard);
    let text = super::text(&path)?.unwrap_or_default();
    let Some(old) = journal::head_of(&path, &text)? else { return Ok(None) };
    let same = Head::of(experiment, sweep).sweep;
    let same = SweepLine { repetitions: old.sweep.repetitions, first: old.sweep.first, ..same } == old.sweep;
    let before = Sweep { repetitions: old.sweep.repetitions, first: old.sweep.first, ..sweep.clone() };
    let (before, now) = (before.numbers(), sweep.numbers());
    let lost = before.start < now.start || before.end > now.end;
    Ok((same && lost).then_some(old.sweep.repetitions))
}

#[cfg(test)]
#[path = "shards_tests.rs"]
mod tests;
