//! Commands that people can run again, as a shell reads them.

use crate::experiment::Experiment;

/// What makes so many repetitions of an experiment from number `first` on. None is as many as usual.
pub(crate) fn run(experiment: &dyn Experiment, repetitions: u64, first: u64) -> String {
    let mut command = format!("whimbrel lab {}", experiment.command());
    if repetitions != 0 && repetitions != experiment.repetitions() {
        command.push_str(&format!(" --reps {repetitions}"));
    }
    if first != 0 {
        command.push_str(&format!(" --seed {first}"));
    }
    command
}

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    shlex::try_quote(word).unwrap_or(word.into()).into_owned()
}
