//! What a row's networks are like before the trouble, and what is sent over them.

use core::time::Duration;

use whimbrel_machine::{Rng, Seed};
use whimbrel_netsim::{LinkConfig, Loss};
use whimbrel_testbed::link;

use super::places::Network;
use super::world::Start;

/// The trouble usually begins so long after the world, or up to twice as long.
pub(super) const TROUBLE: Duration = Duration::from_secs(4);

/// What is there whatever the trouble is.
pub(super) struct Conditions {
    pub start: Start,
    /// By network, in the order of [`Network::ALL`].
    links: [LinkConfig; Network::ALL.len()],
    /// When the trouble begins, from the beginning of the world.
    pub trouble: Duration,
}

fn usual(network: Network) -> LinkConfig {
    match network {
        Network::Core | Network::Core2 => link(1000, 0),
        Network::Wifi => link(20, 10),
        Network::Lte => link(10, 30),
        Network::Wired => link(50, 5),
        Network::Satellite => link(10, 120),
    }
}

impl Conditions {
    /// Those of `docs/torture.md`.
    pub(super) fn usual(start: Start, seed: u64) -> Self {
        // When it begins is the seed's choice, so that no timer is in step with it.
        let later = Seed::from_u64(seed).stream("trouble", 0).duration_below(TROUBLE);
        Self { start, links: Network::ALL.map(usual), trouble: TROUBLE + later }
    }

    /// Those that the seed chooses: networks that are quicker, slower, farther, less reliable, and records that come up to a hundred times as
    /// rarely, of any size up to the row's. In one world of five the trouble begins within a second of the association.
    pub(super) fn any(start: Start, seed: u64) -> Self {
        let mut random = Seed::from_u64(seed).stream("conditions", 0);
        let links = Network::ALL.map(|network| match network.is_servers() {
            true => usual(network),
            false => any_link(network, &mut random),
        });
        let interval = start.interval.mul_f64(between(1.0, 100.0, &mut random));
        let interval = interval.min(Duration::from_secs(1)).max(start.interval);
        let record = between(1.0, start.record as f64, &mut random) as usize;
        let mut any = Self { start: Start { interval, record, ..start }, links, ..Self::usual(start, seed) };
        if random.chance(0.2) {
            any.begin_soon(&mut random);
        }
        any
    }

    /// The trouble meets an association that has just come up, after two round trips.
    fn begin_soon(&mut self, random: &mut Rng) {
        for link in &mut self.links {
            (link.jitter, link.loss) = (Duration::ZERO, Loss::None);
        }
        let first = self.link(self.start.networks[0]).delay;
        self.trouble = first * 4 + random.duration_below(Duration::from_secs(1));
    }

    /// One way, before the trouble.
    pub(super) const fn set_delay(&mut self, network: Network, delay: Duration) {
        self.links[network as usize - 1].delay = delay;
    }

    pub(super) fn link(&self, network: Network) -> LinkConfig {
        self.links[network as usize - 1]
    }
}

/// Each order of magnitude is as likely as another.
fn between(least: f64, most: f64, random: &mut Rng) -> f64 {
    least * (most / least).powf(random.unit())
}

fn any_link(network: Network, random: &mut Rng) -> LinkConfig {
    let usual = usual(network);
    let rate_bps = usual.rate_bps.map(|rate| (rate as f64 * between(0.5, 10.0, random)) as u64);
    let delay = Duration::from_secs_f64(between(0.000_5, 0.15, random));
    let jitter = match random.chance(0.3) {
        true => random.duration_below(delay),
        false => Duration::ZERO,
    };
    let loss = match random.chance(0.3) {
        true => Loss::Bernoulli(between(0.000_1, 0.02, random)),
        false => Loss::None,
    };
    let duplicate = if random.chance(0.1) { 0.01 } else { 0.0 };
    LinkConfig { rate_bps, delay, jitter, loss, duplicate, ..usual }
}
