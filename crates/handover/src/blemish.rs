use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{Delay, PathState, PathView};

use crate::{Reason, Standing, View};

/// What is wrong with a path that works, compared with the others of its association; the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Blemish {
    /// Nothing, as far as anybody knows.
    #[default]
    None,
    /// It has an address in common with a path that is worse than another, and so, perhaps, the network that is to blame, and the path in use
    /// does not have that address, or is worse itself. How it does
    /// itself is known less well: it carries only heartbeats.
    Suspected,
    /// It is far slower than another one.
    Slow,
    /// It loses more than any sender can bear, and another one does not.
    Lossy,
}

/// A path is slow if its round trip takes more than twice as long as on the quickest, and this much more besides.
const MARGIN: Duration = Duration::from_millis(75);

/// What was found on another path this much earlier is still believed.
const FRESH: Duration = Duration::from_millis(500);

impl Blemish {
    /// The reason to leave a path for it, if it is reason enough.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::None | Self::Suspected => None,
            Self::Slow => Some(Reason::Slow),
            Self::Lossy => Some(Reason::Lossy),
        }
    }
}

impl View<'_> {
    /// What is wrong with `path` compared with the others.
    pub fn blemish(&self, path: &PathView) -> Blemish {
        let own = self.own_blemish(path);
        if own != Blemish::None || path.primary {
            return own;
        }
        let in_use = self.paths.iter().find(|other| other.primary && self.is_usable(other));
        let in_use = in_use.filter(|other| self.own_blemish(other) == Blemish::None);
        // An address over which the path in use does well is not to blame: where the peer has but one, all paths have it.
        let shared = |one: IpAddr, two: IpAddr, of: fn(&PathView) -> IpAddr| {
            one == two && in_use.is_none_or(|in_use| of(in_use) != one)
        };
        let shares = |other: &&PathView| {
            let (one, two) = (other.route, path.route);
            shared(one.local.ip(), two.local.ip(), |in_use| in_use.route.local.ip())
                || shared(one.remote.ip(), two.remote.ip(), |in_use| in_use.route.remote.ip())
        };
        let suspected = self
            .paths
            .iter()
            .filter(|other| other.id != path.id)
            .filter(shares)
            .any(|other| self.own_blemish(other) != Blemish::None);
        if suspected { Blemish::Suspected } else { Blemish::None }
    }

    fn own_blemish(&self, path: &PathView) -> Blemish {
        if path.state != PathState::Active {
            return Blemish::None;
        }
        let others = || self.paths.iter().filter(|other| other.id != path.id && self.is_usable(other));
        if path.quality.lossy && others().any(|other| !other.quality.lossy) {
            return Blemish::Lossy;
        }
        // Who fills the window all the time sees the queue that it has made itself, and would make another one elsewhere.
        let delay = path.quality.delay.filter(|_| !path.quality.saturated);
        let Some(delay) = delay else { return Blemish::None };
        // What is in doubt speaks for the path in use.
        let (here, since) = if path.primary { (delay.least, delay.at) } else { (delay.most, Instant::ZERO) };
        // What made this path slow may have come over the other one, too, since that was last asked.
        let known = |other: Delay| other.at + FRESH >= since;
        // What waits here for our own network waits for it on any path that goes there.
        let of_network = |other: &PathView| {
            let same = other.route.local.ip() == path.route.local.ip();
            here.saturating_sub(if same { delay.waiting } else { Duration::ZERO })
        };
        let slow = others().any(|other| {
            let quick = other.quality.delay.filter(|delay| known(*delay));
            quick.is_some_and(|quick| of_network(other) > quick.most.saturating_mul(2).saturating_add(MARGIN))
        });
        if slow { Blemish::Slow } else { Blemish::None }
    }

    /// Whether `path` works, from an address that is part of the association.
    pub(crate) fn is_usable(&self, path: &PathView) -> bool {
        let local = self.address(path.route.local.ip());
        path.state == PathState::Active
            && local.is_none_or(|local| local.up && local.standing == Standing::Present)
    }
}

#[cfg(test)]
#[path = "blemish_tests.rs"]
mod tests;
