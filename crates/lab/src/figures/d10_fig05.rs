//! d10 Figure 5: what the options of UFA gain where the bandwidth-delay product is larger.

use std::sync::{Arc, Mutex, PoisonError};

use whimbrel_ufa::sip::{BDP, Message, SIP_PORT, number};

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
    Ok(Box::new(Figure(HardHandoverPlace::new(papers, "d10-fig5")?)))
}

impl Experiment for Figure {
    fn name(&self) -> &str {
        "d10_fig05"
    }

    fn scenario(&self) -> &Scenario {
        &self.0.scenario
    }

    fn axes(&self) -> Vec<Name> {
        ["scheme", "xput"].map(Name::from).to_vec()
    }

    fn metrics(&self) -> Vec<Name> {
        ["volume_mb", "gain_pct", "bdp"].map(Name::from).to_vec()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        let what = "Config::mobile() and the seamless policy at a terminal that the network tells nothing, which takes as long to change gateways as m-SCTP's";
        described(what).into()
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |part, name| (part, name, self.scenario().axis(name));
        let axes = [axis(Part::Policy, "scheme"), axis(Part::Place, "xput")];
        let all = [PAPER, SEAMLESS, PROFILE_ALONE, POLICY_ALONE];
        all.into_iter().flat_map(|series| cells(series, &axes)).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let named = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&named);
        let mut bed = self.0.bed(cell, seed, move |_, packet| {
            if packet.route.remote.port() == SIP_PORT && !packet.transit {
                let bdp = Message::parse(packet.bytes).ok().and_then(|message| number(&message, BDP).ok());
                // Message 4 names it, too, and message 5 comes after it.
                let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                *noted = bdp.or(*noted);
            }
        });
        let ride = self.0.ride(cell, &mut bed, watch, &mut |_| {});
        let mut sample = Sample::default();
        if ride.failed == 0 {
            sample.put("volume_mb", ride.volume as f64 / 1e6);
            if cell.series == PAPER {
                sample.put("gain_pct", self.0.gain(cell, "ufa", seed, &ride));
            }
            let bdp = *named.lock().unwrap_or_else(PoisonError::into_inner);
            sample.put_some("bdp", bdp.map(|bytes| bytes as f64));
        }
        Outcome::of(sample, ride.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let word = |scheme: &str| vec![("scheme".into(), scheme.into())];
        let line = |series: &'static str, label: String, at| Line { label, series: series.into(), at };
        let schemes = ["ufa", "ufa+", "ufa++"];
        let mut lines: Vec<Line> =
            schemes.map(|scheme| line(PAPER, scheme.to_owned(), word(scheme))).to_vec();
        lines.push(line(SEAMLESS, "seamless".to_owned(), Vec::new()));
        lines.push(line(PROFILE_ALONE, format!("ufa++ {PROFILE_ALONE_LABEL}"), word("ufa++")));
        lines.push(line(POLICY_ALONE, POLICY_ALONE_LABEL.to_owned(), Vec::new()));
        vec![Plot {
            figure: "5",
            title: "Downloaded in 500 s, network Sc2".to_owned(),
            x: Quantity::axis("xput", "Mbit/s on the air"),
            y: Quantity::metric("volume_mb", "MB"),
            lines,
        }]
    }
}
