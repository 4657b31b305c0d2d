use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_path::RtoConfig;
use whimbrel_path::congestion::InitialWindow;

use super::Config;

/// What a path over some address begins with, where that is known to be another network than the rest; `None` is as for all paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreshPath {
    /// An address of either end: a path that leaves from it or leads to it is meant.
    pub address: IpAddr,
    /// cwnd.
    pub initial_window: Option<InitialWindow>,
    /// Slow-start threshold, bytes.
    pub ssthresh: Option<usize>,
    /// RTO.Initial: the retransmission timeout until a round trip is measured, from RTO.Min to RTO.Max.
    pub rto_initial: Option<Duration>,
}

impl Config {
    /// What a path with these addresses begins with, if it is another thing than for all paths.
    pub(crate) fn fresh_path(&self, route: Route) -> Option<&FreshPath> {
        let ends = [route.local.ip(), route.remote.ip()];
        self.fresh_paths.iter().find(|fresh| ends.contains(&fresh.address))
    }

    /// Whether no path begins with an RTO that it could not have later.
    pub(super) fn fresh_timeouts_are_in_bounds(&self) -> bool {
        let bounds = self.rto.min..=self.rto.max;
        self.fresh_paths.iter().filter_map(|fresh| fresh.rto_initial).all(|initial| bounds.contains(&initial))
    }

    /// The retransmission timeout of a path with these addresses.
    pub(crate) fn rto_of(&self, route: Route) -> RtoConfig {
        let initial = self.fresh_path(route).and_then(|fresh| fresh.rto_initial);
        RtoConfig { initial: initial.unwrap_or(self.rto.initial), ..self.rto.clone() }
    }
}

#[cfg(test)]
#[path = "fresh_path_tests.rs"]
mod tests;
