//! What is missing of shards, and the commands that make it.

use std::path::Path;

use crate::command_line;
use crate::experiment::Experiment;
use crate::runner::Sweep;
use crate::shard::Shard;

/// What is missing, as people say it, with the commands that make it.
pub(super) struct Missing<'a> {
    experiment: &'a dyn Experiment,
    sweep: &'a Sweep,
    said: Vec<String>,
}

impl<'a> Missing<'a> {
    pub(super) const fn of(experiment: &'a dyn Experiment, sweep: &'a Sweep) -> Self {
        Self { experiment, sweep, said: Vec::new() }
    }

    /// Everything, a line each; nothing if nothing is missing.
    pub(super) fn said(&self) -> Option<String> {
        (!self.said.is_empty()).then(|| self.said.join("\n"))
    }

    pub(super) fn shards(&mut self, missing: &[Shard], beside: &Path) {
        let Some(&first) = missing.first() else { return };
        let (name, command) = (self.experiment.name(), self.command(first, beside));
        self.said.push(if missing.len() == 1 {
            format!("{name}: shard {first} is missing; this makes it: {command}")
        } else {
            let numbers: Vec<u64> = missing.iter().map(|shard| shard.number()).collect();
            let (numbers, of) = (ranges(&numbers), first.of());
            format!(
                "{name}: of {of} shards these are missing: {numbers}; this makes the first of them: {command}"
            )
        });
    }

    pub(super) fn runs(&mut self, shard: Shard, there: u64, all: u64, path: &Path) {
        let (name, command) = (self.experiment.name(), self.command(shard, path));
        self.said.push(format!(
            "{name}: shard {shard} has {there} of its {all} runs; this goes on with it: {command}"
        ));
    }

    fn command(&self, shard: Shard, beside: &Path) -> String {
        let run = command_line::run(self.experiment, self.sweep.repetitions, self.sweep.first);
        let dir = beside.parent().unwrap_or(Path::new(".")).to_string_lossy();
        format!("{run} --shard {shard} --out {}", command_line::quoted(&dir))
    }
}

/// Rising numbers as schedulers take them: `2,5-9`.
fn ranges(numbers: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let range = |&(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}
