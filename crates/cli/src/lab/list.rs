use clap::Args;
use whimbrel_lab::{Papers, figures, plot};

use super::say;
use crate::exit::Failure;

/// List all experiments
#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// One JSON object per experiment.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ListArgs) -> Result<(), Failure> {
    let papers = Papers::load().map_err(anyhow::Error::from)?;
    for experiment in figures::all(&papers).map_err(anyhow::Error::from)? {
        let scenario = experiment.scenario();
        let (cells, repetitions) = (experiment.cells().len(), experiment.repetitions());
        let plots = experiment.plots();
        if args.json {
            say(format_args!(
                "{}",
                serde_json::json!({
                    "name": experiment.name(), "scenario": scenario.id(), "paper": scenario.paper(),
                    "figures": plot::figures(&plots), "title": experiment.title(), "cells": cells,
                    "repetitions": repetitions, "axes": experiment.axes(), "metrics": experiment.metrics(),
                })
            ));
        } else {
            let of = format!("{} {}", scenario.paper(), plot::spoken_figures(&plots));
            let times = if repetitions == 1 { "repetition" } else { "repetitions" };
            say(format_args!(
                "{:16} {}: {}\n{:16} {cells} cells, {repetitions} {times}",
                experiment.name(),
                of.trim_end(),
                experiment.title(),
                ""
            ));
        }
    }
    Ok(())
}
