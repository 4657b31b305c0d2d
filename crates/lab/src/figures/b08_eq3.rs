//! b08 equations 1 to 3: how long a path takes to fail when nothing but its timers says so.
//!
//! One message is in flight at a time: the first leaves when the path has just broken, each of the others at the moment the timer of
//! the one before has expired, so that nothing is added to the timers. The round trip is shorter than any of the RTOs.

use core::time::Duration;

use whimbrel_machine::{Instant, InterfaceKind};
use whimbrel_netsim::{Action, LinkConfig};
use whimbrel_proto::{Command, Config};
use whimbrel_testbed::blank;

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::{AccessNetwork, Hosts, TwoPaths, User};

/// The longest message that goes as one packet, bytes: the timer arithmetic is about one chunk in flight.
const LONGEST: usize = 1452;
/// Both paths: fast, and short against 20 ms.
const NETWORK: AccessNetwork =
    AccessNetwork { rate: 100e6, delay: Duration::from_millis(1), kind: InterfaceKind::Other };
const QUEUE: u32 = 50;
/// Longer than any failover here takes.
const PATIENCE: Duration = Duration::from_secs(600);

struct Figure {
    scenario: Scenario,
    config: Config,
    /// Bytes of each message.
    message: usize,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-eq3")?;
    let message = scenario.number_at("parameters.message")? as usize;
    if message > LONGEST {
        return Err(DataError(format!("b08-eq3: no message has {message} bytes here")));
    }
    let mut config = profile::config(&papers.profile(scenario.profile())?, message)?;
    // Nothing but T3-rtx is in play.
    config.heartbeat.interval = None;
    Ok(Box::new(Figure { scenario, config, message }))
}

impl Figure {
    fn bed(&self, cell: &Cell, seed: u64) -> TwoPaths {
        let mut config = self.config.clone();
        // The floor keeps the RTO where the axis has it, whatever the round trip.
        config.rto.min = Duration::from_secs_f64(cell.number("rto"));
        config.rto.initial = config.rto.min;
        config.failure.path_max_retrans = cell.count("pmr");
        let wire = LinkConfig::default();
        TwoPaths::new(seed, Hosts::Plain(config), [NETWORK; 2], wire, QUEUE, |peer| {
            User::opener(Instant::ZERO, peer)
        })
    }
}

fn send(bed: &mut TwoPaths, size: usize) {
    let Some(association) = bed.world.app(bed.cn).association() else { return };
    let message = blank(0, size);
    bed.world.act(Action::Command(bed.cn, Command::Send { association, message }));
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_eq3"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["rto", "pmr"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["t_fail", "rto_seq_ok"].map(Name::from).to_vec()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name| (name, self.scenario.axis(name));
        grid(&[axis("rto"), axis("pmr")]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let mut bed = self.bed(cell, seed);
        let _ = bed.watch(watch);
        // By then both paths are confirmed and their round trips known.
        let began = Instant::ZERO + settled_after(cell);
        bed.break_path(0, began);
        bed.world.run_until(began);
        let (min, max) = (Duration::from_secs_f64(cell.number("rto")), self.config.rto.max);
        let mut as_equation_1 = true;
        let failed_over = loop {
            let Some(before) = bed.path(0) else { break None };
            send(&mut bed, self.message);
            let (cn, expiries) = (bed.cn, before.counters.timeouts);
            let expired = |world: &whimbrel_netsim::World<whimbrel_node::Node, User>| {
                let paths = world.app(cn).paths(world.machine(cn));
                paths.iter().any(|path| path.id == before.id && path.counters.timeouts > expiries)
            };
            bed.world.run_until_or(began + PATIENCE, expired);
            let doubled = (before.rto * 2).max(min).min(max);
            as_equation_1 &= bed.path(0).is_some_and(|path| path.rto == doubled);
            let moved = bed.world.app(cn).first_move(began);
            if moved.is_some() || bed.world.now() >= began + PATIENCE {
                break moved;
            }
        };
        let _ = bed.world.finish();
        let mut sample = Sample::default();
        sample.put_some("t_fail", failed_over.map(|moved| (moved.at - began).as_secs_f64()));
        sample.put("rto_seq_ok", f64::from(u8::from(as_equation_1)));
        Outcome::of(sample, bed.world.trace_hash())
    }

    fn plots(&self) -> Vec<Plot> {
        let line = |rto: &crate::Value| Line {
            label: format!("RTO {rto} s"),
            series: PAPER.into(),
            at: vec![("rto".into(), rto.clone())],
        };
        vec![Plot {
            figure: "eq3",
            title: "Failover time by timers alone".to_owned(),
            x: Quantity::axis("pmr", "Path.Max.Retrans"),
            y: Quantity::metric("t_fail", "failover time (s)").logarithmic(),
            lines: self.scenario.axis("rto").iter().map(line).collect(),
        }]
    }
}

/// The handshake may wait for an RTO, and paths are confirmed within a few.
fn settled_after(cell: &Cell) -> Duration {
    Duration::from_secs_f64(5.0 + 4.0 * cell.number("rto"))
}
