use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::Route;
use whimbrel_path::RtoConfig;
use whimbrel_path::congestion::InitialWindow;

use super::Config;

/// Initial cwnd, ssthresh and RTO of new paths over a certain address (RFC 9260 §7.2.1, §6.3.1 C1). `None` stands for what all paths have.
///
/// T1-init and T1-cookie, which run before there are paths, have [`Config::rto`] in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreshPath {
    /// An address of either end: it applies to paths that leave from it or lead to it.
    pub address: IpAddr,
    /// The congestion window to begin with.
    pub initial_window: Option<InitialWindow>,
    /// Slow-start threshold, bytes.
    pub ssthresh: Option<usize>,
    /// RTO.Initial: the retransmission timeout until a round trip is measured, from RTO.Min to RTO.Max.
    pub rto_initial: Option<Duration>,
}

impl Config {
    /// The entry that applies to a path with these addresses.
    pub(crate) fn fresh_path(&self, route: Route) -> Option<&FreshPath> {
        let ends = [route.local.ip(), route.remote.ip()];
        self.fresh_paths.iter().find(|fresh| ends.contains(&fresh.address))
    }

    /// Whether every entry's RTO.Initial is one that a path could have later.
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
