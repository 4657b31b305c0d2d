//! c04's figures: a file downloaded by a node that walks between two radio cells, with address management by signal strength
//! over SCTP, or over TCP and Mobile IP.

use core::time::Duration;

use whimbrel_handover::{Governed, Hysteresis, Pace, Seamless};
use whimbrel_machine::Instant;
use whimbrel_proto::PathVerification;

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{
    POLICY_ALONE, POLICY_ALONE_LABEL, PROFILE_ALONE, PROFILE_ALONE_LABEL, Part, cells, described,
};
use crate::setups::two_cells::{Journey, MobileIp, MovingSctp, Way};
use crate::two_cell_place::{TCP, TwoCellPlace};
use crate::value::Value;

/// Our own policy with what the paper's scheme has, too.
const LEVEL: &str = "seamless-level";
/// Our own policy with thresholds for the radio of the paper, and with a window that overflows no queue.
const LEVEL_SAYS: &str = "as seamless, but with the paper's Primary-TH as the signal below which a network is left, and with its receive \
                          window of 64 KiB: the usual threshold of -82 dBm is far below this radio's least signal (-64.4 dBm), so that \
                          seamless moves when the signal has gone, and its window of 4 MiB has slow start overflow the queue of 50 packets \
                          after each handover";

/// The paper's scheme as the standards have it today.
const VERIFIED: &str = "verified";
/// What it differs in.
const VERIFIED_SAYS: &str = "the paper's scheme, but a new address has to answer a HEARTBEAT before data may go there (RFC 9260 section 5.4, \
                             RFC 5061 section 5.3), which SCTP did not ask for when the paper was written";

/// What the paper proposes, as people say it.
const SCHEME: &str = "SCTP, address management";

/// A value that tells lines apart, as people say it.
fn spoken(axis: &str, value: &Value) -> String {
    match (axis, value.word()) {
        ("scheme", Some("amm")) => SCHEME.to_owned(),
        ("scheme", Some("tom")) => "TCP over Mobile IP".to_owned(),
        ("speed", _) => format!("{value} m/s"),
        ("l2ho", _) => format!("{value} handover"),
        _ => value.to_string(),
    }
}

/// Figures of c04 that show the same runs.
pub(crate) struct TwoCellDownload {
    figures: Figures,
    place: TwoCellPlace,
    /// The other figures' set-ups.
    others: Vec<Scenario>,
}

/// What distinguishes some figures from others: the `[output]` of their set-ups.
struct Figures {
    /// Their name on the command line.
    name: &'static str,
    panels: Vec<Panel>,
    metrics: Vec<Name>,
    /// The axis across, with its label.
    across: (Name, Name),
    /// The other axes: one line for each combination.
    series: Vec<Name>,
}

/// One figure.
struct Panel {
    /// Its number in the paper.
    number: &'static str,
    title: String,
    /// The metric upwards, with its label.
    metric: (Name, Name),
}

impl Figures {
    fn new(name: &'static str, numbers: &[&'static str], scenarios: &[&Scenario]) -> Result<Self, DataError> {
        let first = scenarios.first().ok_or_else(|| DataError(format!("{name} shows nothing")))?;
        let output = |scenario: &Scenario, what: &str| Name::from(scenario.output(what));
        let panel = |(number, scenario): (&&'static str, &&Scenario)| Panel {
            number,
            title: scenario.title().to_owned(),
            metric: (output(scenario, "y"), output(scenario, "y_label")),
        };
        let axes = first.output("series");
        let known = first.axis_names();
        let metrics = scenarios.iter().flat_map(|scenario| scenario.metric_names());
        Ok(Self {
            name,
            panels: numbers.iter().zip(scenarios).map(panel).collect(),
            metrics: metrics.map(|metric| metric.to_owned().into()).collect(),
            across: (output(first, "x"), output(first, "x_label")),
            series: axes
                .split(" x ")
                .filter(|axis| known.contains(axis))
                .map(|axis| axis.to_owned().into())
                .collect(),
        })
    }
}

impl TwoCellDownload {
    /// The experiment of this name, with the numbers of its figures and their set-ups, which are the same runs.
    ///
    /// # Errors
    /// When a value is missing.
    pub(crate) fn experiment(
        papers: &Papers,
        name: &'static str,
        figures: &[(&'static str, &'static str)],
    ) -> Result<Box<dyn Experiment>, DataError> {
        let (numbers, scenarios): (Vec<_>, Vec<_>) = figures.iter().copied().unzip();
        let place = TwoCellPlace::new(papers, scenarios.first().copied().unwrap_or_default())?;
        let others = scenarios.iter().skip(1).map(|scenario| papers.scenario(scenario));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        let all: Vec<&Scenario> = core::iter::once(&place.scenario).chain(&others).collect();
        let figures = Figures::new(name, &numbers, &all)?;
        Ok(Box::new(Self { figures, place, others }))
    }

    fn journey(&self, cell: &Cell, seed: u64, way: &Way, watch: Watch) -> Journey {
        let wires = self.place.wires(cell);
        if cell.series == LEVEL {
            return self.levelled(cell, seed, way, watch);
        }
        if cell.word("scheme") == "tom" {
            let (tcp, tunnel) = (self.place.tcp.clone(), self.place.tunnel);
            return MobileIp::new(seed, tcp, &wires, tunnel, way, self.place.file).run(watch);
        }
        let mut config = self.place.config(cell);
        if cell.series == VERIFIED {
            config.verification = PathVerification::Required;
        }
        MovingSctp::new(seed, config, self.place.policy(cell), &wires, way, self.place.file).run(watch)
    }
}

impl TwoCellDownload {
    /// The series beside the paper's, and what they are. One figure of each kind shows why our own policy is as it is; where a new address comes long
    /// before it is needed, as in the figure about thresholds, it is verified in time.
    fn beside(&self) -> Vec<&'static str> {
        let more: &[&str] = match &*self.figures.across.0 {
            "primary_th" => &[LEVEL],
            "path_acq" => &[LEVEL, VERIFIED],
            _ => &[VERIFIED],
        };
        [&[SEAMLESS], more, &[PROFILE_ALONE, POLICY_ALONE]].concat()
    }

    fn axis(&self, name: Name) -> (Part, Name, Vec<Value>) {
        let part = if name == "primary_th" { Part::Policy } else { Part::Place };
        let values = self.place.scenario.axis(&name);
        (part, name, values)
    }

    /// Under [`LEVEL`].
    fn levelled(&self, cell: &Cell, seed: u64, way: &Way, watch: Watch) -> Journey {
        let level = self.place.thresholds(cell).primary;
        let signal = Hysteresis { low_below: level, high_from: level };
        let policy = move || -> Box<dyn whimbrel_handover::Policy> {
            // What is told of the signal are crossings of the thresholds: no trend can be seen in them.
            Box::new(Governed::new(Seamless::new(signal, Duration::ZERO), Pace::MOBILE))
        };
        let mut config = self.place.mobile.clone();
        config.limits.receive_buffer = self.place.config.limits.receive_buffer;
        MovingSctp::new(seed, config, policy, &self.place.wires(cell), way, self.place.file).run(watch)
    }
}

impl Experiment for TwoCellDownload {
    fn name(&self) -> &str {
        self.figures.name
    }

    fn scenario(&self) -> &Scenario {
        &self.place.scenario
    }

    fn others(&self) -> &[Scenario] {
        &self.others
    }

    fn rivals(&self) -> &[&'static str] {
        let has_tcp = self.figures.series.iter().any(|axis| axis == "scheme");
        if has_tcp { &[TCP] } else { &[] }
    }

    fn axes(&self) -> Vec<Name> {
        self.figures.series.iter().chain([&self.figures.across.0]).cloned().collect()
    }

    fn metrics(&self) -> Vec<Name> {
        self.figures.metrics.clone()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        let described =
            described("Config::mobile() and the seamless policy, told what the radio does").into_iter();
        let explained = [(LEVEL.into(), LEVEL_SAYS), (VERIFIED.into(), VERIFIED_SAYS)];
        let beside = self.beside();
        described.chain(explained).filter(|(series, _): &(Name, _)| beside.contains(&&**series)).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let axes: Vec<_> = self.axes().into_iter().map(|name| self.axis(name)).collect();
        // Series beside the paper's are not compared with another protocol.
        let own: Vec<_> = axes.iter().filter(|(_, name, _)| name != "scheme").cloned().collect();
        let others = self.beside().into_iter().flat_map(|series| cells(series, &own));
        cells(PAPER, &axes).into_iter().chain(others).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let way = self.place.way(cell, seed);
        let journey = self.journey(cell, seed, &way, watch);
        let mut sample = Sample::default();
        sample.put_some("ftt", journey.transfer_time.map(|time| time.as_secs_f64()));
        let end = journey.arrivals.last().map_or(Instant::ZERO, |&(at, _)| at);
        let crossings = way.crossings.iter().filter(|crossing| crossing.leaves < end).count();
        let latencies = way.latencies(&journey.arrivals);
        if !latencies.is_empty() {
            let total: Duration = latencies.iter().sum();
            sample.put("ho_latency", total.as_secs_f64() / latencies.len() as f64);
        }
        if crossings > 0 {
            sample.put("loss_per_ho", journey.lost as f64 / crossings as f64);
        }
        sample.metrics.retain(|(name, _)| self.figures.metrics.iter().any(|metric| metric == name));
        Outcome::of(sample, journey.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let place = |axes: &[Name]| -> Vec<Axes> {
            let axes: Vec<_> =
                axes.iter().map(|name| (name.clone(), self.place.scenario.axis(name))).collect();
            grid(&axes)
        };
        let own: Vec<Name> = self.figures.series.iter().filter(|name| *name != "scheme").cloned().collect();
        let line = |series: &'static str, first: &str, at: Axes| {
            let words: Vec<String> = at.iter().map(|(axis, value)| spoken(axis, value)).collect();
            let words =
                if first.is_empty() && words.is_empty() { SCHEME.to_owned() } else { words.join(", ") };
            Line { label: format!("{first}{words}").trim_end().to_owned(), series: series.into(), at }
        };
        let paper = place(&self.figures.series).into_iter().map(|at| line(PAPER, "", at));
        let others = place(&own).into_iter().flat_map(|at| {
            let label = |series| match series {
                LEVEL => "seamless, told when to leave ".to_owned(),
                VERIFIED => "SCTP, addresses verified ".to_owned(),
                PROFILE_ALONE => format!("{SCHEME}, {PROFILE_ALONE_LABEL} "),
                POLICY_ALONE => format!("{POLICY_ALONE_LABEL} "),
                _ => "seamless ".to_owned(),
            };
            self.beside()
                .into_iter()
                .map(move |series| line(series, &label(series), at.clone()))
                .collect::<Vec<_>>()
        });
        let lines: Vec<Line> = paper.chain(others).collect();
        let plot = |panel: &Panel| Plot {
            figure: panel.number,
            title: panel.title.clone(),
            x: Quantity::axis(self.figures.across.0.clone(), self.figures.across.1.clone()),
            y: Quantity::metric(panel.metric.0.clone(), panel.metric.1.clone()),
            lines: lines.clone(),
        };
        self.figures.panels.iter().map(plot).collect()
    }
}
