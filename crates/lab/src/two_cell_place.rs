//! c04's set-up: two radio cells, a correspondent node behind wires, and a mobile node that walks.

use core::time::Duration;

use whimbrel_handover::Thresholds;
use whimbrel_machine::{Instant, ReceivedPower, Seed, TwoRayGround};
use whimbrel_netsim::{Acquisition, Area, Cell as RadioCell, Cells, LayerTwo, Position, Trajectory};
use whimbrel_proto::{AuthConfig, Config, DarMode, PathPairing};
use whimbrel_rivals::tcp::{DelayedAck, NewReno, RtoConfig, Sack, TcpConfig};

use crate::experiment::Cell;
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario, Settings, number};
use crate::testbed::two_cells::{Way, Wires};
use crate::value::Value;

/// Bytes of user data in a full packet.
const LARGEST: usize = 1452;
/// "97.5 % of the radius" in the data.
const WELL_WITHIN: f64 = 0.975;
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
    /// Bytes to download.
    pub(crate) file: u64,
}

impl TwoCellPlace {
    /// From the data.
    ///
    /// # Errors
    /// When a value is missing.
    pub(crate) fn new(papers: &Papers, scenario: &str) -> Result<Self, DataError> {
        let scenario = papers.scenario(scenario)?;
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
        })
    }

    /// The number on an axis of the cell, or the scenario's.
    pub(crate) fn at(&self, cell: &Cell, axis: &str) -> f64 {
        let fixed = || self.scenario.number_at(&format!("parameters.{axis}")).unwrap_or_default();
        cell.get(axis).and_then(Value::number).unwrap_or_else(fixed)
    }

    fn topology(&self, name: &str) -> f64 {
        self.scenario.number_at(&format!("topology.{name}")).unwrap_or_default()
    }

    /// L2-TH, and Primary-TH from the cell or the scenario.
    pub(crate) fn thresholds(&self, cell: &Cell) -> Thresholds {
        let radio = |name: &str| self.scenario.number_at(&format!("radio.{name}")).unwrap_or_default();
        // The axis is in units of 1e-10 W.
        let primary = cell.get("primary_th").and_then(Value::number).map(|value| value * 1e-10);
        Thresholds {
            reception: ReceivedPower::from_watts(radio("l2_th")),
            primary: ReceivedPower::from_watts(primary.unwrap_or_else(|| radio("primary_th"))),
        }
    }

    /// Whether the layer-2 handover is hard.
    pub(crate) fn is_hard(&self, cell: &Cell) -> bool {
        let fixed =
            self.scenario.setting("parameters.l2ho").and_then(toml::Value::as_str).unwrap_or_default();
        cell.get("l2ho").and_then(Value::word).unwrap_or(fixed) == "hard"
    }

    /// Wires and radio.
    pub(crate) fn wires(&self, cell: &Cell) -> Wires {
        let fixed = self.scenario.number_at("parameters.wired_delay").unwrap_or(self.topology("wired_delay"));
        let delay_s = cell.get("wired_ms").and_then(Value::number).map_or(fixed, |ms| ms / 1e3);
        Wires {
            wired_rate: self.topology("wired_rate"),
            wired_delay: Duration::from_secs_f64(delay_s),
            radio_rate: self.topology("wlan_rate"),
            access_time: Duration::from_secs_f64(self.topology("access_time")),
            queue: self.topology("wlan_queue") as u32,
        }
    }

    /// The two cells.
    pub(crate) fn cells(&self, cell: &Cell) -> Cells {
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

    /// A strip along the line between the access routers, or all that is well within one of the cells.
    fn area(&self) -> Area {
        let Some(strip) = self.scenario.setting("mobility.area").and_then(toml::Value::as_table) else {
            let radius = self.topology("cell_radius") * WELL_WITHIN;
            return Area::Discs(
                [0.0, self.topology("ar_distance")].map(|x| (Position::new(x, 0.0), radius)).into(),
            );
        };
        let edge = |name: &str| strip.get(name).and_then(number).unwrap_or_default();
        let (low, high) = (edge("x_min"), edge("x_max"));
        Area::Rectangle(Position::new(low, -edge("y_abs")), Position::new(high, edge("y_abs")))
    }

    /// Random waypoint in the scenario's area. Waypoints depend on the seed alone, so all schemes walk the same way.
    pub(crate) fn way(&self, cell: &Cell, seed: u64) -> Way {
        let area = self.area();
        let until = Instant::ZERO + LONGEST;
        let mut rng = Seed::from_u64(seed).stream("motion", 0);
        let speed = self.at(cell, "speed");
        let trajectory = Trajectory::random_waypoint(&area, Position::new(0.0, 0.0), speed, until, &mut rng);
        Way::new(&self.cells(cell), &trajectory, until)
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
        recovery: if settings.word("variant") == "sack" { Sack::boxed } else { NewReno::boxed },
        ..TcpConfig::default()
    })
}
