//! b09 Figure 4: how a file arrives, over time, at a mobile node that goes from one network to the other: from the fast one to the slow one, and
//! the other way round.

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch, grid};
use crate::overlap_place::{
    ONE_PATH, ONE_PATH_SAYS, OURS, OverlapPlace, Transfer, Way, axes, called, described,
};
use crate::overlap_rules::{self, Entry};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::value::Value;

/// Receive buffers that are drawn, kB: of these alone curves are kept.
const DRAWN: [i64; 3] = [64, 256, 2048];
/// The buffer of plain mSCTP, kB, which is not to limit it.
const UNLIMITED: i64 = 2048;

struct Figure {
    place: OverlapPlace,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    Ok(Box::new(Figure { place: OverlapPlace::new(papers, "b09-fig4")? }))
}

impl Figure {
    fn axis(&self, name: &'static str) -> Vec<Value> {
        self.place.scenario.axis(name)
    }

    /// The times of a cell's curve.
    fn times(&self, cell: &Cell) -> Vec<Value> {
        let is_drawn =
            cell.get("rbuf_kb").is_none_or(|kb| DRAWN.iter().any(|&drawn| kb.is_same(&drawn.into())));
        if is_drawn { self.axis("t") } else { Vec::new() }
    }

    fn rows(times: Vec<Value>, transfer: &Transfer, whole: Sample) -> Vec<Sample> {
        let point = |(t, &packets): (Value, &f64)| {
            let mut row = Sample { axes: axes([("t", t)]), ..Sample::default() };
            row.put("tsn", packets);
            row
        };
        let curve = times.into_iter().zip(&transfer.curve).map(point);
        core::iter::once(whole).chain(curve).collect()
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b09_fig04"
    }

    fn scenario(&self) -> &Scenario {
        &self.place.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["transition", "scheme", "rbuf_kb", "t"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["transfer_time", "overlap_rate", "tsn", "data_on_new_before_hback", "exit_ok"]
            .map(Name::from)
            .to_vec()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        described().into_iter().chain([(ONE_PATH.into(), ONE_PATH_SAYS)]).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let [transition, buffers] = ["transition", "rbuf_kb"].map(|name| (name, self.axis(name)));
        let mut all = Vec::new();
        for scheme in self.axis("scheme") {
            let is_concurrent = scheme.word() == Some("cmt");
            let buffers = if is_concurrent { buffers.1.clone() } else { vec![UNLIMITED.into()] };
            let place = [transition.clone(), ("scheme", vec![scheme]), ("rbuf_kb", buffers)];
            all.extend(grid(&place).into_iter().map(Cell::paper));
        }
        for series in OURS.into_iter().chain([ONE_PATH]) {
            let place = grid(&[transition.clone(), buffers.clone()]);
            all.extend(place.into_iter().map(|axes| Cell { series: series.into(), axes }));
        }
        all
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let times = self.times(cell);
        let seconds: Vec<f64> = times.iter().filter_map(Value::number).collect();
        let mut whole = Sample::default();
        let Some(mut trip) = self.place.set_out(cell, seed, watch, None) else {
            return Outcome::of(whole, 0);
        };
        let entry = Entry::watch(&mut trip, self.place.least_delay(cell, crate::setups::overlap::NEW));
        let transfer = trip.go(&seconds);
        whole.put_some("transfer_time", transfer.time);
        whole.put_some("overlap_rate", transfer.overlap_rate);
        if cell.series == PAPER && Way::of(cell) == Way::Both {
            whole.put_some("data_on_new_before_hback", entry.early());
            let longer = overlap_rules::LONGER * self.place.file;
            let exit = self.place.set_out(cell, seed, Watch::default(), Some(longer));
            whole.put_some("exit_ok", exit.and_then(overlap_rules::exit));
        }
        Outcome { samples: Self::rows(times, &transfer, whole), fingerprint: transfer.fingerprint }
    }

    fn plots(&self) -> Vec<Plot> {
        let plot = |(figure, transition): (&'static str, &'static str)| {
            let at = |scheme: Option<&'static str>, kb: i64| -> Axes {
                let scheme = scheme.map(|scheme| ("scheme".into(), scheme.into()));
                let place = axes([("transition", transition.into()), ("rbuf_kb", kb.into())]);
                place.into_iter().chain(scheme).collect()
            };
            let line = |label: String, series: &'static str, at| Line { label, series: series.into(), at };
            let plain = [("mSCTP, best", "best"), ("mSCTP, worst", "worst")];
            let plain = plain.map(|(label, scheme)| line(label.into(), PAPER, at(Some(scheme), UNLIMITED)));
            let concurrent = DRAWN.map(|kb| line(format!("mSCTP-CMT, {kb} kB"), PAPER, at(Some("cmt"), kb)));
            let ours = OURS.map(|series| line(format!("{}, 256 kB", called(series)), series, at(None, 256)));
            let others = [
                line("seamless on both networks, 64 kB".into(), SEAMLESS, at(None, 64)),
                line("seamless on one network, 256 kB".into(), ONE_PATH, at(None, 256)),
            ];
            Plot {
                figure,
                title: format!("A file of 8 MB, {}", transition.replace('-', " to ")),
                x: Quantity::axis("t", "time (s)"),
                y: Quantity::metric("tsn", "packets delivered in order"),
                lines: plain.into_iter().chain(concurrent).chain(ours).chain(others).collect(),
            }
        };
        [("4a", "fast-slow"), ("4b", "slow-fast")].map(plot).to_vec()
    }
}
