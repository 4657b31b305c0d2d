//! b09 Figure 5: the smallest receive buffers with which concurrent transfer is worth it, by how unequal the networks are.

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::overlap_place::{OURS, OverlapPlace, axes, called, described};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::value::Value;

/// The buffer of plain mSCTP, kB, which is not to limit it.
const UNLIMITED: i64 = 2048;
/// What is said where no buffer of the grid is large enough, kB.
const NONE: f64 = 9999.0;
/// A transfer that takes so much of the time it takes with the largest buffer is not blocked by its own.
const NOT_BLOCKED: f64 = 1.02;
/// The three goals, and what they are called.
const GOALS: [(&str, &str); 3] = [
    ("rbuf_min_vs_worst", "as worst mSCTP"),
    ("rbuf_min_vs_best", "as best mSCTP"),
    ("rbuf_no_block", "no blocking"),
];
/// The delays of the wires that are drawn, ms.
const DRAWN: [i64; 2] = [5, 90];

struct Figure {
    place: OverlapPlace,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    Ok(Box::new(Figure { place: OverlapPlace::new(papers, "b09-fig5")? }))
}

/// A transfer that was run: its buffer in kB, and its time in seconds if it ended.
type Timed = (f64, Option<f64>);

/// The smallest buffer from which on all times are as `wanted`, in kB.
fn smallest(all: &[Timed], wanted: impl Fn(f64) -> bool) -> f64 {
    let good = |(_, time): &&Timed| time.is_some_and(&wanted);
    all.iter().rev().take_while(good).last().map_or(NONE, |&(kb, _)| kb)
}

impl Figure {
    fn rows(concurrent: &[Timed], [best, worst]: [Option<f64>; 2]) -> Vec<Sample> {
        let row = |&(kb, time): &Timed| {
            let mut row = Sample { axes: axes([("rbuf_kb", Value::from(kb as i64))]), ..Sample::default() };
            row.put_some("transfer_time", time);
            row
        };
        let mut rows: Vec<Sample> = concurrent.iter().map(row).collect();
        let mut whole = Sample::default();
        whole.put_some("best_time", best);
        whole.put_some("worst_time", worst);
        let unlimited = concurrent.last().and_then(|&(_, time)| time);
        whole.put_some("rbuf_min_vs_best", best.map(|best| smallest(concurrent, |time| time < best)));
        whole.put_some("rbuf_min_vs_worst", worst.map(|worst| smallest(concurrent, |time| time < worst)));
        let no_block = |all: f64| smallest(concurrent, |time| time <= NOT_BLOCKED * all);
        whole.put_some("rbuf_no_block", unlimited.map(no_block));
        rows.push(whole);
        rows
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b09_fig05"
    }

    fn scenario(&self) -> &Scenario {
        &self.place.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["bw_ratio", "wired_ms", "rbuf_kb"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        let goals = GOALS.into_iter().map(|(metric, _)| metric);
        ["transfer_time", "best_time", "worst_time"].into_iter().chain(goals).map(Name::from).collect()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        described()
    }

    fn cells(&self) -> Vec<Cell> {
        let place = ["bw_ratio", "wired_ms"].map(|name| (name, self.place.scenario.axis(name)));
        let paper = grid(&place).into_iter().map(Cell::paper);
        let is_drawn = |cell: &Cell| {
            cell.get("wired_ms").is_some_and(|ms| DRAWN.iter().any(|&drawn| ms.is_same(&drawn.into())))
        };
        let drawn: Vec<Cell> = paper.clone().filter(is_drawn).collect();
        let beside = |series: &'static str| {
            drawn.iter().map(move |cell| Cell { series: series.into(), ..cell.clone() }).collect::<Vec<_>>()
        };
        paper.chain(OURS.into_iter().flat_map(beside)).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, mut watch: Watch) -> Outcome {
        let wanted = watch.fingerprint;
        let mut fingerprint = 0_u64;
        let mut time = |series: &str, scheme: &str, kb: &Value| {
            let more = axes([("scheme", scheme.into()), ("rbuf_kb", kb.clone())]);
            let axes: Axes = cell.axes.iter().cloned().chain(more).collect();
            let transfer = Cell { series: series.to_owned().into(), axes };
            let watch = core::mem::replace(&mut watch, Watch { fingerprint: wanted, ..Watch::default() });
            let transfer = self.place.set_out(&transfer, seed, watch, None)?.go(&[]);
            fingerprint = fingerprint.rotate_left(1) ^ transfer.fingerprint;
            transfer.time
        };
        let buffers = self.place.scenario.axis("rbuf_kb");
        let concurrent: Vec<Timed> = buffers
            .iter()
            .map(|kb| (kb.number().unwrap_or_default(), time(&cell.series, "cmt", kb)))
            .collect();
        let plain = ["best", "worst"].map(|scheme| time(PAPER, scheme, &UNLIMITED.into()));
        Outcome { samples: Self::rows(&concurrent, plain), fingerprint }
    }

    fn plots(&self) -> Vec<Plot> {
        let line = |(series, who): (&'static str, &str), ms: i64| Line {
            label: format!("{who}, {ms} ms"),
            series: series.into(),
            at: axes([("wired_ms", ms.into())]),
        };
        let plot = |(figure, (metric, goal)): (&'static str, (&'static str, &str))| Plot {
            figure,
            title: format!("Receive buffer needed: {goal}"),
            x: Quantity::axis("bw_ratio", "rate of the fast network / rate of the slow one"),
            y: Quantity::metric(metric, "kB (9999: none)").logarithmic(),
            lines: core::iter::once((PAPER, "mSCTP-CMT"))
                .chain(OURS.map(|series| (series, called(series))))
                .flat_map(|who| DRAWN.map(|ms| line(who, ms)))
                .collect(),
        };
        ["5-worst", "5-best", "5-noblock"].into_iter().zip(GOALS).map(plot).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_enough_if_all_larger_ones_are() {
        let times =
            [(16.0, Some(9.0)), (32.0, Some(5.0)), (64.0, Some(8.0)), (128.0, Some(4.0)), (256.0, Some(4.0))];
        assert!((smallest(&times, |time| time < 6.0) - 128.0).abs() < 1e-9);
        assert!((smallest(&times, |time| time < 10.0) - 16.0).abs() < 1e-9);
        assert!((smallest(&times, |time| time < 4.0) - NONE).abs() < 1e-9);
        assert!(
            (smallest(&[(16.0, Some(1.0)), (32.0, None)], |time| time < 4.0) - NONE).abs() < 1e-9,
            "it never ended"
        );
    }
}
