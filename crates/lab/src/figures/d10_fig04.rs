//! d10 Figure 4: what a terminal downloads in 500 s, by how often it changes its gateway.

use crate::experiment::{Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch};
use crate::hard_handover_place::HardHandoverPlace;
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{
    POLICY_ALONE, POLICY_ALONE_LABEL, PROFILE_ALONE, PROFILE_ALONE_LABEL, Part, cells, described,
};

struct Figure(HardHandoverPlace);

/// The experiment.
pub(super) fn experiment(papers: &Papers) -> Result<Box<dyn Experiment>, DataError> {
    Ok(Box::new(Figure(HardHandoverPlace::new(papers, "d10-fig4")?)))
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "d10_fig04"
    }

    fn scenario(&self) -> &Scenario {
        &self.0.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["scheme", "ho_nbr"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["volume_mb", "gain_pct", "transport_ho_delay"].map(Name::from).to_vec()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        let what = "Config::mobile() and the seamless policy at a terminal that the network tells nothing, which takes as long to change gateways as m-SCTP's";
        described(what).into()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |part, name| (part, name, self.scenario().axis(name));
        let axes = [axis(Part::Policy, "scheme"), axis(Part::Place, "ho_nbr")];
        let all = [PAPER, SEAMLESS, PROFILE_ALONE, POLICY_ALONE];
        all.into_iter().flat_map(|series| cells(series, &axes)).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let ride = self.0.download(cell, seed, watch);
        let mut sample = Sample::default();
        if ride.failed == 0 {
            sample.put("volume_mb", ride.volume as f64 / 1e6);
            if cell.series == PAPER {
                sample.put("gain_pct", self.0.gain(cell, "m-sctp", seed, &ride));
            }
            sample.put_some("transport_ho_delay", ride.transport_delay());
        }
        Outcome::of(sample, ride.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let word = |scheme: &str| vec![("scheme".into(), scheme.into())];
        let line = |series: &'static str, label: String, at| Line { label, series: series.into(), at };
        let schemes = ["m-sctp", "m-sctp+", "ufa", "ufa+", "ufa++"];
        let mut lines: Vec<Line> =
            schemes.map(|scheme| line(PAPER, scheme.to_owned(), word(scheme))).to_vec();
        lines.push(line(SEAMLESS, "seamless".to_owned(), Vec::new()));
        for scheme in ["m-sctp", "ufa++"] {
            lines.push(line(PROFILE_ALONE, format!("{scheme} {PROFILE_ALONE_LABEL}"), word(scheme)));
        }
        lines.push(line(POLICY_ALONE, POLICY_ALONE_LABEL.to_owned(), Vec::new()));
        vec![Plot {
            figure: "4",
            title: "Downloaded in 500 s, network Sc1".to_owned(),
            x: Quantity::axis("ho_nbr", "handovers"),
            y: Quantity::metric("volume_mb", "MB"),
            lines,
        }]
    }
}
