//! c04's set-up: a file downloaded by a node that walks between two radio cells, with address management by signal strength
//! over SCTP, or over TCP and Mobile IP.

use core::time::Duration;

use whimbrel_handover::{LayerTwoHandover, Pace, Seamless, SignalStrength, Thresholds};
use whimbrel_machine::{Instant, ReceivedPower, Seed, TwoRayGround};
use whimbrel_netsim::{Acquisition, Area, Cell as RadioCell, Cells, LayerTwo, Position, Trajectory};
use whimbrel_proto::{AuthConfig, Config, DarMode, PathPairing};
use whimbrel_rivals::tcp::{DelayedAck, NewReno, RtoConfig, TcpConfig};

use crate::experiment::{Axes, Cell, Experiment, Name, Outcome, PAPER, SEAMLESS, Sample, Watch, grid};
use crate::plot::{Line, Plot, Quantity};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario, Settings, number};
use crate::testbed::two_cells::{Journey, MobileIp, MovingSctp, Way, Wires};
use crate::value::Value;

/// Bytes of user data in a full packet.
const LARGEST: usize = 1452;
/// The longest run: several times what the file takes.
const LONGEST: Duration = Duration::from_secs(1500);

/// A figure of c04.
pub(crate) struct TwoCellDownload {
    figure: Figure,
    scenario: Scenario,
    config: Config,
    mobile: Config,
    tcp: TcpConfig,
    file: u64,
}

/// What distinguishes one figure from another.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its set-up in the data.
    pub(crate) scenario: &'static str,
    /// Its number in the paper.
    pub(crate) number: &'static str,
    /// What it shows.
    pub(crate) title: &'static str,
    /// The metric upwards, with its label.
    pub(crate) metric: (&'static str, &'static str),
    /// All metrics.
    pub(crate) metrics: &'static [&'static str],
    /// The axis across, with its label.
    pub(crate) across: (&'static str, &'static str),
    /// The other axes: one line for each combination.
    pub(crate) series: &'static [&'static str],
}

impl TwoCellDownload {
    /// From the data.
    ///
    /// # Errors
    /// When a value is missing.
    pub(crate) fn new(papers: &Papers, figure: Figure) -> Result<Self, DataError> {
        let scenario = papers.scenario(figure.scenario)?;
        let settings = papers.profile(scenario.profile())?;
        let mut config = profile::config(&settings, LARGEST)?;
        // Addresses are added and the primary path is set by authenticated requests (RFC 5061, RFC 4895).
        config.dar.mode = DarMode::Negotiated;
        config.auth = AuthConfig::offered();
        // The correspondent node has one address. With one path per destination the mobile node could send from one of its
        // addresses alone, and its policy never asks for a primary path that it cannot try itself.
        config.pairing = PathPairing::Mesh;
        Ok(Self {
            config,
            mobile: profile::mobile(&settings)?,
            tcp: tcp(&papers.profile("tcp-tom")?)?,
            file: scenario.number_at("traffic.file")? as u64,
            scenario,
            figure,
        })
    }

    /// The number on an axis of the cell, or the scenario's.
    fn at(&self, cell: &Cell, axis: &str) -> f64 {
        let fixed = || self.scenario.number_at(&format!("parameters.{axis}")).unwrap_or_default();
        cell.get(axis).and_then(Value::number).unwrap_or_else(fixed)
    }

    fn topology(&self, name: &str) -> f64 {
        self.scenario.number_at(&format!("topology.{name}")).unwrap_or_default()
    }

    fn thresholds(&self, cell: &Cell) -> Thresholds {
        let radio = |name: &str| self.scenario.number_at(&format!("radio.{name}")).unwrap_or_default();
        // The axis is in units of 1e-10 W.
        let primary = cell.get("primary_th").and_then(Value::number).map(|value| value * 1e-10);
        Thresholds {
            reception: ReceivedPower::from_watts(radio("l2_th")),
            primary: ReceivedPower::from_watts(primary.unwrap_or_else(|| radio("primary_th"))),
        }
    }

    fn is_hard(&self, cell: &Cell) -> bool {
        let fixed =
            self.scenario.setting("parameters.l2ho").and_then(toml::Value::as_str).unwrap_or_default();
        cell.get("l2ho").and_then(Value::word).unwrap_or(fixed) == "hard"
    }

    fn wires(&self, cell: &Cell) -> Wires {
        let fixed = self.scenario.number_at("parameters.wired_delay").unwrap_or(self.topology("wired_delay"));
        let delay_s = cell.get("wired_ms").and_then(Value::number).map_or(fixed, |ms| ms / 1e3);
        Wires {
            wired_rate: self.topology("wired_rate"),
            wired_delay: Duration::from_secs_f64(delay_s),
            radio_rate: self.topology("wlan_rate"),
            // "1 ms if a plain link model is used" in the data.
            access_time: Duration::from_millis(1),
            queue: self.topology("wlan_queue") as u32,
        }
    }

    fn cells(&self, cell: &Cell) -> Cells {
        let radio = TwoRayGround {
            transmit_power: self.scenario.number_at("radio.tx_power").unwrap_or_default(),
            transmit_gain: 1.0,
            receive_gain: 1.0,
            transmit_height: 1.5,
            receive_height: 1.5,
            loss: 1.0,
        };
        let thresholds = self.thresholds(cell);
        let at = |x_m| RadioCell { at: Position::new(x_m, 0.0), radio };
        let (total_s, address_s) = (self.at(cell, "path_acq"), self.at(cell, "ip_share"));
        Cells {
            cells: vec![at(0.0), at(self.topology("ar_distance"))],
            reception: thresholds.reception,
            thresholds: vec![thresholds.primary],
            acquisition: Acquisition {
                layer_two: Duration::from_secs_f64((total_s - address_s).max(0.0)),
                address: Duration::from_secs_f64(address_s.min(total_s)),
            },
            layer_two: if self.is_hard(cell) { LayerTwo::Hard } else { LayerTwo::Soft },
            sampling: Duration::from_secs_f64(
                self.scenario.number_at("radio.sample_interval").unwrap_or(0.01),
            ),
        }
    }

    /// Random waypoint in the scenario's strip. Waypoints depend on the seed alone, so all schemes walk the same way.
    fn way(&self, cell: &Cell, seed: u64) -> Way {
        let area = self.scenario.setting("mobility.area").and_then(toml::Value::as_table);
        let edge = |name: &str| area.and_then(|area| area.get(name)).and_then(number).unwrap_or_default();
        let (low, high) = (edge("x_min"), edge("x_max"));
        let area = Area::Rectangle(Position::new(low, -edge("y_abs")), Position::new(high, edge("y_abs")));
        let until = Instant::ZERO + LONGEST;
        let mut rng = Seed::from_u64(seed).stream("motion", 0);
        let speed = self.at(cell, "speed");
        let trajectory = Trajectory::random_waypoint(&area, Position::new(0.0, 0.0), speed, until, &mut rng);
        Way::new(&self.cells(cell), &trajectory, until)
    }

    fn journey(&self, cell: &Cell, seed: u64, way: &Way, watch: Watch) -> Journey {
        let wires = self.wires(cell);
        if cell.series == SEAMLESS {
            let policy =
                || -> Box<dyn whimbrel_handover::Policy> { Box::new(Seamless::policy(Pace::MOBILE)) };
            return MovingSctp::new(seed, self.mobile.clone(), policy, &wires, way, self.file).run(watch);
        }
        if cell.word("scheme") == "tom" {
            return MobileIp::new(seed, self.tcp.clone(), &wires, way, self.file).run(watch);
        }
        let thresholds = self.thresholds(cell);
        let handover = if self.is_hard(cell) { LayerTwoHandover::Hard } else { LayerTwoHandover::Soft };
        let policy = move || -> Box<dyn whimbrel_handover::Policy> {
            Box::new(SignalStrength::policy(thresholds, handover, Pace::AT_ONCE))
        };
        MovingSctp::new(seed, self.config.clone(), policy, &wires, way, self.file).run(watch)
    }
}

/// TCP as the data have it.
fn tcp(settings: &Settings) -> Result<TcpConfig, DataError> {
    let seconds = |name: &str| settings.number(name).map(Duration::from_secs_f64);
    Ok(TcpConfig {
        mss: settings.number("mss")? as u16,
        initial_window: settings.number("init_cwnd_segments")? as u32,
        receive_window: settings.number("rwnd")? as u32,
        rto: RtoConfig { initial: seconds("rto_initial")?, min: seconds("rto_min")?, ..RtoConfig::default() },
        delayed_ack: DelayedAck { segments: 2, after: seconds("delayed_ack")? },
        duplicate_threshold: settings.number("dupthresh")? as u32,
        recovery: NewReno::boxed,
        ..TcpConfig::default()
    })
}

impl Experiment for TwoCellDownload {
    fn name(&self) -> &str {
        self.figure.name
    }

    fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn axes(&self) -> Vec<Name> {
        self.figure.series.iter().chain([&self.figure.across.0]).map(|&axis| axis.into()).collect()
    }

    fn metrics(&self) -> Vec<Name> {
        self.figure.metrics.iter().map(|&metric| metric.into()).collect()
    }

    fn series(&self) -> Vec<(Name, &'static str)> {
        vec![(SEAMLESS.into(), "Config::mobile() and the seamless policy, told what the radio does")]
    }

    fn cells(&self) -> Vec<Cell> {
        let axis = |name: &&'static str| (*name, self.scenario.axis(name));
        let across = [self.figure.across.0];
        let paper: Vec<_> = self.figure.series.iter().chain(&across).map(axis).collect();
        // Our own policy knows neither the scheme nor its threshold.
        let ours: Vec<_> =
            paper.iter().filter(|(name, _)| !["scheme", "primary_th"].contains(name)).cloned().collect();
        let ours = grid(&ours).into_iter().map(|axes| Cell { series: SEAMLESS.into(), axes });
        grid(&paper).into_iter().map(Cell::paper).chain(ours).collect()
    }

    fn run(&self, cell: &Cell, seed: u64, watch: Watch) -> Outcome {
        let way = self.way(cell, seed);
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
        sample.metrics.retain(|(name, _)| self.figure.metrics.iter().any(|metric| metric == name));
        Outcome::of(sample, journey.fingerprint)
    }

    fn plots(&self) -> Vec<Plot> {
        let place = |axes: &[&'static str]| -> Vec<Axes> {
            let axes: Vec<_> = axes.iter().map(|&name| (name, self.scenario.axis(name))).collect();
            grid(&axes)
        };
        let own: Vec<&'static str> =
            self.figure.series.iter().copied().filter(|&name| name != "scheme").collect();
        let line = |series: &'static str, first: &str, at: Axes| {
            let words: Vec<String> = at.iter().map(|(_, value)| value.to_string()).collect();
            Line { label: format!("{first}{}", words.join(", ")), series: series.into(), at }
        };
        let paper = place(self.figure.series).into_iter().map(|at| line(PAPER, "", at));
        let ours = place(&own).into_iter().map(|at| line(SEAMLESS, "seamless ", at));
        vec![Plot {
            figure: self.figure.number,
            title: self.figure.title.to_owned(),
            x: Quantity::axis(self.figure.across.0, self.figure.across.1),
            y: Quantity::metric(self.figure.metric.0, self.figure.metric.1),
            lines: paper.chain(ours).collect(),
        }]
    }
}
