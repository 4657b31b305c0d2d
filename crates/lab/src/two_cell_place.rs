//! c04's set-up: two radio cells, a correspondent node behind wires, and a mobile node that walks.

use core::time::Duration;

use serde::Deserialize;
use whimbrel_handover::{LayerTwoHandover, Pace, Policy, Seamless, SignalStrength, Thresholds};
use whimbrel_machine::{Instant, ReceivedPower, Seed, TwoRayGround};
use whimbrel_netsim::{Acquisition, Area, Cell as RadioCell, Cells, LayerTwo, Position, Trajectory};
use whimbrel_proto::Config;
use whimbrel_rivals::tcp::TcpConfig;

use crate::experiment::Cell;
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{Scheme, Whose};
use crate::setups::two_cells::{TunnelEnd, Way, Wires};
use crate::value::Value;

/// Bytes of user data in a full packet.
const LARGEST: usize = 1452;
/// The profile of the TCP that Mobile IP carries.
pub(crate) const TCP: &str = "tcp-tom";
/// The longest run: several times what the file takes.
const LONGEST: Duration = Duration::from_secs(1500);

/// The set-up that all of c04's experiments share.
pub(crate) struct TwoCellPlace {
    pub(crate) scenario: Scenario,
    /// The paper's profile.
    pub(crate) config: Config,
    /// Whimbrel's own.
    pub(crate) mobile: Config,
    pub(crate) tcp: TcpConfig,
    /// Where the tunnels of Mobile IP end.
    pub(crate) tunnel: TunnelEnd,
    /// Bytes to download.
    pub(crate) file: u64,
    /// Metres from one access router to the other.
    pub(crate) distance: f64,
    /// What stands where no axis says otherwise.
    usual: Usual,
    /// Without the cell's delay.
    wires: Wires,
    radio: TwoRayGround,
    /// In watts.
    reception: f64,
    sampling: Duration,
    walk: Walk,
}

/// Antennas as the data have them, in ns-2's letters: gains, heights in metres and a system loss.
#[derive(Deserialize)]
struct Antenna {
    gt: f64,
    gr: f64,
    ht: f64,
    hr: f64,
    loss: f64,
}

/// Where the node walks, as the data have it.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
enum WalkPlan {
    /// Waypoints in a strip along the line between the access routers; metres.
    Strip { x_min: f64, x_max: f64, y_abs: f64 },
    /// Waypoints in what is well within one of the cells: a share of their radius.
    Discs { share_of_radius: f64 },
    /// To and fro on the line through both access routers, and some metres beyond.
    Line { overshoot: f64 },
}

/// Values that figures may have on an axis.
#[derive(Clone, Copy)]
struct Usual {
    /// m/s.
    speed: f64,
    /// Seconds.
    path_acquisition: f64,
    /// How much of that is for the address.
    address: f64,
    /// In watts.
    primary: f64,
    layer_two: LayerTwo,
}

/// Where the node walks.
enum Walk {
    /// Random waypoint.
    Waypoints(Area),
    /// To and fro.
    Line(Position, Position),
}

impl TwoCellPlace {
    /// From the data.
    ///
    /// # Errors
    /// When a value is missing.
    pub(crate) fn new(papers: &Papers, scenario: &str) -> Result<Self, DataError> {
        let scenario = papers.scenario(scenario)?;
        let settings = papers.profile(scenario.profile())?;
        Ok(Self {
            config: profile::with_requests(profile::config(&settings, LARGEST)?),
            mobile: profile::mobile(&settings)?,
            tcp: profile::tcp(&papers.profile(TCP)?)?,
            tunnel: scenario.read("parameters.tom_tunnel")?,
            file: scenario.number_at("traffic.file")? as u64,
            distance: scenario.number_at("topology.ar_distance")?,
            usual: usual(&scenario)?,
            wires: wires(&scenario)?,
            radio: radio(&scenario)?,
            reception: scenario.number_at("radio.l2_th")?,
            sampling: Duration::from_secs_f64(scenario.number_at("radio.sample_interval")?),
            walk: walk(&scenario)?,
            scenario,
        })
    }

    /// How fast the node walks, m/s.
    pub(crate) fn speed(&self, cell: &Cell) -> f64 {
        on_axis(cell, "speed").unwrap_or(self.usual.speed)
    }

    /// L2-TH, and Primary-TH from the cell or the scenario.
    pub(crate) fn thresholds(&self, cell: &Cell) -> Thresholds {
        // The axis is in units of 1e-10 W.
        let primary = on_axis(cell, "primary_th").map_or(self.usual.primary, |value| value * 1e-10);
        Thresholds {
            reception: ReceivedPower::from_watts(self.reception),
            primary: ReceivedPower::from_watts(primary),
        }
    }

    /// Whether the layer-2 handover is soft or hard.
    pub(crate) fn layer_two(&self, cell: &Cell) -> LayerTwo {
        cell.get("l2ho").and_then(Value::word).and_then(layer_two).unwrap_or(self.usual.layer_two)
    }

    /// The configuration of a cell's hosts.
    pub(crate) fn config(&self, cell: &Cell) -> Config {
        Scheme::of(&cell.series).config(&self.config, &self.mobile)
    }

    /// What makes the policy of a cell's mobile node.
    pub(crate) fn policy(&self, cell: &Cell) -> Box<dyn Fn() -> Box<dyn Policy> + Send> {
        if Scheme::of(&cell.series).policy == Whose::Ours {
            return Box::new(|| Box::new(Seamless::policy(Pace::MOBILE)));
        }
        let thresholds = self.thresholds(cell);
        let handover = match self.layer_two(cell) {
            LayerTwo::Hard => LayerTwoHandover::Hard,
            LayerTwo::Soft => LayerTwoHandover::Soft,
        };
        Box::new(move || Box::new(SignalStrength::policy(thresholds, handover, Pace::AT_ONCE)))
    }

    /// Wires and radio.
    pub(crate) fn wires(&self, cell: &Cell) -> Wires {
        let delay = on_axis(cell, "wired_ms").map(|ms| Duration::from_secs_f64(ms / 1e3));
        Wires { wired_delay: delay.unwrap_or(self.wires.wired_delay), ..self.wires }
    }

    /// The two cells.
    pub(crate) fn cells(&self, cell: &Cell) -> Cells {
        let thresholds = self.thresholds(cell);
        let total_s = on_axis(cell, "path_acq").unwrap_or(self.usual.path_acquisition);
        let address_s = self.usual.address;
        let acquisition = Acquisition {
            layer_two: Duration::from_secs_f64((total_s - address_s).max(0.0)),
            address: Duration::from_secs_f64(address_s.min(total_s)),
        };
        let (radio, reception) = (self.radio, thresholds.reception);
        let at = |x_m| RadioCell { at: Position::new(x_m, 0.0), radio, reception, acquisition };
        Cells {
            cells: vec![at(0.0), at(self.distance)],
            thresholds: vec![thresholds.primary],
            layer_two: self.layer_two(cell),
            sampling: self.sampling,
        }
    }

    /// A walk in the scenario's area. Waypoints depend on the seed alone, so all schemes walk the same way.
    pub(crate) fn way(&self, cell: &Cell, seed: u64) -> Way {
        let until = Instant::ZERO + LONGEST;
        let mut rng = Seed::from_u64(seed).stream("motion", 0);
        let speed = self.speed(cell);
        let trajectory = match &self.walk {
            Walk::Waypoints(area) => {
                Trajectory::random_waypoint(area, Position::new(0.0, 0.0), speed, until, &mut rng)
            }
            Walk::Line(from, to) => Trajectory::oscillating(*from, *to, speed, until),
        };
        Way::new(&self.cells(cell), &trajectory, until)
    }
}

fn on_axis(cell: &Cell, axis: &str) -> Option<f64> {
    cell.get(axis).and_then(Value::number)
}

fn layer_two(word: &str) -> Option<LayerTwo> {
    match word {
        "soft" => Some(LayerTwo::Soft),
        "hard" => Some(LayerTwo::Hard),
        _ => None,
    }
}

fn usual(scenario: &Scenario) -> Result<Usual, DataError> {
    let handover = scenario.setting("parameters.l2ho").and_then(toml::Value::as_str).and_then(layer_two);
    Ok(Usual {
        speed: scenario.number_at("parameters.speed")?,
        path_acquisition: scenario.number_at("parameters.path_acq")?,
        address: scenario.number_at("parameters.ip_share")?,
        primary: scenario.number_at("radio.primary_th")?,
        layer_two: handover
            .ok_or_else(|| DataError(format!("{}: unknown parameters.l2ho", scenario.id())))?,
    })
}

fn wires(scenario: &Scenario) -> Result<Wires, DataError> {
    let at = |name: &str| scenario.number_at(&format!("topology.{name}"));
    let delay = if scenario.setting("parameters.wired_delay").is_some() {
        scenario.number_at("parameters.wired_delay")?
    } else {
        at("wired_delay")?
    };
    Ok(Wires {
        wired_rate: at("wired_rate")?,
        wired_delay: Duration::from_secs_f64(delay),
        radio_rate: at("wlan_rate")?,
        access_time: Duration::from_secs_f64(at("access_time")?),
        queue: at("wlan_queue")? as u32,
        loss: at("loss")?,
    })
}

fn radio(scenario: &Scenario) -> Result<TwoRayGround, DataError> {
    let Antenna { gt, gr, ht, hr, loss } = scenario.read("radio.antenna")?;
    Ok(TwoRayGround {
        transmit_power: scenario.number_at("radio.tx_power")?,
        transmit_gain: gt,
        receive_gain: gr,
        transmit_height: ht,
        receive_height: hr,
        loss,
    })
}

fn walk(scenario: &Scenario) -> Result<Walk, DataError> {
    let distance = scenario.number_at("topology.ar_distance")?;
    Ok(match scenario.read("mobility.area")? {
        WalkPlan::Strip { x_min, x_max, y_abs } => {
            let [low, high] = [Position::new(x_min, -y_abs), Position::new(x_max, y_abs)];
            Walk::Waypoints(Area::Rectangle(low, high))
        }
        WalkPlan::Discs { share_of_radius } => {
            let radius = scenario.number_at("topology.cell_radius")? * share_of_radius;
            Walk::Waypoints(Area::Discs([0.0, distance].map(|x| (Position::new(x, 0.0), radius)).into()))
        }
        WalkPlan::Line { overshoot } => {
            Walk::Line(Position::new(-overshoot, 0.0), Position::new(distance + overshoot, 0.0))
        }
    })
}
