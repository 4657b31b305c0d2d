//! b09 Figure 6: how long a file takes, by how long both networks are there.

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::overlap_place::{ONE_PATH, ONE_PATH_SAYS, OURS, OverlapPlace, axes, called, described};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::value::Value;

/// The buffer of plain mSCTP, kB, which is not to limit it.
const UNLIMITED: i64 = 2048;

struct Figure {
    place: OverlapPlace,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    Ok(Box::new(Figure { place: OverlapPlace::new(papers, "b09-fig6")? }))
}

impl Figure {
    fn axis(&self, name: &'static str) -> (&'static str, Vec<Value>) {
        (name, self.place.scenario.axis(name))
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b09_fig06"
    }

    fn scenario(&self) -> &Scenario {
        &self.place.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["bw_ratio", "wired_ms", "t_dwell", "scheme", "rbuf_kb"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        vec!["transfer_time".into()]
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        described().into_iter().chain([(ONE_PATH.into(), ONE_PATH_SAYS)]).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let [ratio, wired, dwell, buffers] =
            ["bw_ratio", "wired_ms", "t_dwell", "rbuf_kb"].map(|name| self.axis(name));
        let mut all = Vec::new();
        for scheme in self.axis("scheme").1 {
            let is_concurrent = scheme.word() == Some("cmt");
            let buffers = if is_concurrent { buffers.1.clone() } else { vec![UNLIMITED.into()] };
            let more = [("scheme", vec![scheme]), ("rbuf_kb", buffers)];
            let place: Vec<_> =
                [ratio.clone(), wired.clone(), dwell.clone()].into_iter().chain(more).collect();
            all.extend(grid(&place).into_iter().map(Cell::paper));
        }
        for series in OURS.into_iter().chain([ONE_PATH]) {
            let place = grid(&[ratio.clone(), wired.clone(), dwell.clone(), buffers.clone()]);
            all.extend(place.into_iter().map(|axes| Cell { series: series.into(), axes }));
        }
        all
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut sample = Sample::default();
        let Some(trip) = self.place.set_out(cell, seed, watch, None) else { return Outcome::of(sample, 0) };
        let transfer = trip.go(&[]);
        sample.put_some("transfer_time", transfer.time);
        Outcome::of(sample, transfer.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let plot = |figure: &'static str, ratio: i64, ms: i64| {
            let line = |label: String, series: &'static str, scheme: Option<&'static str>, kb: i64| {
                let mut at =
                    axes([("bw_ratio", ratio.into()), ("wired_ms", ms.into()), ("rbuf_kb", kb.into())]);
                at.extend(scheme.map(|scheme| ("scheme".into(), scheme.into())));
                Line { label, series: series.into(), at }
            };
            let concurrent =
                [64, 128, 256, 2048].map(|kb| line(format!("mSCTP-CMT, {kb} kB"), PAPER, Some("cmt"), kb));
            let plain = [
                line("mSCTP, best".into(), PAPER, Some("best"), UNLIMITED),
                line("mSCTP, worst".into(), PAPER, Some("worst"), UNLIMITED),
            ];
            let ours = OURS.map(|series| line(format!("{}, 256 kB", called(series)), series, None, 256));
            let one = line("seamless on one network, 256 kB".into(), ONE_PATH, None, 256);
            Plot {
                figure,
                title: format!("A fast network with {ratio} times the rate, wires of {ms} ms"),
                x: Quantity::axis("t_dwell", "time in the overlap (s)"),
                y: Quantity::metric("transfer_time", "time of the transfer (s)"),
                lines: plain.into_iter().chain(concurrent).chain(ours).chain([one]).collect(),
            }
        };
        vec![plot("6a", 2, 5), plot("6a-90ms", 2, 90), plot("6b", 4, 5), plot("6b-90ms", 4, 90)]
    }
}
