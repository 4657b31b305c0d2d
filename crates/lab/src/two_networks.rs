//! The set-up that b08's Figures 7, 8 and 12 share: two access networks, one behind each path.

use core::time::Duration;

use serde::Deserialize;
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::LinkConfig;

use crate::profile::{IP_HEADER, SCTP_HEADERS};
use crate::scenario::{DataError, Papers, Scenario};
use crate::setups::traffic::{ConstantRate, Greedy, Traffic};
use crate::setups::{AccessNetwork, Hosts, TwoPaths, User, random};

/// b08's traffic sources (its Table 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// 45 kbit/s in messages of 200 bytes.
    Cbr45,
    /// 70 % of the rate of the primary path's network in messages of 1452 bytes.
    CbrMax,
    /// As much as possible in messages of 1452 bytes.
    Bulk,
}

impl Source {
    /// Bytes of the largest message.
    pub(crate) const LARGEST: usize = 1452;

    /// By its name in the data.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "cbr45" => Self::Cbr45,
            "cbrmax" => Self::CbrMax,
            _ => Self::Bulk,
        }
    }

    /// The paper's name.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Cbr45 => "CBR-45",
            Self::CbrMax => "CBR-Max",
            Self::Bulk => "bulk",
        }
    }

    fn traffic(self, primary: &AccessNetwork, counts: RateCounts) -> Box<dyn Traffic> {
        let constant = |size, rate| Box::new(ConstantRate::new(size, counts.of_user_data(rate, size)));
        match self {
            Self::Cbr45 => constant(200, 45e3),
            Self::CbrMax => constant(Self::LARGEST, 0.7 * primary.rate),
            // More than the paper's receive window lets out, and than queues and links together hold.
            Self::Bulk => Box::new(Greedy::new(Self::LARGEST, 256 << 10)),
        }
    }
}

/// What the rates of b08's Table 3 are rates of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
enum RateCounts {
    #[serde(rename = "user bytes")]
    UserBytes,
    /// With the headers of IP and SCTP.
    #[serde(rename = "whole packets")]
    Packets,
}

impl RateCounts {
    fn of_user_data(self, rate: f64, size: usize) -> f64 {
        match self {
            Self::UserBytes => rate,
            Self::Packets => rate * size as f64 / (size + IP_HEADER + SCTP_HEADERS) as f64,
        }
    }
}

/// The networks and what lies behind them.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    networks: Vec<(String, AccessNetwork)>,
    wired: LinkConfig,
    start_max: Duration,
    counts: RateCounts,
}

impl Setting {
    /// From the data.
    ///
    /// # Errors
    /// When a value is missing.
    pub(crate) fn new(papers: &Papers, scenario: &Scenario) -> Result<Self, DataError> {
        let named = |name: &str| Ok((name.to_owned(), AccessNetwork::named(papers, name)?));
        let networks = ["wlan", "umts", "geran"].into_iter().map(named).collect::<Result<_, DataError>>()?;
        let wired = LinkConfig {
            rate_bps: Some(scenario.number_at("topology.wired_rate")? as u64),
            delay: Duration::from_secs_f64(scenario.number_at("topology.wired_delay")?),
            loss: random(scenario.number_at("topology.loss")?),
            ..LinkConfig::default()
        };
        let [0.0, start] = scenario.read::<[f64; 2]>("traffic.start")? else {
            return Err(DataError(format!("{}: traffic.start goes from 0 to some time", scenario.id())));
        };
        let counts = scenario.read("traffic.rate_counts")?;
        let setting = Self { networks, wired, start_max: Duration::from_secs_f64(start), counts };
        // So that no cell of the sweep asks for what is not there.
        let pairs = scenario.axis("pair");
        let stranger = pairs.iter().find(|pair| !pair.word().is_some_and(|pair| setting.has(pair)));
        match stranger {
            Some(pair) => Err(DataError(format!("{}: {pair} is no pair of networks", scenario.id()))),
            None => Ok(setting),
        }
    }

    fn has(&self, pair: &str) -> bool {
        let known = |name: &str| self.networks.iter().any(|(known, _)| known == name);
        pair.split_once('-').is_some_and(|(primary, alternate)| known(primary) && known(alternate))
    }

    /// The network of this name, which the constructor has seen to be there; the last one for any other.
    pub(crate) fn network(&self, name: &str) -> AccessNetwork {
        let found = self.networks.iter().find(|(known, _)| known == name).or(self.networks.last());
        found.expect("the constructor fills it").1
    }

    /// The networks of a pair such as `wlan-umts`, the primary path's first.
    pub(crate) fn pair(&self, pair: &str) -> [AccessNetwork; 2] {
        let (primary, alternate) = pair.split_once('-').unwrap_or((pair, pair));
        [self.network(primary), self.network(alternate)]
    }

    /// Two hosts between which `source` starts at a random time.
    pub(crate) fn build(&self, seed: u64, hosts: Hosts, pair: &str, source: Source, queue: u32) -> TwoPaths {
        let traffic = source.traffic(&self.pair(pair)[0], self.counts);
        self.build_with(seed, hosts, pair, Some(traffic), queue)
    }

    /// Two hosts whose association is up after a random time and carries nothing.
    pub(crate) fn build_idle(&self, seed: u64, hosts: Hosts, pair: &str, queue: u32) -> TwoPaths {
        self.build_with(seed, hosts, pair, None, queue)
    }

    fn build_with(
        &self,
        seed: u64,
        hosts: Hosts,
        pair: &str,
        traffic: Option<Box<dyn Traffic>>,
        queue: u32,
    ) -> TwoPaths {
        let start = Seed::from_u64(seed).stream("traffic.start", 0).duration_below(self.start_max);
        let networks = self.pair(pair);
        TwoPaths::new(seed, hosts, networks, self.wired, queue, |peer| {
            User::opener(Instant::ZERO + start, peer).sending(traffic)
        })
    }
}

/// A pair of networks as people say it.
pub(crate) fn spoken(pair: &str) -> String {
    let (from, to) = pair.split_once('-').unwrap_or((pair, pair));
    format!("{} to {}", from.to_uppercase(), to.to_uppercase())
}
