//! b08 section 4.2.2.1: what packet trains tell of the capacity of a path with three links (Figure 9 there).

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{Config, Estimate, HeartbeatForm};
use whimbrel_testbed::Notes;

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::three_links::{MESSAGE, Row, ThreeLinks};

/// Between trains.
const INTERVAL: Duration = Duration::from_secs(1);
/// Trains go out for so long, behind what others send before.
const FIRST: Duration = Duration::from_secs(2);
const TRAINS: Duration = Duration::from_secs(10);
/// No train is under way when none has come for so long.
const PAUSE: Duration = Duration::from_millis(500);
/// Chunk type HEARTBEAT, and more bytes than the packet of a small one has.
const HEARTBEAT: u8 = 4;
const LARGE: usize = 1000;

struct Figure {
    scenario: Scenario,
    config: Config,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-sbpp")?;
    let mut config = profile::config(&papers.profile(scenario.profile())?, MESSAGE)?;
    config.heartbeat.interval = Some(INTERVAL);
    config.heartbeat.form = HeartbeatForm::Train;
    Ok(Box::new(Figure { scenario, config }))
}

impl Figure {
    fn row(&self, cell: &Cell) -> Option<Row> {
        let c2 = cell.number("c2");
        let outer = self.scenario.number_at("topology.c1").ok()?;
        // As wide as the outer links, or a quarter of the bottleneck.
        let back = if cell.word("reverse") == "slow" { c2 / 4.0 } else { outer };
        let delay = Duration::from_secs_f64(self.scenario.number_at("topology.link_delay").ok()?);
        Some(Row { outer, middle: [c2, back], delay, cross: cell.number("cross") * c2 })
    }
}

/// What trains have told.
#[derive(Default)]
struct Told {
    last: Option<Estimate>,
    /// Trains that have told something.
    valid: u64,
}

impl Told {
    /// Looks for so long after the last train that has been `sent`.
    fn follow(&mut self, bed: &mut ThreeLinks, time: Duration, sent: impl Fn() -> u64) {
        let (mut trains, mut since) = (sent(), bed.world.now());
        while bed.world.now() < since + time {
            // Two trains are never so close to each other.
            bed.world.run_for(Duration::from_millis(20));
            let now = bed.path().and_then(|path| path.capacity);
            self.valid += u64::from(now.map(|told| told.at) != self.last.map(|told| told.at));
            self.last = now;
            if time == PAUSE && sent() != trains {
                (trains, since) = (sent(), bed.world.now());
            }
        }
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_sbpp"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["c2", "cross", "reverse"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["c_est", "valid_fraction"].map(Name::from).to_vec()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name| (name, self.scenario.axis(name));
        grid(&[axis("c2"), axis("cross"), axis("reverse")]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut sample = Sample::default();
        let Some(row) = self.row(cell) else { return Outcome::of(sample, 0) };
        let mut bed = ThreeLinks::new(seed, &self.config, row);
        let (large, observer) = Notes::by(|large: &mut u64, _, packet| {
            *large += u64::from(packet.bytes.get(12) == Some(&HEARTBEAT) && packet.bytes.len() > LARGE);
        });
        bed.world.set_intruder(Some(observer));
        let _ = bed.watch(watch);
        bed.world.run_until(Instant::ZERO + FIRST);
        let sent = || *large.read() / 2;
        let mut told = Told::default();
        told.follow(&mut bed, PAUSE, sent);
        let (before, known) = (sent(), told.valid);
        told.follow(&mut bed, TRAINS, sent);
        told.follow(&mut bed, PAUSE, sent);
        let (trains, valid) = (sent() - before, told.valid - known);
        let _ = bed.world.finish();
        sample.put_some("c_est", told.last.map(|told| told.rate as f64));
        sample.put_some("valid_fraction", (trains > 0).then(|| valid as f64 / trains as f64));
        Outcome::of(sample, bed.world.trace_hash())
    }

    fn plots(&self) -> Vec<Plot> {
        let lines = |reverse: &str| {
            let line = |c2: &crate::Value| Line {
                label: format!("bottleneck of {c2} bit/s"),
                series: PAPER.into(),
                at: vec![("c2".into(), c2.clone()), ("reverse".into(), reverse.into())],
            };
            self.scenario.axis("c2").iter().map(line).collect::<Vec<_>>()
        };
        let cross = || Quantity::axis("cross", "traffic of others (share of the bottleneck)");
        vec![
            Plot {
                figure: "sbpp",
                title: "Capacity by packet trains".to_owned(),
                x: cross(),
                y: Quantity::metric("c_est", "capacity (bit/s)").logarithmic(),
                lines: lines("fast"),
            },
            Plot {
                figure: "sbpp-valid",
                title: "Packet trains that say something".to_owned(),
                x: cross(),
                y: Quantity::metric("valid_fraction", "share of the trains"),
                lines: lines("fast"),
            },
        ]
    }
}
