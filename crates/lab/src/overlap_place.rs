//! b09's set-up: a file downloaded by a mobile node that goes from one radio access network through the overlap into another.

use core::time::Duration;

use whimbrel_handover::{Concurrent, FastestNetwork, Pace, Policy, Seamless};
use whimbrel_machine::{Instant, InterfaceKind, Seed};
use whimbrel_netsim::LinkConfig;
use whimbrel_proto::{Config, FreshPath, PathPairing};

use crate::concurrent_profile::Concurrency;
use crate::experiment::{Axes, Cell, Name, SEAMLESS, Watch};
use crate::profile;
use crate::scenario::{DataError, Papers, Scenario};
use crate::scheme::{POLICY_ALONE, PROFILE_ALONE, Scheme, Whose};
use crate::setups::overlap::{OLD, Overlap, OverlapHosts, Radio, correspondent};
use crate::setups::{AccessNetwork, random};
use crate::value::Value;

/// The series with both networks at once beside the paper's.
pub(crate) const OURS: [&str; 3] = [SEAMLESS, PROFILE_ALONE, POLICY_ALONE];

/// What [`OURS`] are.
pub(crate) fn described() -> Vec<(Name, &'static str)> {
    let says = [
        "Config::mobile() on both networks at once (Config::combining_paths) with the seamless policy, and receive buffers as in the paper",
        "the paper's policy with that profile: what the profile does by itself",
        "the seamless policy with the paper's profile for concurrent transfer: what the policy does by itself",
    ];
    OURS.into_iter().map(Name::from).zip(says).collect()
}

/// What a series of [`OURS`] is called where it is drawn.
pub(crate) fn called(series: &str) -> &'static str {
    match series {
        PROFILE_ALONE => "mSCTP-CMT with Config::mobile()",
        POLICY_ALONE => "seamless with the paper's profile",
        _ => "seamless on both networks",
    }
}

/// What [`ONE_PATH`] is.
pub(crate) const ONE_PATH_SAYS: &str =
    "Config::mobile() on one network at a time with the seamless policy, and receive buffers as in the paper";

/// Bytes of user data in a full packet.
pub(crate) const LARGEST: usize = 1452;
/// Our policy and profile with one path at a time.
pub(crate) const ONE_PATH: &str = "seamless-one-path";
/// The longest run: twice what the slow network takes for the file.
pub(crate) const LONGEST: Duration = Duration::from_secs(400);
/// The rate in the overlap is taken from so long after its beginning.
const SETTLING: Duration = Duration::from_secs(1);
/// bit/s that a policy is told, so that it takes one network for far better than the other.
const BETTER_AND_WORSE: [u64; 2] = [100_000_000, 1_000_000];

/// Which networks a mobile node uses in the overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// The better one for as long as it is there: mSCTP with an oracle.
    Best,
    /// The poorer one for as long as it is there.
    Worst,
    /// Both at once.
    Both,
    /// The better one, as Whimbrel has it.
    One,
}

impl Way {
    /// That of a cell.
    pub(crate) fn of(cell: &Cell) -> Self {
        match (&*cell.series, cell.word("scheme")) {
            (ONE_PATH, _) => Self::One,
            (_, "best") => Self::Best,
            (_, "worst") => Self::Worst,
            _ => Self::Both,
        }
    }
}

/// The set-up that all of b09's experiments share.
pub(crate) struct OverlapPlace {
    pub(crate) scenario: Scenario,
    /// Plain mSCTP.
    msctp: Config,
    /// What mSCTP-CMT is made of.
    base: Config,
    concurrency: Concurrency,
    mobile: Config,
    /// Bytes.
    pub(crate) file: u64,
    wired_rate: f64,
    loss: f64,
    queue: u32,
    /// bit/s of the slow network.
    slow: f64,
    /// Of the radio of the fast network and of the slow one.
    delays: [Duration; 2],
    t1: Duration,
    benchmark_rbuf: usize,
}

/// One transfer, before it begins.
pub(crate) struct Trip {
    pub(crate) bed: Overlap,
    /// When the first data could be sent.
    pub(crate) began: Instant,
    /// When the overlap begins and ends.
    pub(crate) overlap: [Instant; 2],
}

impl OverlapPlace {
    /// From the data.
    ///
    /// # Errors
    /// When a value is missing.
    pub(crate) fn new(papers: &Papers, scenario: &str) -> Result<Self, DataError> {
        let scenario = papers.scenario(scenario)?;
        let settings = papers.profile(scenario.profile())?;
        let concurrency = Concurrency::new(&settings)?;
        let mut base = profile::with_requests(profile::config(&settings, LARGEST)?);
        // The correspondent node has one address: by destinations alone the mobile node would have one path, over whichever network.
        base.pairing = PathPairing::Mesh;
        let mut msctp = base.clone();
        msctp.failure.path_max_retrans = settings.number("pmr_msctp")? as u32;
        let delay = |name: &str| {
            let radio = scenario.setting(name).and_then(|radio| crate::scenario::number(radio.get("delay")?));
            let missing = || DataError(format!("{}: {name} has no delay", scenario.id()));
            radio.map(Duration::from_secs_f64).ok_or_else(missing)
        };
        let slow = scenario.setting("topology.slow_ran");
        let slow = slow.and_then(|radio| crate::scenario::number(radio.get("rate")?));
        let at = |path: &str| scenario.number_at(path);
        Ok(Self {
            msctp,
            base,
            mobile: profile::mobile(&settings)?,
            concurrency,
            file: at("traffic.file")? as u64,
            wired_rate: at("topology.wired_rate")?,
            loss: at("topology.loss")?,
            queue: match scenario.setting("topology.queue").and_then(toml::Value::as_str) {
                Some("unlimited") => u32::MAX,
                _ => at("topology.queue")? as u32,
            },
            slow: slow
                .ok_or_else(|| DataError(format!("{}: the slow network has no rate", scenario.id())))?,
            delays: [delay("topology.fast_ran")?, delay("topology.slow_ran")?],
            t1: Duration::from_secs_f64(at("mobility.t1")?),
            benchmark_rbuf: at("parameters.benchmark_rbuf")? as usize,
            scenario,
        })
    }

    /// A number from an axis of the cell, or from the set-up.
    fn number(&self, cell: &Cell, axis: &str, settings: &[&str]) -> f64 {
        let own = cell.get(axis).and_then(Value::number);
        own.or_else(|| settings.iter().find_map(|path| self.scenario.number_at(path).ok()))
            .unwrap_or_default()
    }

    /// Whether it begins in the fast network.
    fn begins_fast(&self, cell: &Cell) -> bool {
        let of_place = self.scenario.setting("parameters.transition").and_then(toml::Value::as_str);
        cell.get("transition").and_then(Value::word).or(of_place) != Some("slow-fast")
    }

    /// Bytes. Plain mSCTP is not to be limited by it.
    fn receive_buffer(&self, cell: &Cell) -> usize {
        if matches!(Way::of(cell), Way::Best | Way::Worst) {
            return self.benchmark_rbuf;
        }
        (self.number(cell, "rbuf_kb", &["parameters.rbuf_kb"]) * 1024.0) as usize
    }

    /// Bytes: the slow-start threshold of a fresh path.
    fn ssthresh(&self, buffer: usize) -> usize {
        let cap = self.scenario.number_at("parameters.ssthresh_cap").ok();
        cap.map_or(self.concurrency.ssthresh(buffer), |cap| cap as usize)
    }

    /// The networks, the one where it begins first.
    fn networks(&self, cell: &Cell) -> [AccessNetwork; 2] {
        let fast = self.slow * self.number(cell, "bw_ratio", &["parameters.bw_ratio"]);
        let [fast_delay, slow_delay] = self.delays;
        let fast = AccessNetwork { rate: fast, delay: fast_delay, kind: InterfaceKind::WirelessLan };
        let slow = AccessNetwork { rate: self.slow, delay: slow_delay, kind: InterfaceKind::Cellular };
        if self.begins_fast(cell) { [fast, slow] } else { [slow, fast] }
    }

    fn wired(&self, cell: &Cell) -> LinkConfig {
        let own = cell.get("wired_ms").and_then(Value::number).map(|ms| ms / 1e3);
        let delay = own.unwrap_or_else(|| self.number(cell, "wired_delay", &["topology.wired_delay"]));
        LinkConfig {
            rate_bps: Some(self.wired_rate as u64),
            delay: Duration::from_secs_f64(delay),
            loss: random(self.loss),
            ..LinkConfig::default()
        }
    }

    /// How long a packet takes at least from the correspondent node to the mobile node in a network.
    pub(crate) fn least_delay(&self, cell: &Cell, network: usize) -> Duration {
        self.wired(cell).delay + self.networks(cell)[network].delay
    }

    /// The air of both networks, with random loss in the slow one if the cell has that.
    fn radio(&self, cell: &Cell) -> [Radio; 2] {
        self.networks(cell).map(|network| {
            let up = network.link(self.queue);
            let loss = if network.kind == InterfaceKind::Cellular { cell.number("loss") } else { 0.0 };
            Radio { down: LinkConfig { loss: random(loss), ..up }, up, kind: network.kind }
        })
    }

    /// The hosts of a cell.
    pub(crate) fn hosts(&self, cell: &Cell) -> OverlapHosts {
        let (way, scheme) = (Way::of(cell), Scheme::of(&cell.series));
        let plain = matches!(way, Way::Best | Way::Worst);
        let mut config = match (scheme.profile, way) {
            (Whose::Papers, _) if plain => self.msctp.clone(),
            (Whose::Papers, _) => self.concurrency.of(cell).apply(self.base.clone()),
            (Whose::Ours, Way::One) => self.mobile.clone(),
            (Whose::Ours, _) => self.mobile.clone().combining_paths(),
        };
        let buffer = self.receive_buffer(cell);
        config.limits.receive_buffer = buffer + LARGEST;
        if scheme.profile == Whose::Papers {
            config.fresh_paths = vec![FreshPath {
                address: correspondent().ip(),
                initial_window: None,
                ssthresh: Some(self.ssthresh(buffer)),
                rto_initial: None,
            }];
        }
        let policy: Box<dyn Fn() -> Box<dyn Policy> + Send> = match scheme.policy {
            Whose::Papers if plain => Box::new(|| Box::new(FastestNetwork::policy(Pace::AT_ONCE))),
            Whose::Papers => Box::new(|| Box::new(Concurrent::policy(Pace::AT_ONCE))),
            Whose::Ours => Box::new(|| Box::new(Seamless::policy(Pace::MOBILE))),
        };
        let [better, worse] = BETTER_AND_WORSE;
        let prefers_old = self.begins_fast(cell) != (way == Way::Worst);
        let rates = if prefers_old { [better, worse] } else { [worse, better] };
        OverlapHosts { configs: [config.clone(), config], policy, rates }
    }

    fn begin(
        &self,
        cell: &Cell,
        hosts: OverlapHosts,
        seed: u64,
        watch: Watch,
        file: u64,
    ) -> Option<(Overlap, Instant)> {
        let mut bed = Overlap::new(seed, hosts, self.radio(cell), self.wired(cell), file);
        let _ = bed.watch(watch);
        let began = bed.begin()?;
        Some((bed, began))
    }

    /// Begins a transfer of the whole file by hosts that have both networks all the time, from within a round trip on.
    pub(crate) fn stay(
        &self,
        cell: &Cell,
        hosts: OverlapHosts,
        seed: u64,
        watch: Watch,
        file: u64,
    ) -> Option<Trip> {
        let (mut bed, began) = self.begin(cell, hosts, seed, watch, file)?;
        let round_trip = (self.wired(cell).delay + self.networks(cell)[OLD].delay) * 2;
        let enters = began + Seed::from_u64(seed).stream("traffic.start", 0).duration_below(round_trip);
        bed.enter(enters);
        Some(Trip { bed, began, overlap: [enters, began + LONGEST] })
    }

    /// Begins a transfer. The overlap begins `t1` after the first data, and up to a round trip of the old network later. A transfer of `file` bytes is
    /// that of the paper if there is none.
    pub(crate) fn set_out(&self, cell: &Cell, seed: u64, watch: Watch, file: Option<u64>) -> Option<Trip> {
        let (networks, wired) = (self.networks(cell), self.wired(cell));
        let file = file.unwrap_or(self.file);
        let (mut bed, began) = self.begin(cell, self.hosts(cell), seed, watch, file)?;
        let round_trip = (wired.delay + networks[OLD].delay) * 2;
        let phase = Seed::from_u64(seed).stream("traffic.start", 0).duration_below(round_trip);
        let enters = began + self.t1 + phase;
        let dwell = self.number(cell, "t_dwell", &["parameters.t_dwell", "mobility.t_dwell"]);
        let leaves = enters + Duration::from_secs_f64(dwell);
        bed.overlap(enters, leaves);
        Some(Trip { bed, began, overlap: [enters, leaves] })
    }
}

/// What came of a transfer.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Transfer {
    /// Seconds from the first data to the last byte delivered in order; `None` if it did not arrive in time.
    pub(crate) time: Option<f64>,
    /// bit/s delivered in order in the overlap, while the transfer lasts.
    pub(crate) overlap_rate: Option<f64>,
    /// Packets that had been delivered in order at each of the times asked for.
    pub(crate) curve: Vec<f64>,
    pub(crate) fingerprint: u64,
}

/// What is looked at on the way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    RateFrom,
    RateUntil,
    Curve,
}

impl Trip {
    /// Goes all the way. `times` are those of the curve, in seconds from the first data.
    pub(crate) fn go(mut self, times: &[f64]) -> Transfer {
        let [enters, leaves] = self.overlap;
        let mut looks = vec![(enters + SETTLING, Look::RateFrom), (leaves, Look::RateUntil)];
        looks.extend(times.iter().map(|&t| (self.began + Duration::from_secs_f64(t), Look::Curve)));
        looks.sort_by_key(|&(at, look)| (at, look));
        let mut transfer = Transfer::default();
        let mut from = None;
        for (at, look) in looks {
            self.bed.run_until(at);
            let (delivered, at) = (self.bed.delivered(), self.bed.done().unwrap_or(at));
            match look {
                Look::RateFrom => from = Some((at, delivered)),
                Look::RateUntil => {
                    let rate = |(from, had)| rate(delivered - had, at.saturating_since(from));
                    transfer.overlap_rate = from.and_then(rate);
                }
                Look::Curve => transfer.curve.push(delivered as f64 / LARGEST as f64),
            }
        }
        self.bed.run_until(self.began + LONGEST);
        let _ = self.bed.world.finish();
        transfer.time = self.bed.done().map(|done| (done - self.began).as_secs_f64());
        transfer.fingerprint = self.bed.world.trace_hash();
        transfer
    }
}

/// bit/s; `None` if there was no time.
fn rate(bytes: u64, time: Duration) -> Option<f64> {
    (!time.is_zero()).then(|| bytes as f64 * 8.0 / time.as_secs_f64())
}

/// Axes with these values.
pub(crate) fn axes<const N: usize>(all: [(&'static str, Value); N]) -> Axes {
    all.map(|(name, value)| (name.into(), value)).to_vec()
}
