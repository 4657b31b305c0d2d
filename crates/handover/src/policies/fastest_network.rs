use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{
    Instant, Interface, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, ReceivedPower,
};
use whimbrel_proto::{PathState, PathView};

use super::failover::every_address;
use crate::{Fact, Governed, Judge, LocalAddress, Need, Pace, Reason, Standing, Trend, View, Want, Wish};

/// Interfaces whose signal is followed, at most.
const MAX_TRENDS: usize = 64;

/// Another network is faster when it exceeds the present rate by this fraction of it (one in so many): the rates that radios report
/// waver, and between two that are about the same it would go to and fro for ever.
const WORTH_A_MOVE: u64 = 4;

/// Stays in the fastest network as long as possible (b08 section 4.2.1.2).
///
/// To a faster network it moves as soon as that has a working path; the peer is asked to together with the addition of the address. To a slower one it moves as late as is safe: at the warning of
/// the layer below, if there is one; when the signal, going on as it does, will be lost within the time that the move takes; or
/// when the path fails.
#[derive(Clone, Debug)]
pub struct FastestNetwork {
    /// Below this nothing can be received any more.
    floor: ReceivedPower,
    /// Added to the round-trip times that a move takes.
    margin: Duration,
    trends: Vec<(InterfaceId, Trend)>,
    wake: Option<Instant>,
}

impl FastestNetwork {
    /// A judge that takes signals below `floor` for lost, and leaves `margin` earlier than seems necessary.
    pub const fn new(floor: ReceivedPower, margin: Duration) -> Self {
        Self { floor, margin, trends: Vec::new(), wake: None }
    }

    /// As a policy with its usual settings: −90 dBm, 100 ms, and at once to a faster network when the dwell time is over.
    pub fn policy(pace: Pace) -> Governed<Self> {
        let judge = Self::new(ReceivedPower::from_dbm(-90.0), Duration::from_millis(100));
        Governed::new(judge, Pace { settle: Duration::ZERO, ..pace })
    }

    fn note(&mut self, now: Instant, fact: &Fact) {
        let Fact::Link(LinkFact::Interface { interface, fact }) = *fact else { return };
        match fact {
            InterfaceFact::Signal(power) => {
                if !self.trends.iter().any(|(id, _)| *id == interface) && self.trends.len() < MAX_TRENDS {
                    self.trends.push((interface, Trend::default()));
                }
                if let Some((_, trend)) = self.trends.iter_mut().find(|(id, _)| *id == interface) {
                    trend.on_reading(now, power);
                }
            }
            InterfaceFact::Down => self.trends.retain(|(id, _)| *id != interface),
            _ => {}
        }
    }

    /// How long the interface will last; `None` if nothing says that it will end.
    fn time_left(&self, now: Instant, interface: &Interface) -> Option<Duration> {
        if interface.properties.going_down {
            return Some(Duration::ZERO);
        }
        let (_, trend) = self.trends.iter().find(|(id, _)| *id == interface.id)?;
        trend.time_until(now, self.floor)
    }

    /// How long a move away from `from` takes: the request, and what was sent before it arrived (twice the one-way time that
    /// c04 allows), on the slower of both ways.
    fn time_needed(&self, view: &View<'_>, from: IpAddr, to: IpAddr) -> Duration {
        let rtt = |ip| view.paths_from(ip).filter_map(|path| path.srtt).max().unwrap_or_default();
        rtt(from).max(rtt(to)) + self.margin
    }
}

/// Bit/s to compare by, if the rate is not known, by what the kind of interface usually has.
fn speed(interface: Option<&Interface>) -> u64 {
    let Some(interface) = interface else { return 0 };
    interface.properties.rate.unwrap_or(match interface.properties.kind.unwrap_or_default() {
        InterfaceKind::Wired => 1_000_000_000,
        InterfaceKind::WirelessLan => 50_000_000,
        InterfaceKind::Cellular => 10_000_000,
        InterfaceKind::Other | InterfaceKind::Tunnel | InterfaceKind::Loopback => 1_000_000,
    })
}

/// The fastest of our addresses `among`; of several the lowest.
fn fastest(view: &View<'_>, among: impl Iterator<Item = IpAddr>) -> Option<IpAddr> {
    among.max_by_key(|&ip| (speed(view.interface_of(ip)), core::cmp::Reverse(ip)))
}

/// Whether an address is about to become usable: it is to be added, or its paths are being confirmed.
fn is_joining(local: &LocalAddress, view: &View<'_>) -> bool {
    let ip = local.address.ip();
    let unconfirmed = |path: &PathView| path.state == PathState::Unconfirmed;
    let coming = match local.standing {
        Standing::Absent | Standing::Adding => view.dynamic && view.reaches(ip),
        Standing::Present => view.paths_from(ip).any(unconfirmed),
        Standing::Deleting => false,
    };
    local.up && coming
}

impl Judge for FastestNetwork {
    fn judge(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Wish {
        self.note(now, fact);
        self.wake = None;
        Wish { primary: self.choose(now, view), addresses: every_address(view) }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.wake
    }
}

impl FastestNetwork {
    fn choose(&mut self, now: Instant, view: &View<'_>) -> Option<Want> {
        let current = view.primary()?;
        let working = view.addresses.iter().map(|local| local.address.ip());
        let others: Vec<IpAddr> =
            working.filter(|&ip| ip != current && view.usable_path(ip).is_some()).collect();
        let soon = self.margin * 2;
        let lasting = |judge: &Self, at_least: Duration| {
            let others = others.iter().copied();
            fastest(view, others.filter(|&ip| judge.lasts(now, view, ip, at_least)))
        };
        let best = lasting(self, soon);
        if view.usable_path(current).is_none() {
            let any = best.or_else(|| lasting(self, Duration::ZERO)).or_else(|| others.first().copied());
            return any.map(|local| Want { local, need: Need::Necessity, reason: Reason::PathFailed });
        }
        if let Some(refuge) = self.refuge(now, view, current, &others) {
            if !self.lasts(now, view, current, self.time_needed(view, current, refuge)) {
                let warned =
                    view.interface_of(current).is_some_and(|interface| interface.properties.going_down);
                let reason = if warned { Reason::GoingDown } else { Reason::SignalFading };
                return Some(Want { local: refuge, need: Need::Necessity, reason });
            }
            self.look_ahead(now, view, current, refuge);
        }
        let here = speed(view.interface_of(current));
        let faster = |ip: &IpAddr| speed(view.interface_of(*ip)) > here.saturating_add(here / WORTH_A_MOVE);
        let joining = view.addresses.iter().filter(|local| is_joining(local, view)).map(|l| l.address.ip());
        let joining = joining.filter(|ip| faster(ip) && self.lasts(now, view, *ip, soon));
        // One that works before one that may never do.
        let best = best.filter(faster).or_else(|| joining.max_by_key(|&ip| speed(view.interface_of(ip))));
        best.map(|local| Want { local, need: Need::Advantage, reason: Reason::Faster })
    }

    /// Whether our address `ip` lasts longer than `needed`, as far as anybody can tell.
    fn lasts(&self, now: Instant, view: &View<'_>, ip: IpAddr, needed: Duration) -> bool {
        let left = view.interface_of(ip).and_then(|interface| self.time_left(now, interface));
        left.is_none_or(|left| left > needed)
    }

    /// The fastest of `others` that will still be there when `current` is not. Another address of the same interface goes with it.
    fn refuge(&self, now: Instant, view: &View<'_>, current: IpAddr, others: &[IpAddr]) -> Option<IpAddr> {
        let end = self.time_left(now, view.interface_of(current)?)?.max(self.margin * 2);
        fastest(view, others.iter().copied().filter(|&ip| self.lasts(now, view, ip, end)))
    }

    /// Asks to be woken when it will be time to leave, should no reading come before.
    fn look_ahead(&mut self, now: Instant, view: &View<'_>, current: IpAddr, best: IpAddr) {
        let left = view.interface_of(current).and_then(|interface| self.time_left(now, interface));
        if let Some(left) = left {
            let at = now + left.saturating_sub(self.time_needed(view, current, best));
            self.wake = (at > now).then_some(at);
        }
    }
}

#[cfg(test)]
#[path = "fastest_network_tests.rs"]
mod tests;
