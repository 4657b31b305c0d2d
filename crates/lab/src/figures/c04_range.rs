//! c04 section 3.2: the range of Primary-TH, as formula 2 is in the policy.

use whimbrel_handover::primary_threshold;
use whimbrel_machine::ReceivedPower;

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};

struct Figure {
    scenario: Scenario,
    reception: ReceivedPower,
    radius: f64,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("c04-range")?;
    Ok(Box::new(Figure {
        reception: ReceivedPower::from_watts(scenario.number_at("radio.l2_th")?),
        radius: scenario.number_at("topology.cell_radius")?,
        scenario,
    }))
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "c04_range"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["speed", "delay"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        vec!["primary_th".into()]
    }

    /// A formula needs no repetition.
    fn repetitions(&self) -> u64 {
        1
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name| (name, self.scenario.axis(name));
        grid(&[axis("speed"), axis("delay")]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, _seed: u64, _watch: Watch) -> Outcome {
        let moved = cell.number("speed") * cell.number("delay");
        let mut sample = Sample::default();
        sample.put("primary_th", primary_threshold(self.reception, self.radius, moved).watts());
        Outcome::of(sample, 0)
    }

    fn has_network(&self) -> bool {
        false
    }

    fn plots(&self) -> Vec<Plot> {
        let line = |delay: &crate::Value| Line {
            label: format!("delay {delay} s"),
            series: PAPER.into(),
            at: vec![("delay".into(), delay.clone())],
        };
        vec![Plot {
            figure: "range",
            title: "The least Primary-TH (formula 2)".to_owned(),
            x: Quantity::axis("speed", "speed (m/s)"),
            y: Quantity::metric("primary_th", "Primary-TH (1e-10 W)").times(1e10),
            lines: self.scenario.axis("delay").iter().map(line).collect(),
        }]
    }
}
