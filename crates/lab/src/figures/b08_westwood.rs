//! b08 section 4.2.2.2: the windows and the moving average of the available bandwidth (Westwood+), on a path that carries what is sent.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::Action;
use whimbrel_proto::{Command, Config, Estimate};
use whimbrel_testbed::blank;

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::three_links::{MESSAGE, PACKET, Row, ThreeLinks};

/// bit/s of all links, of which what is sent takes a small part: nothing ever waits.
const WIDE: f64 = 10e9;
/// Windows of constant delivery before the rate is read.
const WINDOWS: u32 = 60;
/// Windows after the step.
const AFTER_STEP: u32 = 8;
/// A window is no shorter.
const SHORTEST: Duration = Duration::from_millis(50);

struct Figure {
    scenario: Scenario,
    config: Config,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-westwood")?;
    let mut config = profile::config(&papers.profile(scenario.profile())?, MESSAGE)?;
    // The unit experiment is about what is acknowledged: no window holds it up.
    config.limits.receive_buffer = 8 << 20;
    Ok(Box::new(Figure { scenario, config }))
}

/// A host that sends full packets at even intervals, and what it measures.
struct Paced {
    bed: ThreeLinks,
    next: Instant,
    /// What was measured, each time that a window was over.
    estimates: Vec<Estimate>,
}

impl Paced {
    /// Sends at `rate` bit/s of IP packets until `end`.
    fn go(&mut self, rate: f64, end: Instant) {
        let interval = Duration::from_secs_f64(PACKET as f64 * 8.0 / rate);
        while self.next < end {
            self.look_until(self.next);
            if let Some(association) = self.bed.world.app(self.bed.sender).association() {
                let message = blank(0, MESSAGE);
                self.bed.world.act(Action::Command(self.bed.sender, Command::Send { association, message }));
            }
            self.next += interval;
        }
        self.look_until(end);
    }

    fn look_until(&mut self, end: Instant) {
        let (sender, mut last) = (self.bed.sender, self.estimates.last().copied());
        let found = &mut self.estimates;
        self.bed.world.run_until_or(end, |world| {
            let path = world.app(sender).paths(world.machine(sender)).into_iter().next();
            if let Some(now) = path.and_then(|path| path.available)
                && last.is_none_or(|last| last.at != now.at)
            {
                found.push(now);
                last = Some(now);
            }
            false
        });
    }

    /// Seconds from the end of one window to that of the next, in the mean.
    fn window(&self) -> Option<f64> {
        let (first, last) = (self.estimates.first()?, self.estimates.last()?);
        let windows = self.estimates.len() as f64 - 1.0;
        (windows > 0.0).then(|| (last.at - first.at).as_secs_f64() / windows)
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_westwood"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["rate", "rtt"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["window", "b_est", "step_response"].map(Name::from).to_vec()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name| (name, self.scenario.axis(name));
        grid(&[axis("rate"), axis("rtt")]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let (rate, round_trip) = (cell.number("rate"), Duration::from_secs_f64(cell.number("rtt")));
        let row = Row { outer: WIDE, middle: [WIDE; 2], delay: round_trip / 6, cross: 0.0 };
        let mut bed = ThreeLinks::new(seed, &self.config, row);
        let _ = bed.watch(watch);
        let began = Instant::ZERO + Duration::from_secs(1);
        bed.world.run_until(began);
        let mut paced = Paced { bed, next: began, estimates: Vec::new() };
        let window = round_trip.max(SHORTEST);
        // One window goes by before the first measurement, and the round trip before the first acknowledgement.
        let steady = began + round_trip + window * (WINDOWS + 1);
        paced.go(rate, steady);
        let mut sample = Sample::default();
        sample.put_some("window", paced.window());
        let before = paced.estimates.last().copied();
        sample.put_some("b_est", before.map(|estimate| estimate.rate as f64));
        // What was sent before the step is acknowledged as a window ends.
        let boundary = before.map_or(steady, |estimate| estimate.at);
        let ahead = (round_trip.as_nanos() / window.as_nanos()) as u32 + 2;
        let step = boundary + window * ahead - round_trip;
        paced.go(rate, step);
        paced.go(rate * 2.0, step + round_trip + window * AFTER_STEP + window / 2);
        let after = paced.estimates.last().map(|estimate| estimate.rate as f64);
        sample.put_some("step_response", after.map(|after| after / (rate * 2.0)));
        let _ = paced.bed.world.finish();
        Outcome::of(sample, paced.bed.world.trace_hash())
    }

    fn plots(&self) -> Vec<Plot> {
        let lines = || {
            let line = |rate: &crate::Value| Line {
                label: format!("{rate} bit/s"),
                series: PAPER.into(),
                at: vec![("rate".into(), rate.clone())],
            };
            self.scenario.axis("rate").iter().map(line).collect::<Vec<_>>()
        };
        let plot = |figure, title: &str, y: Quantity| Plot {
            figure,
            title: title.to_owned(),
            x: Quantity::axis("rtt", "round trip (s)"),
            y,
            lines: lines(),
        };
        vec![
            plot(
                "westwood-window",
                "What a sample of the available bandwidth covers",
                Quantity::metric("window", "window (s)"),
            ),
            plot(
                "westwood-rate",
                "Available bandwidth after 60 windows",
                Quantity::metric("b_est", "estimate (bit/s)").logarithmic(),
            ),
            plot(
                "westwood-step",
                "Eight windows after the rate has doubled",
                Quantity::metric("step_response", "estimate as a part of the new rate"),
            ),
        ]
    }
}
