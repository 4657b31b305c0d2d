use core::cmp::Ordering;

use super::rows::{At, replay};
use crate::grid::Contender;

/// The goal: at least TCP's goodput in so many cells of a hundred …
const MOST: f64 = 0.9;
/// … and never less than this share of it.
const NEVER_BELOW: f64 = 0.8;
/// Two that fill a bottleneck differ by so much, by when they began.
const ALIKE: f64 = 0.99;
/// With a queue of four BDP the round trip of BBR is less than this many of that without.
const DEEP: (f64, f64) = (4.0, 1.5);
/// How many of the worst cells are shown.
const WORST: usize = 5;

/// How many cells meet what is wanted.
pub(super) fn written(grid: &[At<'_>]) -> String {
    let ours = Contender::OURS;
    let mut text = format!(
        "## What meets the goal\n\nThe goal is at least the goodput of `tcp-cubic` (99 % of it counts) in {:.0} % of the cells, and never less than {:.0} %; half of the rate \
         within ⌈log2(BDP / 10 packets)⌉ + 2 round trips of the first data; and a round trip of less than {} times that of the empty path with BBR and a queue of {} BDP.\n\n",
        MOST * 100.0,
        NEVER_BELOW * 100.0,
        DEEP.1,
        DEEP.0
    );
    text.push_str(&line("", ours.map(|one| format!("`{}`", one.name()))));
    text.push_str("|---|---|---|---|\n");
    let ratios = ours.map(|one| grid.iter().map(|at| at.beside_tcp(one)).collect::<Vec<_>>());
    let count = |least: f64| {
        ratios.each_ref().map(|all| part(all.iter().filter(|ratio| **ratio >= least).count(), all.len()))
    };
    text.push_str(&line("cells with the goodput of `tcp-cubic` or more", count(ALIKE)));
    text.push_str(&line("cells with 80 % of it or more", count(NEVER_BELOW)));
    let met = ratios.each_ref().map(|all| {
        let enough = all.iter().filter(|ratio| **ratio >= ALIKE).count() as f64 >= MOST * all.len() as f64;
        let yes = enough && all.iter().all(|ratio| *ratio >= NEVER_BELOW);
        if yes { "**yes**" } else { "no" }.to_owned()
    });
    text.push_str(&line("goal for goodput met", met));
    let bound = ours.map(|one| {
        let fills =
            |at: &&At<'_>| at.of(one, "goodput").unwrap_or_default() >= NEVER_BELOW * at.place.bound();
        part(grid.iter().filter(fills).count(), grid.len())
    });
    text.push_str(&line("cells with 80 % of the bound or more", bound));
    text.push_str(&line("cells with half the rate in time", ours.map(|one| in_time(grid, one))));
    text.push_str(&line(
        "cells of 4 BDP with a mean round trip below 1.5 of the empty path's",
        ours.map(|one| shallow(grid, one)),
    ));
    text.push_str(&worst(grid));
    text
}

fn line(what: &str, values: [String; 3]) -> String {
    format!("| {what} | {} |\n", values.join(" | "))
}

fn part(some: usize, all: usize) -> String {
    format!("{some} of {all}")
}

fn in_time(grid: &[At<'_>], one: Contender) -> String {
    let is = |at: &&At<'_>| {
        let limit = at.of(one, "half_rate_limit");
        at.of(one, "half_rate").zip(limit).is_some_and(|(took, limit)| took <= limit)
    };
    part(grid.iter().filter(is).count(), grid.len())
}

fn shallow(grid: &[At<'_>], one: Contender) -> String {
    let deep: Vec<_> = grid.iter().filter(|at| at.place.queue >= DEEP.0).collect();
    let is = |at: &&&At<'_>| {
        let empty = at.place.rtt as f64 / 1e3;
        at.of(one, "queueing").is_some_and(|waits| waits + empty < DEEP.1 * empty)
    };
    part(deep.iter().filter(is).count(), deep.len())
}

/// Where each of ours is furthest behind, with the command that runs it again.
fn worst(grid: &[At<'_>]) -> String {
    let mut text =
        "\nFurthest behind `tcp-cubic`, and how to see it again (`--events` and `--pcap` record it):\n\n"
            .to_owned();
    for one in Contender::OURS {
        let mut all: Vec<(f64, &At<'_>)> = grid.iter().map(|at| (at.beside_tcp(one), at)).collect();
        all.sort_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        for (ratio, at) in all.into_iter().take(WORST).filter(|(ratio, _)| *ratio < NEVER_BELOW) {
            let experiment = format!("grid_{}", at.place.rate);
            text.push_str(&format!("- {:.0} %: `{}`\n", ratio * 100.0, replay(&experiment, at.place, one)));
        }
    }
    text.push('\n');
    text
}
