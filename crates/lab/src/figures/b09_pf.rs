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

/// The same with a path that never comes back: what Path.Max.Retrans costs while it is dead, and no more.
const FOR_GOOD: &str = "dead-for-good";
/// The same with HEARTBEATs on inactive paths a second and an RTO apart, instead of half a minute.
const PROBED: &str = "probed";
const PROBING: Duration = Duration::from_secs(1);

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
    /// HEARTBEATs that went there.
    probes: u64,
    /// When the last of them did, if the path is still waiting for an answer, and the RTO then.
    last: Option<(Instant, Duration)>,
    /// The RTOs of all that were not answered, and the times until the next one went out or the path was given up.
    due: Duration,
    took: Duration,
}

impl Seen {
    /// Looks at the sender's paths after an event.
    fn look(&mut self, now: Instant, paths: &[PathView]) {
        let Some(slow) = paths.iter().find(|path| path.route.remote == mobile_in(NEW)) else { return };
        let other = paths.iter().any(|path| path.id != slow.id && path.state == PathState::Active);
        let failed = |path: &PathView| path.state == PathState::PotentiallyFailed;
        if let Some(before) = &self.before {
            let data = chunks(slow) - chunks(before);
            let packets = slow.counters.packets_sent - before.counters.packets_sent;
            if failed(before) && failed(slow) && other {
                self.data += data;
            }
            let probed = failed(slow) && packets > data;
            let given_up = failed(before) && slow.state == PathState::Inactive;
            if probed || given_up {
                if let Some((at, rto)) = self.last {
                    (self.due, self.took) = (self.due + rto, self.took + (now - at));
                }
                self.probes += u64::from(probed);
                self.last = probed.then_some((now, slow.rto));
            }
            if slow.state == PathState::Active {
                self.last = None;
            }
        }
        self.before = Some(slow.clone());
    }

    /// HEARTBEATs per RTO; `None` if all were answered.
    fn probes_per_rto(&self) -> Option<f64> {
        (!self.took.is_zero()).then(|| self.due.as_secs_f64() / self.took.as_secs_f64())
    }
}

fn chunks(path: &PathView) -> u64 {
    path.counters.data_sent + path.counters.data_retransmitted
}

impl Figure {
    /// When the slow path is dead in a cell.
    fn outage(&self, cell: &Cell, began: Instant) -> [Instant; 2] {
        let [from, until] = self.outage;
        [began + from, began + if cell.series == FOR_GOOD { LONGEST } else { until }]
    }

    fn set_out(&self, cell: &Cell, seed: u64, watch: Watch, times: u64) -> Option<Trip> {
        let mut hosts = self.place.hosts(cell);
        if cell.series == PROBED {
            hosts.configs.iter_mut().for_each(|config| config.heartbeat.interval = Some(PROBING));
        }
        self.place.stay(cell, hosts, seed, watch, self.place.file * times)
    }

    /// How many failures in a row make the path inactive that never comes back: time-outs and HEARTBEATs without an answer.
    ///
    /// A row begins when the path was active last. That may be before the outage: what overruns the path's queue times out as well.
    fn failures(&self, mut trip: Trip) -> Option<f64> {
        let from = trip.began + self.outage[0];
        trip.bed.radio[NEW].cut(&mut trip.bed.world, from);
        let cn = trip.bed.cn;
        let timeouts = |path: &PathView| path.counters.timeouts;
        // There is no such path yet.
        let (mut before, mut seen, mut failures) = (0, Seen::default(), None);
        trip.bed.world.run_until_or(from + LONGEST, |world| {
            let paths = world.app(cn).paths(world.machine(cn));
            // What goes out in the moment in which the path is given up has not failed yet.
            let probes = seen.probes;
            seen.look(world.now(), &paths);
            match &seen.before {
                Some(slow) if slow.state == PathState::Active => {
                    (before, seen.probes) = (timeouts(slow), 0);
                }
                Some(slow) if slow.state == PathState::Inactive => {
                    failures = Some((timeouts(slow) - before + probes) as f64);
                }
                _ => {}
            }
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

    fn series(&self) -> Vec<(Name, &'static str)> {
        vec![
            (
                FOR_GOOD.into(),
                "the same with a slow path that never comes back: what is lost is what Path.Max.Retrans costs while the path is dead",
            ),
            (
                PROBED.into(),
                "the same with a HEARTBEAT on an inactive path every second and RTO: Path.Max.Retrans also decides when a path is inactive, which then waits for HB.interval, half a minute, until it is found alive",
            ),
        ]
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name| (name, self.place.scenario.axis(name));
        let all = grid(&[axis("pf"), axis("pmr")]);
        let of = |series: &'static str| {
            all.iter().map(move |axes| Cell { series: series.into(), axes: axes.clone() })
        };
        [PAPER, FOR_GOOD, PROBED].into_iter().flat_map(of).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut sample = Sample::default();
        let Some(mut trip) = self.set_out(cell, seed, watch, 1) else { return Outcome::of(sample, 0) };
        let [from, until] = self.outage(cell, trip.began);
        trip.bed.radio[NEW].cut(&mut trip.bed.world, from);
        trip.bed.radio[NEW].heal(&mut trip.bed.world, until);
        let (cn, mn, mut seen) = (trip.bed.cn, trip.bed.mn, Seen::default());
        let file = trip.bed.file();
        trip.bed.world.run_until_or(trip.began + LONGEST, |world| {
            seen.look(world.now(), &world.app(cn).paths(world.machine(cn)));
            world.app(mn).received >= file
        });
        let transfer = trip.go(&[]);
        sample.put_some("transfer_time", transfer.time);
        if cell.series == PAPER && cell.word("pf") == "on" {
            sample.put("data_on_pf_path", seen.data as f64);
            sample.put_some("hb_per_rto", seen.probes_per_rto());
            let longer = self.set_out(cell, seed, Watch::default(), LONGER);
            sample.put_some("timeouts_to_inactive", longer.and_then(|trip| self.failures(trip)));
        }
        Outcome::of(sample, transfer.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let line = |(series, (label, pf)): (&'static str, (&str, &'static str))| Line {
            label: match series {
                FOR_GOOD => format!("dead for good, {label}"),
                PROBED => format!("probed every second, {label}"),
                _ => label.to_owned(),
            },
            series: series.into(),
            at: axes([("pf", pf.into())]),
        };
        let states = [("potentially failed after one time-out", "on"), ("without that state", "off")];
        vec![Plot {
            figure: "pf",
            title: "A path that is dead for ten seconds".to_owned(),
            x: Quantity::axis("pmr", "Path.Max.Retrans"),
            y: Quantity::metric("transfer_time", "time of the transfer (s)"),
            lines: [PAPER, FOR_GOOD, PROBED]
                .into_iter()
                .flat_map(|series| states.map(|state| (series, state)))
                .map(line)
                .collect(),
        }]
    }
}
