//! The grid: one transfer through one bottleneck, for every rate, round trip, queue and trouble that real paths have; and several flows that share one.
//!
//! Real packets in virtual time, with Whimbrel by controller beside the TCP of `rivals`. [`Grid`] and [`Fairness`] are experiments that no
//! paper describes: sweeps, journals and tables are those of the others. [`page`] writes what came out.

mod bed;
mod cells;
mod columns;
mod contender;
mod fairness;
mod measure;
pub mod page;
mod place;

use core::time::Duration;

use toml::Table;
use whimbrel_machine::Instant;

use self::bed::Bed;
use self::measure::{Measured, Spans};
use crate::experiment::{Cell, Experiment, Name, Outcome, Sample, Watch};
use crate::meaning::Meaning;
use crate::plot::Plot;
use crate::scenario::Scenario;
use crate::value::Value;

pub use self::contender::Contender;
pub use self::fairness::Fairness;
pub use self::place::{Place, Trouble};

/// The rates that there are, Mbit/s. The last takes longer than all others together.
pub const RATES: [u64; 4] = [10, 100, 1000, 10_000];

/// One transfer at a time.
pub struct Grid {
    scenario: Scenario,
    places: Vec<Place>,
}

impl Grid {
    /// One of [`RATES`], in Mbit/s.
    pub fn of_rate(rate: u64) -> Self {
        Self::of(&format!("grid_{rate}"), cells::of_rate(rate))
    }

    /// Ten cells that span it.
    pub fn few() -> Self {
        Self::of("grid_few", cells::FEW.to_vec())
    }

    /// Paths on which packets come in another order than they were sent in.
    pub fn disorder() -> Self {
        Self::of("grid_disorder", cells::disordered())
    }

    fn of(name: &str, places: Vec<Place>) -> Self {
        Self { scenario: scenario(name, "one transfer through one bottleneck"), places }
    }
}

/// All that this module has, by name.
pub fn experiments() -> Vec<Box<dyn Experiment>> {
    let rates = RATES.map(|rate| Box::new(Grid::of_rate(rate)) as Box<dyn Experiment>);
    let others: [Box<dyn Experiment>; 3] =
        [Box::new(Grid::few()), Box::new(Grid::disorder()), Box::new(Fairness::default())];
    rates.into_iter().chain(others).collect()
}

fn scenario(name: &str, title: &str) -> Scenario {
    let text = |(key, value): (&str, &str)| (key.to_owned(), toml::Value::from(value));
    Scenario::of_table(name, Table::from_iter([("title", title), ("paper", "grid")].map(text)))
}

/// The first of the seeds. One million are those of a paper's experiment; these are nobody's.
const SEEDS: u64 = 950_000_000;

/// What the experiments here differ in.
trait Measurement: Send + Sync {
    /// Each metric with its unit and meaning.
    const METRICS: &'static [(&'static str, &'static str)];

    fn set_up(&self) -> &Scenario;

    fn all(&self) -> Vec<Cell>;

    fn measure(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome;
}

impl<M: Measurement> Experiment for M {
    fn name(&self) -> &str {
        self.set_up().id()
    }

    fn scenario(&self) -> &Scenario {
        self.set_up()
    }

    fn axes(&self) -> Vec<Name> {
        columns::AXES.iter().map(|(axis, _)| (*axis).into()).collect()
    }

    fn values(&self, axis: &str) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for value in self.all().iter().filter_map(|cell| cell.get(axis)) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        values
    }

    fn metrics(&self) -> Vec<Name> {
        M::METRICS.iter().map(|(metric, _)| (*metric).into()).collect()
    }

    fn meaning(&self, column: &str) -> Meaning {
        let found = columns::AXES.iter().chain(M::METRICS).find(|(name, _)| *name == column);
        found.map(|(_, text)| Meaning::parse(text)).unwrap_or_default()
    }

    fn cells(&self) -> Vec<Cell> {
        self.all()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        self.measure(cell, seed, watch)
    }

    fn plots(&self) -> Vec<Plot> {
        Vec::new()
    }

    fn seed(&self, repetition: u64) -> u64 {
        SEEDS + repetition
    }
}

impl Measurement for Grid {
    const METRICS: &'static [(&'static str, &'static str)] = &columns::METRICS;

    fn set_up(&self) -> &Scenario {
        &self.scenario
    }

    fn all(&self) -> Vec<Cell> {
        cells::for_all(&self.places)
    }

    fn measure(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let Some((place, contender)) = Place::of(cell).zip(Contender::named(&cell.series)) else {
            return Outcome::default();
        };
        let mut bed = Bed::new(seed, place, &[(contender, Instant::ZERO)]);
        let _ = bed.watch(watch);
        let whole = place.duration();
        let spans =
            Spans { whole, warm_up: Duration::from_secs(1).max(place.round_trip() * 20).min(whole / 2) };
        let measured = measure::run(&mut bed, place, spans);
        let _ = bed.world.finish();
        Outcome::of(sample(place, spans, measured), bed.world.trace_hash())
    }
}

/// The row of one transfer; one that did not come up has delivered nothing.
fn sample(place: Place, spans: Spans, measured: Option<Measured>) -> Sample {
    let mut sample = Sample::default();
    let (before, after) =
        measured.as_ref().and_then(|measured| measured.flows.first().copied()).unwrap_or_default();
    sample.put("goodput", mbit(after.delivered, spans.whole));
    sample.put("goodput_settled", mbit(after.delivered - before.delivered, spans.whole - spans.warm_up));
    sample.put("bound", place.bound());
    sample.put("half_rate_limit", place.half_rate_limit().as_secs_f64());
    let Some(measured) = measured else { return sample };
    sample.put_some("half_rate", measured.half_rate.map(|time| time.as_secs_f64()));
    sample.put("queueing", measured.queueing.0.as_secs_f64());
    sample.put("queueing_max", measured.queueing.1.as_secs_f64());
    sample.put("retransmitted", share(after.retransmitted, after.sent));
    sample.put_some("needless", after.needless.map(|needless| share(needless, after.sent)));
    sample.put("timeouts", after.timeouts as f64);
    sample
}

fn mbit(bytes: u64, time: Duration) -> f64 {
    bytes as f64 * 8e-6 / time.as_secs_f64()
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
#[path = "grid_tests.rs"]
mod tests;
