//! d10's set-up: a download by a terminal that goes to and fro between two gateways, in hard handovers.

use core::time::Duration;

use whimbrel_handover::{Pace, Policy, Seamless};
use whimbrel_machine::Instant;
use whimbrel_netsim::{Overheard, QueueLimit};
use whimbrel_proto::{Config, FreshPath, PrimaryChangeRule, RecoveryScope, WindowGrowth};
use whimbrel_ufa::{Order, Transition, Ufa, UfaPlus, UfaPlusPlus, trusting};

use crate::experiment::{Cell, Watch};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario, Settings};
use crate::scheme::{Scheme, Whose};
use crate::setups::gateways::{
    Air, BEGIN, Control, Correspondence, Gap, Gateways, HardHandover, correspondent,
};

/// Bytes of user data in a full packet.
const LARGEST: usize = 1452;
/// A queue of one bandwidth-delay product has room for so many bytes at least.
const LEAST_QUEUE: u64 = 3000;
/// How long the network may take to have the terminal leave.
const PREPARATION: Duration = Duration::from_secs(20);

/// What d10's experiments share.
pub(crate) struct HardHandoverPlace {
    pub(crate) scenario: Scenario,
    /// The paper's profile, for any scheme.
    config: Config,
    /// Whimbrel's own.
    mobile: Config,
    /// What a SetPrimary by itself makes of data in flight.
    set_primary: PrimaryChangeRule,
    net_ho: Duration,
    ufa_ho: Duration,
    order: Order,
    duration: Duration,
    wired_rate: f64,
    wired_delay: Duration,
    radio_delay: Duration,
    /// bit/s, unless an axis says so.
    radio_rate: Option<f64>,
    /// Probability that a packet is lost on the air.
    loss: f64,
    /// When the terminal goes.
    phase: Phase,
    /// Packets; without it one bandwidth-delay product.
    queue: Option<u32>,
    /// Handovers, unless an axis says so.
    handovers: Option<u32>,
}

/// When the terminal goes, of the whole time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// As long before the first and after the last as between two.
    Even,
    /// Half as long.
    Half,
}

impl Phase {
    /// The moment of handover `k` of `count`, counted from 1.
    fn share(self, k: u32, count: u32) -> f64 {
        match self {
            Self::Even => f64::from(k) / f64::from(count + 1),
            Self::Half => (f64::from(k) - 0.5) / f64::from(count),
        }
    }
}

/// What a download showed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ride {
    /// Bytes of IP packets that have reached the terminal.
    pub(crate) volume: u64,
    /// The silences around handovers.
    pub(crate) gaps: Vec<Gap>,
    /// Handovers that did not come about.
    pub(crate) failed: u32,
    /// Of everything that happened.
    pub(crate) fingerprint: u64,
}

impl Ride {
    /// From the last packet before to the first one after, s; the mean over all handovers.
    pub(crate) fn transport_delay(&self) -> Option<f64> {
        let delays: Vec<f64> =
            self.gaps.iter().filter_map(|gap| Some((gap.after? - gap.before).as_secs_f64())).collect();
        (!delays.is_empty()).then(|| delays.iter().sum::<f64>() / delays.len() as f64)
    }
}

impl HardHandoverPlace {
    /// From the data.
    ///
    /// # Errors
    /// When a value is missing.
    pub(crate) fn new(papers: &Papers, scenario: &str) -> Result<Self, DataError> {
        let scenario = papers.scenario(scenario)?;
        let settings = papers.profile(scenario.profile())?;
        let seconds = |leaf: &str| scenario.number_at(leaf).map(Duration::from_secs_f64);
        let given = |leaf: &str| {
            scenario.setting(leaf).and_then(|value| value.as_float().or(value.as_integer().map(|n| n as f64)))
        };
        Ok(Self {
            config: config(&settings, scenario.number_at("parameters.rwnd")?)?,
            mobile: profile::mobile(&settings)?,
            set_primary: set_primary(&settings),
            net_ho: seconds("parameters.net_ho")?,
            ufa_ho: seconds("parameters.ufa_ho")?,
            order: order(&scenario)?,
            duration: seconds("run.duration")?,
            wired_rate: scenario.number_at("topology.cn_gw_rate")?,
            wired_delay: seconds("topology.cn_gw_delay")?,
            radio_delay: seconds("topology.gw_mn_delay")?,
            radio_rate: given("topology.gw_mn_rate"),
            loss: scenario.number_at("topology.loss")?,
            phase: phase(&scenario)?,
            queue: given("topology.gw_queue").map(|packets| packets as u32),
            handovers: given("parameters.ho_nbr").map(|count| count as u32),
            scenario,
        })
    }

    fn air(&self, cell: &Cell) -> Air {
        let radio_rate = self.radio_rate(cell);
        Air {
            wired_rate: self.wired_rate,
            wired_delay: self.wired_delay,
            radio_rate,
            radio_delay: self.radio_delay,
            loss: self.loss,
            queue: match self.queue {
                Some(packets) => QueueLimit::packets(packets),
                None => QueueLimit::bytes((self.bdp(cell).round() as u64).max(LEAST_QUEUE)),
            },
        }
    }

    fn radio_rate(&self, cell: &Cell) -> f64 {
        let on_axis = cell.get("xput").map(|_| cell.number("xput") * 1e6);
        on_axis.or(self.radio_rate).unwrap_or(1e6)
    }

    /// The bandwidth-delay product by formulas 1 and 2, bytes.
    pub(crate) fn bdp(&self, cell: &Cell) -> f64 {
        let rate = self.radio_rate(cell);
        let round_trip = 2.0 * (self.wired_delay + self.radio_delay).as_secs_f64() + 12_000.0 / rate;
        round_trip * rate / 8.0
    }

    /// How often the terminal goes to the other gateway.
    pub(crate) fn handovers(&self, cell: &Cell) -> u32 {
        if cell.get("ho_nbr").is_some() { cell.count("ho_nbr") } else { self.handovers.unwrap_or(1) }
    }

    /// How long the terminal is nowhere.
    pub(crate) fn gap(&self, cell: &Cell) -> Duration {
        if is_ufa(cell) {
            self.ufa_ho
        } else if cell.get("net_ho").is_some() {
            Duration::from_secs_f64(cell.number("net_ho"))
        } else {
            self.net_ho
        }
    }

    fn sctp(&self, cell: &Cell) -> (Correspondence, Control) {
        let scheme = Scheme::of(&cell.series);
        let base = match scheme.profile {
            Whose::Papers => self.config.clone(),
            Whose::Ours => self.mobile.clone(),
        };
        if let Some(transition) = transition(cell.word("scheme")) {
            let mut correspondent = base;
            transition.configure(&mut correspondent);
            trusting(&mut correspondent);
            let terminal = correspondent.clone();
            return (Correspondence { correspondent, terminal }, Control::Network(transition, self.order));
        }
        let mut config = match scheme.profile {
            Whose::Papers => profile::with_requests(base),
            Whose::Ours => base,
        };
        match (scheme.policy, cell.word("scheme")) {
            (Whose::Papers, "m-sctp+") => config.primary_change = PrimaryChangeRule::RetransmitAtOnce,
            (Whose::Papers, _) if scheme.profile == Whose::Papers => config.primary_change = self.set_primary,
            _ => {}
        }
        let policy: Box<dyn Fn() -> Box<dyn Policy> + Send> = match scheme.policy {
            Whose::Papers => Box::new(|| Box::<HardHandover>::default()),
            Whose::Ours => Box::new(|| Box::new(Seamless::policy(Pace::MOBILE))),
        };
        let sctp = Correspondence { correspondent: config.clone(), terminal: config };
        (sctp, Control::Terminal(policy))
    }

    /// The hosts of a cell; `seen` is shown each packet as it reaches a host.
    pub(crate) fn bed(
        &self,
        cell: &Cell,
        seed: u64,
        seen: impl FnMut(Instant, &Overheard<'_>) + Send + 'static,
    ) -> Gateways {
        let (sctp, control) = self.sctp(cell);
        Gateways::new(seed, &self.air(cell), &sctp, control, seen)
    }

    /// The whole download, of which nobody looks at packets.
    pub(crate) fn download(&self, cell: &Cell, seed: u64, watch: Watch) -> Ride {
        let mut bed = self.bed(cell, seed, |_, _| {});
        self.ride(cell, &mut bed, watch, &mut |_| {})
    }

    /// How much more `volume` is than what `scheme` downloads in the same place, in per cent.
    pub(crate) fn gain(&self, cell: &Cell, scheme: &str, seed: u64, ride: &Ride) -> f64 {
        let mut reference = cell.clone();
        for (axis, value) in &mut reference.axes {
            if axis == "scheme" {
                *value = scheme.into();
            }
        }
        if reference == *cell {
            return 0.0;
        }
        let volume = self.download(&reference, seed, Watch::default()).volume;
        100.0 * (ride.volume as f64 / volume as f64 - 1.0)
    }

    /// The whole download, with `look` after every event.
    pub(crate) fn ride(
        &self,
        cell: &Cell,
        bed: &mut Gateways,
        watch: Watch,
        look: &mut dyn FnMut(&Gateways),
    ) -> Ride {
        bed.record(watch);
        let (count, gap) = (self.handovers(cell), self.gap(cell));
        let mut failed = 0;
        for k in 1..=count {
            let at = BEGIN + self.duration.mul_f64(self.phase.share(k, count));
            bed.run_until(at, look);
            if !is_ufa(cell) {
                bed.go(gap, look);
            } else if !bed.send_over(gap, at + PREPARATION, look) {
                failed += 1;
            }
        }
        bed.run_until(BEGIN + self.duration, look);
        let _ = bed.world.finish();
        Ride { volume: bed.volume(), gaps: bed.gaps(), failed, fingerprint: bed.world.trace_hash() }
    }
}

/// Whether the network moves the terminal.
pub(crate) fn is_ufa(cell: &Cell) -> bool {
    transition(cell.word("scheme")).is_some()
}

/// What the correspondent makes of message 7; `None` where there is none.
fn transition(scheme: &str) -> Option<Box<dyn Transition>> {
    match scheme {
        "ufa" => Some(Box::new(Ufa)),
        "ufa+" => Some(Box::new(UfaPlus)),
        "ufa++" => Some(Box::new(UfaPlusPlus)),
        _ => None,
    }
}

fn config(settings: &Settings, rwnd: f64) -> Result<Config, DataError> {
    let mut config = profile::config(settings, LARGEST)?;
    let ssthresh = Some(settings.number("ssthresh")? as usize);
    // All paths begin or end at the correspondent.
    let address = correspondent().ip();
    config.fresh_paths = vec![FreshPath { address, initial_window: None, ssthresh, rto_initial: None }];
    config.limits.receive_buffer = rwnd as usize + LARGEST;
    config.retransmission.recovery = match settings.word("fast_recovery") {
        "association" => RecoveryScope::Association,
        "path" => RecoveryScope::Path,
        other => return Err(DataError(format!("Fast Recovery is no state of a {other}"))),
    };
    config.multipath.growth = match settings.word("cwnd_growth") {
        "cumulative point" => WindowGrowth::CumulativePointAlways,
        "any" => WindowGrowth::Acknowledged,
        other => return Err(DataError(format!("a window does not grow by {other}"))),
    };
    Ok(config)
}

/// What the sender does when a Set Primary comes after a timeout.
fn set_primary(settings: &Settings) -> PrimaryChangeRule {
    if settings.get("kick_on_set_primary").and_then(toml::Value::as_bool) == Some(true) {
        PrimaryChangeRule::Standard
    } else {
        PrimaryChangeRule::AwaitTimer
    }
}

fn phase(scenario: &Scenario) -> Result<Phase, DataError> {
    match scenario.setting("mobility.handover_times").and_then(toml::Value::as_str) {
        Some("500 * k / (ho_nbr + 1), k = 1..ho_nbr") => Ok(Phase::Even),
        Some("500 * (k - 0.5) / ho_nbr, k = 1..ho_nbr") => Ok(Phase::Half),
        _ => Err(DataError(format!("{}: unknown mobility.handover_times", scenario.id()))),
    }
}

fn order(scenario: &Scenario) -> Result<Order, DataError> {
    match scenario.setting("parameters.ufa_order").and_then(toml::Value::as_str) {
        Some("5, 6, 7 to the CN first, then 5A, 6A, 7A to the MN, one after the other") => {
            Ok(Order::OneAfterTheOther)
        }
        Some("5 and 5A at once") => Ok(Order::AtOnce),
        _ => Err(DataError(format!("{}: unknown parameters.ufa_order", scenario.id()))),
    }
}

#[cfg(test)]
#[path = "hard_handover_place_tests.rs"]
mod tests;
