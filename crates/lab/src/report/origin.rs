//! Where numbers come from: seeds, repetitions, and the command that makes them again.

use super::Measured;
use crate::command_line;

/// What a figure's rows were made with.
pub(super) struct Origin {
    pub(super) rows: usize,
    pub(super) cells: usize,
    pub(super) repetitions: u64,
    /// How often the paper ran it, or its file says.
    pub(super) usual: u64,
    /// Such as `1000000 to 1000029`.
    pub(super) seeds: String,
    /// What made them.
    pub(super) version: String,
    /// Whether that was another program than this one, or several.
    pub(super) is_of_another: bool,
    pub(super) command: String,
    /// What makes the report with it.
    pub(super) report: String,
}

impl Origin {
    pub(super) fn of(measured: &Measured) -> Self {
        let experiment = &*measured.experiment;
        let numbers = || measured.rows.iter().map(|row| row.repetition);
        let first = numbers().min().unwrap_or_default();
        let repetitions = numbers().max().map_or(0, |last| last - first + 1);
        let seeds = || measured.rows.iter().map(|row| row.seed);
        let seeds = match (seeds().min(), seeds().max()) {
            (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
            (Some(only), _) => only.to_string(),
            (None, _) => String::new(),
        };
        let mut report = "whimbrel lab report".to_owned();
        if experiment.is_own() {
            report.push_str(&format!(" {}", command_line::quoted(experiment.on_command_line())));
        }
        Self {
            rows: measured.rows.len(),
            cells: experiment.cells().len(),
            repetitions,
            usual: experiment.repetitions(),
            seeds,
            version: measured.versions.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
            is_of_another: measured.versions.iter().any(|version| *version != experiment.version()),
            command: command_line::run(experiment, repetitions, first),
            report,
        }
    }
}
