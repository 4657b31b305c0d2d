use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{
    Cost, Instant, Interface, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, ReceivedPower,
};

use super::failover::every_address;
use crate::{Blemish, Fact, Governed, Hysteresis, Judge, Need, Pace, Reason, Trend, View, Want, Wish};

/// Interfaces whose signal is followed, at most.
const MAX_FOLLOWED: usize = 64;

/// The policy for users: moves before a network is lost if anything warns, at the first evidence if nothing does, and does not
/// come back until that is certain to last.
///
/// - Every address is added as soon as there is one, so that every other path is confirmed and supervised before it is needed.
/// - Away from an interface: when the layer below says that it goes down, when its signal is weak, or no longer strong and falling so
///   that it will be weak within `horizon`, and when the path in use is potentially failed.
/// - Away from a path that works but is far slower, carries far less or loses far more than another ([`Blemish`]), if need be to another address of
///   the peer; and back to the address that the peer has chosen once nothing speaks against it.
/// - Among interfaces that work and are not about to be lost: unmetered before metered, then by the user's order, then
///   wired before wireless LAN before cellular; and where nothing tells them apart it stays where it is. What the network
///   selects (a command) comes before all that, as long as it works.
#[derive(Clone, Debug)]
pub struct Seamless {
    signal: Hysteresis<ReceivedPower>,
    horizon: Duration,
    followed: Vec<Followed>,
}

/// What is known about the signal of an interface.
#[derive(Clone, Debug)]
struct Followed {
    interface: InterfaceId,
    trend: Trend,
    good: bool,
}

impl Seamless {
    /// A judge with these thresholds: below `signal.low_below`, or falling so that it will be there within `horizon`, an
    /// interface is left; only from `signal.high_from` is it good again.
    pub const fn new(signal: Hysteresis<ReceivedPower>, horizon: Duration) -> Self {
        Self { signal, horizon, followed: Vec::new() }
    }

    /// As a policy with its usual settings: −82 dBm, −76 dBm, one second ahead.
    pub fn policy(pace: Pace) -> Governed<Self> {
        let signal = Hysteresis {
            low_below: ReceivedPower::from_dbm(-82.0),
            high_from: ReceivedPower::from_dbm(-76.0),
        };
        Governed::new(Self::new(signal, Duration::from_secs(1)), pace)
    }

    fn note(&mut self, now: Instant, fact: &Fact) {
        let Fact::Link(LinkFact::Interface { interface, fact }) = *fact else { return };
        match fact {
            InterfaceFact::Signal(power) => self.follow(now, interface, power),
            InterfaceFact::Down => self.followed.retain(|followed| followed.interface != interface),
            _ => {}
        }
    }

    fn follow(&mut self, now: Instant, interface: InterfaceId, power: ReceivedPower) {
        let known = self.followed.iter().position(|followed| followed.interface == interface);
        if known.is_none() && self.followed.len() >= MAX_FOLLOWED {
            return;
        }
        let at = known.unwrap_or_else(|| {
            // The first reading is judged without prejudice.
            let good = self.signal.is_high(true, &power);
            self.followed.push(Followed { interface, trend: Trend::default(), good });
            self.followed.len() - 1
        });
        let followed = &mut self.followed[at];
        followed.trend.on_reading(now, power);
        // While it is strong a trend means nothing: who walks past a pillar is not about to lose the network.
        let falls = followed.trend.time_until(now, self.signal.low_below);
        let lasts = power >= self.signal.high_from || falls.is_none_or(|left| left > self.horizon);
        // Once it has been found fading, only strength makes it good again, not a moment's standstill.
        followed.good = self.signal.is_high(followed.good && lasts, &power) && lasts;
    }

    /// Why `interface` should be left, if it should.
    fn warning(&self, interface: &Interface) -> Option<Reason> {
        if interface.properties.going_down {
            return Some(Reason::GoingDown);
        }
        let followed = self.followed.iter().find(|followed| followed.interface == interface.id)?;
        (!followed.good).then_some(Reason::SignalFading)
    }

    /// What is wrong with the best path from `ip`. One that is in use and has nothing to complain about is as good as any.
    fn blemish(&self, view: &View<'_>, ip: IpAddr) -> Blemish {
        let in_use =
            view.primary_path().filter(|path| path.route.local.ip() == ip && view.complaint().is_none());
        in_use.or_else(|| view.usable_path(ip)).map(|path| view.blemish(path)).unwrap_or_default()
    }

    /// The lower the better.
    fn rank(&self, view: &View<'_>, ip: IpAddr) -> Rank {
        let Some(interface) = view.interface_of(ip) else { return Rank::default() };
        Rank {
            warned: self.warning(interface).is_some(),
            not_selected: !interface.selected,
            blemish: self.blemish(view, ip),
            metered: interface.properties.cost == Some(Cost::Metered),
            order: interface.properties.rank.unwrap_or(u8::MAX),
            kind: match interface.properties.kind.unwrap_or_default() {
                InterfaceKind::Wired => 0,
                InterfaceKind::WirelessLan => 1,
                InterfaceKind::Cellular => 3,
                InterfaceKind::Other | InterfaceKind::Tunnel | InterfaceKind::Loopback => 2,
            },
        }
    }
}

/// What makes one interface better than another, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Rank {
    warned: bool,
    not_selected: bool,
    blemish: Blemish,
    metered: bool,
    order: u8,
    kind: u8,
}

impl Judge for Seamless {
    fn judge(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Wish {
        self.note(now, fact);
        Wish { primary: self.choose(view), addresses: every_address(view) }
    }
}

impl Seamless {
    fn choose(&self, view: &View<'_>) -> Option<Want> {
        let current = view.primary()?;
        let working = view.addresses.iter().map(|local| local.address.ip());
        let working = working.filter(|&ip| view.usable_path(ip).is_some());
        let rtt = |ip| view.usable_path(ip).and_then(|path| path.srtt).unwrap_or(Duration::MAX);
        // The peer's side of the way is the peer's choice. Who moves to another family makes the peer leave the network that it prefers; if it
        // does the same then neither ever comes to rest.
        let remote = view.primary_path().map(|path| path.route.remote);
        let elsewhere = |ip| view.usable_path(ip).map(|path| path.route.remote) != remote;
        let key = |&ip: &IpAddr| (self.rank(view, ip), ip != current, elsewhere(ip), rtt(ip), ip);
        let best = working.min_by_key(key)?;
        let want = |need, reason| Some(Want { local: best, need, reason });
        if let Some(reason) = view.complaint() {
            return want(Need::Necessity, reason);
        }
        if best == current {
            return None;
        }
        if view.usable_path(current).is_none() {
            let gone = view.address(current).is_none_or(|local| !local.up);
            return want(Need::Necessity, if gone { Reason::AddressLost } else { Reason::PathFailed });
        }
        let (here, there) = (self.rank(view, current), self.rank(view, best));
        if here.warned && !there.warned {
            let reason = view.interface_of(current).and_then(|interface| self.warning(interface));
            return want(Need::Necessity, reason.unwrap_or(Reason::GoingDown));
        }
        let selected = !there.not_selected && here.not_selected;
        want(Need::Advantage, if selected { Reason::Selected } else { Reason::Preferred })
    }
}

#[cfg(test)]
#[path = "seamless_tests.rs"]
mod tests;
