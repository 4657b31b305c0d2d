use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, InterfaceKind};
use whimbrel_proto::{Delay, PathState, PathView};

use crate::{Reason, Standing, View};

/// What is wrong with a path that works, compared with the others of its association; the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Blemish {
    /// Nothing, as far as anybody knows.
    #[default]
    None,
    /// It has an address in common with a path that is worse than another, and so, perhaps, the network that is to blame; and the path in use
    /// does not have that address, or is worse itself. How it does itself is known less well: it carries only heartbeats.
    Suspected,
    /// It carries far less than there is to send, and another one has carried that.
    Thin,
    /// It is far slower than another one.
    Slow,
    /// It loses more than any sender can bear, and another one does not.
    Lossy,
}

/// A path is slow if its round trip takes more than twice as long as on the quickest, and this much more besides.
const MARGIN: Duration = Duration::from_millis(75);

/// What waits for a network counts so much less where the other path probably leads through the same one: to try costs more than it brings, but
/// it may be the other end's network that is to blame.
const PATIENT: u32 = 8;

/// What was found on another path this much earlier is still believed.
const FRESH: Duration = Duration::from_millis(500);

/// One end of a path.
type End = fn(&PathView) -> IpAddr;

const LOCAL: End = |path| path.route.local.ip();
const REMOTE: End = |path| path.route.remote.ip();

impl Blemish {
    /// The reason to leave a path for it, if it is reason enough.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::None | Self::Suspected => None,
            Self::Thin => Some(Reason::Thin),
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
        let shared = |other: &PathView, end: End| {
            let same = end(other) == end(path);
            same && in_use.is_none_or(|in_use| end(in_use) != end(path))
        };
        let bad = |other: &PathView| self.own_blemish(other) != Blemish::None;
        // Whether another path besides these two is bad that has this end in common with `other`, and not that one.
        let bad_elsewhere = |other: &PathView, this: End, that: End| {
            let beside = |third: &&PathView| {
                third.id != path.id && this(third) == this(other) && that(third) != that(other)
            };
            self.paths.iter().filter(beside).any(bad)
        };
        let to_blame = |other: &PathView, this: End, that: End| {
            shared(other, this) && (bad_elsewhere(other, this, that) || !bad_elsewhere(other, that, this))
        };
        let beside =
            |other: &&PathView| other.id != path.id && (shared(other, LOCAL) || shared(other, REMOTE));
        let suspected =
            self.paths.iter().filter(beside).any(|other| {
                bad(other) && (to_blame(other, LOCAL, REMOTE) || to_blame(other, REMOTE, LOCAL))
            });
        if suspected { Blemish::Suspected } else { Blemish::None }
    }

    fn own_blemish(&self, path: &PathView) -> Blemish {
        if path.state != PathState::Active {
            return Blemish::None;
        }
        let others = || self.paths.iter().filter(|other| other.id != path.id && self.is_usable(other));
        // What cannot carry what this path does is no alternative, however quick it is while it carries nothing.
        let better = |other: &PathView| !other.quality.lossy && self.could_carry(other, path);
        if path.quality.lossy && others().any(better) {
            return Blemish::Lossy;
        }
        let carried_more = |limit| others().any(|other| other.quality.carried_more_than(limit));
        if path.quality.limit.is_some_and(carried_more) {
            return Blemish::Thin;
        }
        // Who fills the window all the time sees the queue that it has made itself, and would make another one elsewhere.
        let delay = path.quality.delay.filter(|_| !path.quality.saturated);
        let Some(delay) = delay else { return Blemish::None };
        // What is in doubt speaks for the path in use.
        let (here, since) = if path.primary { (delay.least, delay.at) } else { (delay.most, Instant::ZERO) };
        // What made this path slow may have come over the other one, too, since that was last asked.
        let known = |other: Delay| other.at + FRESH >= since;
        let instead_of = |other: &PathView| {
            let waiting =
                if self.share_what_is_scarce(other, path) { delay.waiting / PATIENT } else { delay.waiting };
            here.saturating_sub(delay.waiting) + waiting
        };
        let slow = others().any(|other| {
            let quick = other.quality.delay.filter(|delay| known(*delay));
            let far = |quick: Delay| instead_of(other) > quick.most.saturating_mul(2).saturating_add(MARGIN);
            quick.is_some_and(far) && self.could_carry(other, path)
        });
        if slow { Blemish::Slow } else { Blemish::None }
    }

    /// Whether what `path` does not carry would have to wait for the same network on `other`: that of our own address if that is a radio's, or
    /// else that of the peer's.
    fn share_what_is_scarce(&self, other: &PathView, path: &PathView) -> bool {
        let kind = self.interface_of(LOCAL(path)).and_then(|interface| interface.properties.kind);
        let end = match kind {
            Some(InterfaceKind::WirelessLan | InterfaceKind::Cellular) => LOCAL,
            _ => REMOTE,
        };
        end(other) == end(path)
    }

    /// Whether `other` could carry what `path` carries, as far as is known of it and of those that share an address with it: that network
    /// carries no more on one path than on another. An address that `path` has, too, is not what limits them.
    fn could_carry(&self, other: &PathView, path: &PathView) -> bool {
        let limited = |third: &PathView, end: End| end(third) == end(other) && end(third) != end(path);
        let alike =
            |third: &&PathView| third.id == other.id || limited(third, LOCAL) || limited(third, REMOTE);
        // What was found on one that has failed since is not forgotten before it is heard again.
        let known = |third: &&PathView| third.id == other.id || self.is_usable(third);
        self.paths.iter().filter(alike).filter(known).all(|third| third.quality.carries_what(&path.quality))
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
