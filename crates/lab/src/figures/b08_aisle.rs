//! b08 Figures 10 and 11: how many stations AISLE leaves in each of two access networks, over time, beside what is fair.

use core::time::Duration;
use std::sync::OnceLock;

use whimbrel_handover::AisleParameters;
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{LinkConfig, Phy};
use whimbrel_proto::{Config, HeartbeatForm};

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario, number};
use crate::setups::{Access, Air, Arrival, Stations};
use crate::value::Value;

/// Bytes of the largest message.
const MESSAGE: usize = 1452;
/// Stations that a cell is calibrated with, how long they have to find their rates, and how long these are measured.
const CALIBRATION: (usize, Duration, Duration) = (10, Duration::from_secs(20), Duration::from_secs(60));

/// Which of the figures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Stations come one after the other, into cells of 802.11a and 802.11b.
    Ten,
    /// All are in a cell of 802.11b, beside which there is UMTS.
    Eleven,
}

struct Figure {
    which: Which,
    scenario: Scenario,
    config: Config,
    aisle: AisleParameters,
    access: [Access; 2],
    wire: LinkConfig,
    /// Bit/s that each network carries.
    carries: OnceLock<[f64; 2]>,
}

/// Figure 10.
pub(super) fn ten(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    experiment(papers, Which::Ten)
}

/// Figure 11.
pub(super) fn eleven(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    experiment(papers, Which::Eleven)
}

fn experiment(papers: &Papers, which: Which) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario(if which == Which::Ten { "b08-fig10" } else { "b08-fig11" })?;
    let seconds = |path: &str| scenario.number_at(path).map(Duration::from_secs_f64);
    let mut config = profile::config(&papers.profile(scenario.profile())?, MESSAGE)?;
    config.rto.min = seconds("parameters.rto_min")?;
    config.sack.delay = seconds("parameters.sack_delay")?;
    config.sack.packets = scenario.number_at("parameters.sack_every")? as u32;
    let interval = scenario.setting("parameters.train").and_then(|train| number(train.get("interval")?));
    let interval =
        interval.ok_or_else(|| DataError(format!("{}: trains have no interval", scenario.id())))?;
    config.heartbeat.interval = Some(Duration::from_secs_f64(interval));
    config.heartbeat.form = HeartbeatForm::Train;
    let aisle = AisleParameters {
        advantage: scenario.number_at("parameters.theta")?,
        hysteresis: seconds("parameters.t_h")?,
        validity: seconds("parameters.t_d")?,
    };
    let cell = |phy| Access { air: Air::Cell(phy), delay: Duration::ZERO };
    let access = match which {
        Which::Ten => [cell(Phy::A), cell(Phy::B)],
        Which::Eleven => {
            let queue = scenario.number_at("topology.umts_queue")? as usize;
            let delay = seconds("topology.umts_delay")?;
            [cell(Phy::B), Access { air: Air::CommonChannel(queue), delay }]
        }
    };
    let wire = LinkConfig {
        rate_bps: Some(scenario.number_at("topology.wired_rate")? as u64),
        delay: seconds("topology.wired_delay")?,
        ..LinkConfig::default()
    };
    Ok(Box::new(Figure { which, scenario, config, aisle, access, wire, carries: OnceLock::new() }))
}

impl Figure {
    fn arrivals(&self, cell: &Cell, seed: u64) -> Vec<Arrival> {
        let seed = Seed::from_u64(seed);
        let mut random = seed.stream("arrivals", 0);
        if self.which == Which::Eleven {
            let second = Duration::from_secs(1);
            let arrival = |_| Arrival { at: Instant::ZERO + random.duration_below(second), first: 0 };
            return (0..cell.count("n")).map(arrival).collect();
        }
        /// b08 section 4.2.2.4.
        const MOST: usize = 50;
        const MEAN: f64 = 30.0;
        let mut at = Instant::ZERO;
        let arrival = |_| {
            at += Duration::from_secs_f64(-MEAN * (1.0 - random.unit()).ln());
            Arrival { at, first: usize::from(random.chance(0.5)) }
        };
        (0..MOST).map(arrival).collect()
    }

    /// What each network carries with stations that stay in it: calibration runs.
    fn carries(&self) -> [f64; 2] {
        *self.carries.get_or_init(|| {
            let (stations, settle, measure) = CALIBRATION;
            [0, 1].map(|first| {
                let all = vec![Arrival { at: Instant::ZERO, first }; stations];
                let mut place = Stations::new(1, &self.config, None, self.access, self.wire, &all);
                place.world.forgo_trace_hash();
                place.run_until(Instant::ZERO + settle);
                let before = place.delivered();
                place.run_until(Instant::ZERO + settle + measure);
                (place.delivered() - before) as f64 * 8.0 / measure.as_secs_f64()
            })
        })
    }

    /// The share of the first network that is fair.
    fn fair(&self) -> f64 {
        let [first, second] = self.carries();
        first / (first + second)
    }

    fn times(&self) -> Vec<Value> {
        self.scenario.axis("t")
    }

    /// The last 30 % of the run, in which what is left of the difference is looked at.
    fn is_late(&self, t: f64) -> bool {
        t >= 0.7 * self.times().last().and_then(Value::number).unwrap_or_default()
    }

    /// Rows of Figure 10.
    fn rows_of_ten(&self, counts: &[(Value, usize, usize)], swaps: f64) -> Vec<Sample> {
        let mut rows = Vec::new();
        for (ap, network) in [("a", 0), ("b", 1)] {
            for (t, there, first) in counts {
                let (total, on) = (*there as f64, if network == 0 { *first } else { there - first });
                let share = if network == 0 { self.fair() } else { 1.0 - self.fair() };
                let mut row =
                    Sample { axes: axes([("ap", ap.into()), ("t", t.clone())]), ..Sample::default() };
                row.put("n_stations", on as f64);
                row.put("n_fair", total * share);
                rows.push(row);
            }
        }
        for (t, there, _) in counts {
            let mut row = Sample { axes: axes([("t", t.clone())]), ..Sample::default() };
            row.put("n_total", *there as f64);
            rows.push(row);
        }
        let mut whole = Sample::default();
        whole.put_some("mean_abs_dev", self.deviation(counts, |total| 1.0 / total.max(1.0)));
        whole.put("swaps_per_station", swaps);
        rows.push(whole);
        rows
    }

    fn rows_of_eleven(&self, counts: &[(Value, usize, usize)]) -> Vec<Sample> {
        let row = |(t, there, first): &(Value, usize, usize)| {
            let mut row = Sample { axes: axes([("t", t.clone())]), ..Sample::default() };
            row.put("n_wlan", *first as f64);
            row.put("n_fair", *there as f64 * self.fair());
            row
        };
        let mut whole = Sample::default();
        whole.put_some("mean_abs_dev", self.deviation(counts, |_| 1.0));
        counts.iter().map(row).chain([whole]).collect()
    }

    /// How far the stations of the first network are from what is fair, in the mean over the end of the run.
    fn deviation(&self, counts: &[(Value, usize, usize)], scale: impl Fn(f64) -> f64) -> Option<f64> {
        let late = counts.iter().filter(|(t, ..)| t.number().is_some_and(|t| self.is_late(t)));
        let all: Vec<f64> = late
            .map(|&(_, there, first)| {
                let total = there as f64;
                (first as f64 - total * self.fair()).abs() * scale(total)
            })
            .collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }
}

fn axes<const N: usize>(all: [(&'static str, Value); N]) -> Axes {
    all.map(|(name, value)| (name.into(), value)).to_vec()
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        if self.which == Which::Ten { "b08_fig10" } else { "b08_fig11" }
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        [if self.which == Which::Ten { "ap" } else { "n" }, "t"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        let all: &[&'static str] = match self.which {
            Which::Ten => &["n_stations", "n_fair", "n_total", "mean_abs_dev", "swaps_per_station"],
            Which::Eleven => &["n_wlan", "n_fair", "mean_abs_dev"],
        };
        all.iter().copied().map(Name::from).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        match self.which {
            Which::Ten => vec![Cell::paper(Axes::new())],
            Which::Eleven => grid(&[("n", self.scenario.axis("n"))]).into_iter().map(Cell::paper).collect(),
        }
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let arrivals = self.arrivals(cell, seed);
        let mut place =
            Stations::new(seed, &self.config, Some(self.aisle), self.access, self.wire, &arrivals);
        let wire = place.wire;
        let _ = watch.record(&mut place.world, &[(wire, "wire")]);
        let mut counts = Vec::new();
        for t in self.times() {
            let at = t.number().unwrap_or_default();
            place.run_until(Instant::ZERO + Duration::from_secs_f64(at));
            // Who has not come yet is counted where it begins: all of Figure 11 are there from the start.
            let all = self.which == Which::Eleven && at == 0.0;
            let (there, first) =
                if all { (arrivals.len(), arrivals.len()) } else { (place.present(), place.on(0)) };
            counts.push((t, there, first));
        }
        let _ = place.world.finish();
        let swaps = place.swaps() as f64 / arrivals.len().max(1) as f64;
        let samples = match self.which {
            Which::Ten => self.rows_of_ten(&counts, swaps),
            Which::Eleven => self.rows_of_eleven(&counts),
        };
        Outcome { samples, fingerprint: place.world.trace_hash() }
    }

    fn plots(&self) -> Vec<Plot> {
        let (figure, metric, places, label): (_, _, Vec<Axes>, fn(&Value) -> String) = match self.which {
            Which::Ten => {
                let places = self.scenario.axis("ap").into_iter().map(|ap| axes([("ap", ap)])).collect();
                ("10", "n_stations", places, |ap| format!("802.11{ap}"))
            }
            Which::Eleven => {
                let places = self.scenario.axis("n").into_iter().map(|n| axes([("n", n)])).collect();
                ("11", "n_wlan", places, |n| format!("{n} stations"))
            }
        };
        let line = |at: Axes| Line { label: label(&at[0].1), series: PAPER.into(), at };
        vec![Plot {
            figure,
            title: self.scenario.title().to_owned(),
            x: Quantity::axis("t", "time (s)"),
            y: Quantity::metric(metric, "stations"),
            lines: places.into_iter().map(line).collect(),
        }]
    }
}
