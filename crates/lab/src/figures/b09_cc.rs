//! b09 section III.A: what each of the sender's algorithms for concurrent transfer is for, on two unequal paths that are there all the time.

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::overlap_place::{OverlapPlace, Trip, axes};
use crate::overlap_sender::{Asking, Wire, is_stale_ignored, legacy_is_served};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::overlap::NEW;
use crate::value::Value;

/// The retransmission policy of the paper, with which algorithms are switched off.
const USUAL: &str = "rtx-cwnd";

/// The same where no DATA chunk asks for a SACK at once: the I bit is of RFC 7053, later than the paper.
const NOT_ASKED: &str = "no-i-bit";
/// The same over paths that take so long, and of which one is so fast, that a window that does not grow is felt.
const LONG: &str = "long-paths";
/// What [`LONG`] has instead: delay of the wires in ms, and rate of the fast network, of the slow network's.
const WIRES: i64 = 90;
const RATIO: i64 = 14;

struct Figure {
    place: OverlapPlace,
    /// Bytes.
    file: u64,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let place = OverlapPlace::new(papers, "b09-cc")?;
    let file = place.scenario.number_at("parameters.file_bytes")? as u64;
    Ok(Box::new(Figure { place, file }))
}

impl Figure {
    /// The cell with what its series has instead of the set-up.
    fn placed(cell: &Cell) -> Cell {
        let mut cell = cell.clone();
        if cell.series == LONG {
            cell.axes.extend(axes([("wired_ms", WIRES.into()), ("bw_ratio", RATIO.into())]));
        }
        cell
    }

    fn set_out(&self, cell: &Cell, seed: u64, watch: Watch) -> Option<Trip> {
        self.place.stay(cell, self.place.hosts(cell), seed, watch, self.file)
    }

    /// The same against a receiver that knows nothing of concurrent transfer, and plain mSCTP between two such hosts.
    fn legacy(&self, cell: &Cell, seed: u64) -> Option<f64> {
        let plain = || {
            let more = axes([("scheme", "best".into())]);
            self.place.hosts(&Cell::paper(cell.axes.iter().cloned().chain(more).collect()))
        };
        let mut hosts = self.place.hosts(cell);
        hosts.configs[1] = plain().configs[1].clone();
        let set_out = |hosts| self.place.stay(cell, hosts, seed, Watch::default(), self.file);
        legacy_is_served(set_out(hosts)?, set_out(plain())?)
    }
}

fn has_all(cell: &Cell, switches: [(&str, &str); 3]) -> bool {
    switches.iter().all(|&(axis, word)| cell.word(axis) == word) && cell.word("policy") == USUAL
}

/// The place with all algorithms on, but for what an axis changes.
fn all_but(axis: &str, loss: f64) -> Axes {
    let words = [("sfr", "on"), ("cuc", "on"), ("dac", "on"), ("policy", USUAL)];
    let words = words.map(|(name, word)| (Name::from(name), Value::from(word)));
    let all = words.into_iter().chain([("loss".into(), Value::Number(loss))]);
    all.filter(|(name, _)| name != axis).collect()
}

/// The line of a series that shows why a claim on an axis comes out as it does.
fn beside(axis: &str) -> Option<Line> {
    let (series, label) = match axis {
        "dac" => (NOT_ASKED, "no loss, without the I bit"),
        "cuc" => (LONG, "no loss, long paths"),
        _ => return None,
    };
    Some(Line { label: label.to_owned(), series: series.into(), at: all_but(axis, 0.0) })
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b09_cc"
    }

    fn scenario(&self) -> &Scenario {
        &self.place.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["sfr", "cuc", "dac", "policy", "loss"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        let all = [
            "spurious_frtx",
            "sacks_per_packet",
            "goodput",
            "legacy_receiver_ok",
            "stale_sack_dropped",
            "rtt_bias_slow",
        ];
        all.map(Name::from).to_vec()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        vec![
            (
                NOT_ASKED.into(),
                "the same, but the I bit (RFC 7053), with which our sender asks for a SACK at once when its window is full, is cleared on the way: SCTP had none when the paper was written",
            ),
            (
                LONG.into(),
                "the same with wires of 90 ms and a fast network of 14 times the rate, where a window has to grow beyond a few packets before the path is full",
            ),
        ]
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name| (name, self.place.scenario.axis(name));
        let all = grid(&[axis("sfr"), axis("cuc"), axis("dac"), axis("policy"), axis("loss")]);
        let all = all.into_iter().map(Cell::paper);
        // Policies are compared with all algorithms on.
        let switches = [("sfr", "on"), ("cuc", "on"), ("dac", "on")];
        let paper = all.filter(|cell| {
            cell.word("policy") == USUAL || switches.iter().all(|&(axis, word)| cell.word(axis) == word)
        });
        let paper: Vec<Cell> = paper.collect();
        // One algorithm at a time, without loss.
        let beside = |series: &'static str, switch: &'static str| {
            let of = paper.iter().filter(move |cell| {
                let others = ["sfr", "cuc", "dac"].into_iter().filter(|axis| *axis != switch);
                cell.word("policy") == USUAL
                    && cell.number("loss") == 0.0
                    && others.into_iter().all(|axis| cell.word(axis) == "on")
            });
            of.map(move |cell| Cell { series: series.into(), ..cell.clone() })
        };
        let beside: Vec<Cell> = beside(NOT_ASKED, "dac").chain(beside(LONG, "cuc")).collect();
        paper.into_iter().chain(beside).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut sample = Sample::default();
        let cell = &Self::placed(cell);
        let Some(mut trip) = self.set_out(cell, seed, watch) else { return Outcome::of(sample, 0) };
        let asking = if cell.series == NOT_ASKED { Asking::Silenced } else { Asking::Heard };
        let wire = Wire::watch(&mut trip, asking);
        wire.follow(&mut trip);
        let mn = trip.bed.mn;
        let reader = trip.bed.world.app(mn).association();
        let spurious = reader.and_then(|association| trip.bed.world.machine(mn).stats(association));
        let transfer = trip.go(&[]);
        sample.put_some("spurious_frtx", spurious.map(|stats| stats.duplicates_received as f64));
        sample.put_some("sacks_per_packet", wire.sacks_per_packet());
        sample.put_some("goodput", transfer.time.map(|time| self.file as f64 * 8.0 / time));
        if cell.series == PAPER && cell.number("loss") == 0.0 {
            sample.put_some("rtt_bias_slow", wire.bias(self.place.least_delay(cell, NEW)));
            if has_all(cell, [("sfr", "on"), ("cuc", "on"), ("dac", "off")]) {
                sample.put_some("legacy_receiver_ok", self.legacy(cell, seed));
            }
            if has_all(cell, [("sfr", "on"), ("cuc", "on"), ("dac", "on")]) {
                let again = self.set_out(cell, seed, Watch::default());
                sample.put_some("stale_sack_dropped", again.and_then(is_stale_ignored));
            }
        }
        Outcome::of(sample, transfer.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let plot = |figure: &'static str,
                    title: &str,
                    axis: &'static str,
                    across: &'static str,
                    y: (&'static str, &'static str)| {
            let line = |label: &str, loss| Line {
                label: label.to_owned(),
                series: PAPER.into(),
                at: all_but(axis, loss),
            };
            Plot {
                figure,
                title: title.to_owned(),
                x: Quantity::axis(axis, across),
                y: Quantity::metric(y.0, y.1),
                lines: [line("no loss", 0.0), line("2 % lost on the slow path", 0.02)]
                    .into_iter()
                    .chain(beside(axis))
                    .collect(),
            }
        };
        vec![
            plot(
                "cc-sfr",
                "What split fast retransmit is for",
                "sfr",
                "split fast retransmit",
                ("spurious_frtx", "chunks received twice"),
            ),
            plot(
                "cc-cuc",
                "What the window's own point is for",
                "cuc",
                "cwnd update for CMT",
                ("goodput", "goodput (bit/s)"),
            ),
            plot(
                "cc-dac",
                "What delayed acknowledgement is for",
                "dac",
                "delayed acknowledgement for CMT",
                ("sacks_per_packet", "SACKs per packet with DATA"),
            ),
            plot(
                "cc-policy",
                "Where lost data goes",
                "policy",
                "retransmission policy",
                ("goodput", "goodput (bit/s)"),
            ),
        ]
    }
}
