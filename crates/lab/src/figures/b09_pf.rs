//! b09 section III.B: what the potentially-failed state is for. The slow one of two paths is dead for a while, whatever Path.Max.Retrans is.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{PathState, PathView};

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::overlap_place::{LONGEST, OverlapPlace, Trip, axes};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::overlap::{NEW, mobile_in};

/// So many times the file is still going when a path is given up that never comes back.
const LONGER: u64 = 6;

struct Figure {
    place: OverlapPlace,
    /// When the slow path is dead, from the first data on.
    outage: [Duration; 2],
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let place = OverlapPlace::new(papers, "b09-pf")?;
    let outage = place.scenario.read::<[f64; 2]>("parameters.outage")?.map(Duration::from_secs_f64);
    Ok(Box::new(Figure { place, outage }))
}

/// What the sender does about the slow path while that is potentially failed.
#[derive(Default)]
struct Seen {
    before: Option<PathView>,
    /// DATA chunks that went there though the other path was active.
    data: u64,
    /// When something else went there, and the RTO then.
    probes: Vec<(Instant, Duration)>,
}

impl Seen {
    /// Looks at the sender's paths after an event.
    fn look(&mut self, now: Instant, paths: &[PathView]) {
        let Some(slow) = paths.iter().find(|path| path.route.remote == mobile_in(NEW)) else { return };
        let other = paths.iter().any(|path| path.id != slow.id && path.state == PathState::Active);
        let failed = |path: &PathView| path.state == PathState::PotentiallyFailed;
        if let Some(before) = self.before.as_ref().filter(|_| failed(slow)) {
            let data = chunks(slow) - chunks(before);
            let packets = slow.counters.packets_sent - before.counters.packets_sent;
            if failed(before) && other {
                self.data += data;
            }
            if packets > data {
                self.probes.push((now, slow.rto));
            }
        }
        self.before = Some(slow.clone());
    }

    /// HEARTBEATs per RTO, from the first to the last.
    fn probes_per_rto(&self) -> Option<f64> {
        let [(first, _), .., (last, _)] = self.probes.as_slice() else { return None };
        let due: Duration = self.probes.iter().rev().skip(1).map(|(_, rto)| *rto).sum();
        Some(due.as_secs_f64() / (*last - *first).as_secs_f64())
    }
}

fn chunks(path: &PathView) -> u64 {
    path.counters.data_sent + path.counters.data_retransmitted
}

impl Figure {
    fn set_out(&self, cell: &Cell, seed: u64, watch: Watch, times: u64) -> Option<Trip> {
        self.place.stay(cell, self.place.hosts(cell), seed, watch, self.place.file * times)
    }

    /// How many failures in a row make the path inactive that never comes back: time-outs and HEARTBEATs without an answer.
    fn failures(&self, mut trip: Trip) -> Option<f64> {
        let from = trip.began + self.outage[0];
        trip.bed.radio[NEW].cut(&mut trip.bed.world, from);
        trip.bed.run_until(from);
        let until = from + LONGEST;
        let cn = trip.bed.cn;
        let timeouts = |path: &PathView| path.counters.timeouts;
        let before = trip.bed.path(NEW).as_ref().map(timeouts)?;
        let (mut seen, mut failures) = (Seen::default(), None);
        trip.bed.world.run_until_or(until, |world| {
            let paths = world.app(cn).paths(world.machine(cn));
            // What goes out in the moment in which the path is given up has not failed yet.
            let probes = seen.probes.len() as u64;
            seen.look(world.now(), &paths);
            let slow = seen.before.as_ref().filter(|path| path.state == PathState::Inactive);
            failures = slow.map(|path| (timeouts(path) - before + probes) as f64);
            failures.is_some()
        });
        failures
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b09_pf"
    }

    fn scenario(&self) -> &Scenario {
        &self.place.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["pf", "pmr"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["transfer_time", "data_on_pf_path", "hb_per_rto", "timeouts_to_inactive"].map(Name::from).to_vec()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name| (name, self.place.scenario.axis(name));
        grid(&[axis("pf"), axis("pmr")]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut sample = Sample::default();
        let Some(mut trip) = self.set_out(cell, seed, watch, 1) else { return Outcome::of(sample, 0) };
        let [from, until] = self.outage.map(|time| trip.began + time);
        trip.bed.radio[NEW].cut(&mut trip.bed.world, from);
        trip.bed.radio[NEW].heal(&mut trip.bed.world, until);
        let (cn, mut seen) = (trip.bed.cn, Seen::default());
        // Long enough for the probe that finds the path alive again.
        trip.bed.world.run_until_or(until + (until - from) * 2, |world| {
            seen.look(world.now(), &world.app(cn).paths(world.machine(cn)));
            false
        });
        let transfer = trip.go(&[]);
        sample.put_some("transfer_time", transfer.time);
        if cell.word("pf") == "on" {
            sample.put("data_on_pf_path", seen.data as f64);
            sample.put_some("hb_per_rto", seen.probes_per_rto());
            let longer = self.set_out(cell, seed, Watch::default(), LONGER);
            sample.put_some("timeouts_to_inactive", longer.and_then(|trip| self.failures(trip)));
        }
        Outcome::of(sample, transfer.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let line = |(label, pf): (&str, &'static str)| Line {
            label: label.to_owned(),
            series: PAPER.into(),
            at: axes([("pf", pf.into())]),
        };
        vec![Plot {
            figure: "pf",
            title: "A path that is dead for ten seconds".to_owned(),
            x: Quantity::axis("pmr", "Path.Max.Retrans"),
            y: Quantity::metric("transfer_time", "time of the transfer (s)"),
            lines: [("potentially failed after one time-out", "on"), ("without that state", "off")]
                .map(line)
                .to_vec(),
        }]
    }
}
