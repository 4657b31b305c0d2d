//! b08 sections 3.2 and 3.3: the rules of dynamic address reconfiguration, one case each.

use whimbrel_machine::Instant;
use whimbrel_proto::Config;

use crate::dar;
use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};

/// Bytes of user data in a full packet.
const LARGEST: usize = 1452;
/// The steps of section 3.3.3.
const STEPS: [&str; 7] = ["s1", "s2", "s3", "s4", "s5", "s6", "s7"];

struct Figure {
    scenario: Scenario,
    config: Config,
}

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    let scenario = papers.scenario("b08-dar")?;
    let paper = profile::config(&papers.profile(scenario.profile())?, LARGEST)?;
    let config = dar::with_moving_addresses(paper);
    Ok(Box::new(Figure { scenario, config }))
}

/// A row for each step: its place in the order in which they were seen, and when that was. A step that was not seen has neither.
fn step_rows(steps: &[Option<(usize, Instant)>; 7]) -> Vec<Sample> {
    let seen = STEPS.iter().zip(steps).filter_map(|(step, seen)| Some((step, (*seen)?)));
    let mut order: Vec<_> = seen.collect();
    order.sort_by_key(|&(_, (place, _))| place);
    let named = |step: &'static str| Sample { axes: vec![("step".into(), step.into())], ..Sample::default() };
    let row = |(place, (step, (_, at))): (usize, (&&'static str, (usize, Instant)))| {
        let mut sample = named(step);
        sample.put("steps", place as f64 + 1.0);
        sample.put("step_at", at.as_secs_f64());
        sample
    };
    let missed = STEPS.iter().zip(steps).filter(|(_, seen)| seen.is_none()).map(|(step, _)| named(step));
    order.into_iter().enumerate().map(row).chain(missed).collect()
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "b08_dar"
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["case", "step"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["ok", "steps", "step_at", "by_parameter", "by_source", "by_source_alone"].map(Name::from).to_vec()
    }

    fn cells(&self) -> Vec<Cell> {
        grid(&[("case", self.scenario.axis("case"))]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let Some(found) = dar::try_rule(cell.word("case"), &self.config, seed, watch) else {
            return Outcome::of(Sample::default(), 0);
        };
        let mut sample = Sample::default();
        sample.put("ok", f64::from(u8::from(found.ok)));
        for &(name, holds) in &found.parts {
            sample.put(name, f64::from(u8::from(holds)));
        }
        let mut outcome = Outcome::of(sample, found.fingerprint);
        outcome.samples.extend(found.steps.iter().flat_map(step_rows));
        outcome
    }

    fn plots(&self) -> Vec<Plot> {
        let rules = Line { label: "rule".to_owned(), series: PAPER.into(), at: Vec::new() };
        let steps = |case: &str| Line {
            label: format!("scenario {case}"),
            series: PAPER.into(),
            at: vec![("case".into(), case.into())],
        };
        vec![
            Plot {
                figure: "dar",
                title: "Rules of dynamic address reconfiguration".to_owned(),
                x: Quantity::axis("case", "case"),
                y: Quantity::metric("ok", "obeyed"),
                lines: vec![rules],
            },
            Plot {
                figure: "dar_steps",
                title: "The steps of scenarios C and D".to_owned(),
                x: Quantity::axis("step", "step"),
                y: Quantity::metric("step_at", "first seen (s)"),
                lines: ["C", "D"].map(steps).to_vec(),
            },
        ]
    }
}
