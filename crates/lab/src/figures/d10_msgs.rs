//! d10 section V: the rules of UFA's messages, judged by the packets of one handover.

use std::sync::{Arc, Mutex, PoisonError};

use whimbrel_machine::Instant;

use crate::experiment::{Cell, Experiment, Name, Outcome, Sample, Watch, grid};
use crate::hard_handover_place::HardHandoverPlace;
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::ufa_trace::Trace;

struct Figure(HardHandoverPlace);

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    Ok(Box::new(Figure(HardHandoverPlace::new(papers, "d10-msgs")?)))
}

impl Figure {
    /// Whether a rule holds in what was seen.
    fn holds(&self, item: &str, cell: &Cell, trace: &Trace) -> bool {
        match item {
            "order" => trace.is_in_order(),
            "appli_config" => trace.has_appli_config(),
            "terminal_config" => trace.has_terminal_config(),
            "bdp_in_5" => trace.has_bdp(self.0.bdp(cell)),
            "valid_dst_at_7" => trace.destination_is_valid_at_7(),
            "valid_src_at_7a" => trace.source_is_valid_at_7a(),
            "buffer_until_8" => trace.waits_for_8(),
            "no_asconf" => trace.has_no_asconf(),
            "loss_first_in_ufa_plus" => trace.sends_lost_first(),
            "cc_in_ufa_plus_plus" => trace.begins_with(self.0.bdp(cell)),
            _ => false,
        }
    }
}

/// The option that a rule is looked at in: what the others do not have shows in theirs.
fn scheme(item: &str) -> &'static str {
    match item {
        "loss_first_in_ufa_plus" => "ufa+",
        "cc_in_ufa_plus_plus" => "ufa++",
        _ => "ufa",
    }
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "d10_msgs"
    }

    fn scenario(&self) -> &Scenario {
        &self.0.scenario
    }

    fn axes(&self) -> Vec<Name> {
        vec!["item".into()]
    }

    fn metrics(&self) -> Vec<Name> {
        vec!["ok".into()]
    }

    fn cells(&self) -> Vec<Cell> {
        grid(&[("item", self.scenario().axis("item"))]).into_iter().map(Cell::paper).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let item = cell.word("item");
        let mut hosts = cell.clone();
        hosts.axes.push(("scheme".into(), scheme(item).into()));
        let trace = Arc::new(Mutex::new(Trace::default()));
        let noted = Arc::clone(&trace);
        let mut bed = self.0.bed(&hosts, seed, move |now: Instant, packet| {
            noted.lock().unwrap_or_else(PoisonError::into_inner).note(now, packet);
        });
        let ride = self.0.ride(&hosts, &mut bed, watch, &mut |_| {});
        let holds = self.holds(item, &hosts, &trace.lock().unwrap_or_else(PoisonError::into_inner));
        let mut sample = Sample::default();
        sample.put("ok", f64::from(u8::from(holds)));
        Outcome::of(sample, ride.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        vec![Plot {
            figure: "2",
            title: "Rules of UFA's messages".to_owned(),
            x: Quantity::axis("item", "rule"),
            y: Quantity::metric("ok", "holds"),
            lines: vec![Line { label: "holds".to_owned(), series: crate::PAPER.into(), at: Vec::new() }],
        }]
    }
}
