//! Carries out wishes safely and in measure.

use core::net::IpAddr;

use whimbrel_machine::{Instant, LinkFact};
use whimbrel_proto::{PathState, PeerAddressChange};

use self::peers_choice::PeersChoice;
use crate::bucket::Bucket;
use crate::past::Pasts;
use crate::refusals::{Refusals, Request};
use crate::{Action, Decision, Fact, LocalAddress, Need, Pace, Reason, Standing, View, Want, Wish};

mod peers_choice;

/// What the governor remembers between facts.
#[derive(Debug)]
pub(crate) struct Governor {
    pace: Pace,
    moves: Bucket,
    requests: Bucket,
    moved_at: Option<Instant>,
    /// The address wanted for its advantage, and since when.
    candidate: Option<(IpAddr, Instant)>,
    /// The address that the peer was last asked to send to; `None` once it has refused.
    asked: Option<IpAddr>,
    /// The peer was asked for this address in the request that adds it: our own primary path follows when it works.
    ahead: Option<IpAddr>,
    /// Something was asked of the peer: what it sends to must follow our own primary path from now on.
    asks: bool,
    refusals: Refusals,
    past: Pasts,
    /// Where we chose to be.
    chosen: Option<IpAddr>,
    /// What the peer has taken us away from though it worked: it wants something else, and who insists at once never comes to rest.
    contended: Pasts,
    peers_choice: PeersChoice,
    wake: Option<Instant>,
}

impl Governor {
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
            moves: Bucket::new(pace.moves, pace.move_every),
            requests: Bucket::new(pace.requests, pace.request_every),
            moved_at: None,
            candidate: None,
            asked: None,
            ahead: None,
            asks: false,
            refusals: Refusals::new(pace.request_every),
            past: Pasts::default(),
            chosen: None,
            contended: Pasts::default(),
            peers_choice: PeersChoice::default(),
            wake: None,
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.wake
    }

    pub(crate) fn carry_out(
        &mut self,
        now: Instant,
        fact: &Fact,
        wish: &Wish,
        view: &View<'_>,
    ) -> Vec<Decision> {
        self.wake = None;
        self.note(now, fact, view);
        let mut decisions = Vec::new();
        if self.start_over(now, wish, view, &mut decisions) {
            return decisions;
        }
        // What is asked for most urgently comes first: there may be no room for more. What the peer has been asked before comes first in the
        // chunk, too, but only as often as additions and deletions allow: a peer that has a will of its own would use up all requests.
        let moving = self.follow(now, wish.primary, view, &mut decisions);
        if decisions.is_empty() {
            self.go_back(now, wish.primary, view, &mut decisions);
        }
        let moved = decisions.len();
        self.add(now, wish, view, &mut decisions);
        self.delete(now, wish, view, moving, &mut decisions);
        let changed = decisions.split_off(moved);
        self.keep_asking(now, wish, moving, view, &mut decisions);
        decisions.extend(changed);
        decisions
    }

    /// Remembers what a fact says about the past of addresses.
    fn note(&mut self, now: Instant, fact: &Fact, view: &View<'_>) {
        match *fact {
            Fact::Begun => {
                // Or begun anew: the peer has forgotten everything, or can do other things than before.
                self.asked = None;
                self.candidate = None;
                self.refusals.forget();
                self.peers_choice.forget();
            }
            Fact::Added { address, accepted } => {
                self.refusals.note(now, Request::Add, address.ip(), accepted);
            }
            Fact::Deleted { address, accepted } => {
                self.refusals.note(now, Request::Delete, address, accepted);
            }
            Fact::PrimaryAsked { address, accepted } => {
                self.refusals.note(now, Request::Primary, address, accepted);
                self.asked = self.asked.filter(|&asked| accepted || asked != address);
            }
            // When it comes back the peer must be asked again.
            Fact::Link(LinkFact::AddressDown(down)) => {
                self.asked = self.asked.filter(|&asked| asked != down.ip());
            }
            Fact::PeerAddress { change: PeerAddressChange::MadePrimary, .. } => {
                self.peers_choice.forget();
                let taken = self.chosen.filter(|&chosen| view.primary() != Some(chosen));
                if let Some(chosen) = taken.filter(|&chosen| view.usable_path(chosen).is_some()) {
                    self.contended.yield_to_peer(now, chosen, &self.pace);
                    self.chosen = None;
                }
            }
            // What was refused of it before is of another time.
            Fact::Link(LinkFact::AddressUp(up)) => self.refusals.forget_of(up.ip()),
            _ => {}
        }
        self.past.note(now, view);
    }

    /// Break before make: none of the addresses that the peer knows is left, but there is another. One ASCONF with
    /// add, delete and set primary in this order (b08 section 3.3.2, RFC 5061 §5.1).
    fn start_over(&mut self, now: Instant, wish: &Wish, view: &View<'_>, out: &mut Vec<Decision>) -> bool {
        // One of a family that the peer has no address of is no way to it, up or not; nor is one where no path has ever worked, such as a bridge
        // to containers.
        let works_nowhere = |ip| {
            let mut paths = view.paths.iter().filter(|path| path.route.local.ip() == ip).peekable();
            paths.peek().is_some() && paths.all(|path| path.state == PathState::Unconfirmed)
        };
        let known = |local: &&LocalAddress| {
            let ip = local.address.ip();
            local.standing != Standing::Absent && view.reaches(ip) && !works_nowhere(ip)
        };
        let nothing_left = view.dynamic && view.addresses.iter().filter(known).all(|local| !local.up);
        let wanted = wish.primary.map(|want| want.local);
        let refused = |ip| self.refusals.retry_at(Request::Add, ip).is_some_and(|at| at > now);
        let chosen = wish.new_addresses(view).min_by_key(|local| {
            let ip = local.address.ip();
            (refused(ip), Some(ip) != wanted)
        });
        let Some(chosen) = chosen.filter(|_| nothing_left) else { return false };
        let ip = chosen.address.ip();
        if !self.may_request(now, Request::Add, ip) {
            return true;
        }
        self.requests.take(now);
        let mut push = |action, reason| out.push(Decision { action, reason });
        push(Action::AddAddress(chosen.address), Reason::AddressAcquired);
        for old in view.addresses.iter().filter(|l| l.standing == Standing::Present && !l.up) {
            push(Action::DeleteAddress(old.address.ip()), Reason::AddressLost);
        }
        push(Action::AskPrimary(ip), Reason::AddressLost);
        self.asked = Some(ip);
        self.asks = true;
        self.moved_at = Some(now);
        true
    }

    fn add(&mut self, now: Instant, wish: &Wish, view: &View<'_>, out: &mut Vec<Decision>) {
        if !view.dynamic {
            return;
        }
        for local in wish.new_addresses(view) {
            let ip = local.address.ip();
            if self.may_request(now, Request::Add, ip) {
                self.requests.take(now);
                let action = Action::AddAddress(local.address);
                out.push(Decision { action, reason: Reason::AddressAcquired });
                self.ask_ahead(now, wish.primary.filter(|want| want.local == ip), out);
            }
        }
    }

    /// The address that has just been added is where everything should go: asking for it in the same request saves a round trip
    /// (b08 section 4.2.1.2). The peer obeys once its path works (RFC 5061 §5.4), so that nothing can get lost by that.
    fn ask_ahead(&mut self, now: Instant, want: Option<Want>, out: &mut Vec<Decision>) {
        let Some(want) = want else { return };
        let at_once = want.need == Need::Necessity || self.due(now, want, now) <= now;
        let refused = self.refusals.retry_at(Request::Add, want.local).is_some();
        if at_once && !refused && self.may(now, false) && self.may_request(now, Request::Primary, want.local)
        {
            self.ask(now, want.local, want.reason, out);
            self.ahead = Some(want.local);
            self.asks = true;
        }
    }

    /// Moves if that is wanted, possible and in measure. Returns the address in use from now on.
    fn follow(
        &mut self,
        now: Instant,
        want: Option<Want>,
        view: &View<'_>,
        out: &mut Vec<Decision>,
    ) -> Option<IpAddr> {
        let current = view.primary();
        let Some(want) = want.filter(|want| want.calls_for_a_move(view)) else {
            self.candidate = None;
            return current;
        };
        let Some(path) = view.usable_path(want.local) else {
            // A fact will tell when it has one.
            self.candidate = None;
            return current;
        };
        if current == Some(want.local) {
            self.change_remote(now, path, want.reason, view, out);
            return current;
        }
        if !self.is_time(now, want, view) || !self.may(now, false) {
            return current;
        }
        self.leave_remote(now, path, want.reason, view);
        self.moves.take(now);
        self.moved_at = Some(now);
        self.candidate = None;
        self.chosen = Some(want.local);
        out.push(Decision { action: Action::UsePath(path.id), reason: want.reason });
        if want.need == Need::Necessity
            && let Some(left) = current
        {
            self.past.shun(now, left, &self.pace);
        }
        let asked = self.ahead.take() == Some(want.local) && self.asked == Some(want.local);
        if view.dynamic && !asked && self.may_request(now, Request::Primary, want.local) {
            self.ask(now, want.local, want.reason, out);
        }
        self.asks |= view.dynamic;
        Some(want.local)
    }

    /// What the peer sends to must be what we use, even if it refused before or the address was gone for a while.
    fn keep_asking(
        &mut self,
        now: Instant,
        wish: &Wish,
        current: Option<IpAddr>,
        view: &View<'_>,
        out: &mut Vec<Decision>,
    ) {
        let Some(current) = current.filter(|_| self.asks && view.dynamic) else { return };
        let wanted = wish.primary.map(|want| want.local);
        self.ahead = self.ahead.filter(|_| self.ahead == self.asked && self.ahead == wanted);
        if self.ahead.is_some() {
            // We follow the peer, for once.
            return;
        }
        let usable = view.usable_path(current).is_some();
        if !self.is_as_asked(current, view) && usable && self.may_request(now, Request::Primary, current) {
            self.ask(now, current, Reason::BothWays, out);
        }
    }

    /// Whether the peer was asked for `current`, or for another address of its interface that works as well. The peer's own wish may have
    /// brought us from one family to the other: two hosts that each ask for what the other's request has made of theirs never end.
    fn is_as_asked(&self, current: IpAddr, view: &View<'_>) -> bool {
        let interface = |ip| view.address(ip).map(|local| local.interface);
        self.asked.is_some_and(|asked| {
            let beside = interface(asked).is_some() && interface(asked) == interface(current);
            asked == current || (beside && view.usable_path(asked).is_some())
        })
    }

    fn ask(&mut self, now: Instant, ip: IpAddr, reason: Reason, out: &mut Vec<Decision>) {
        self.requests.take(now);
        self.asked = Some(ip);
        out.push(Decision { action: Action::AskPrimary(ip), reason });
    }

    fn delete(
        &mut self,
        now: Instant,
        wish: &Wish,
        view: &View<'_>,
        current: Option<IpAddr>,
        out: &mut Vec<Decision>,
    ) {
        if !view.dynamic {
            return;
        }
        // Gone, and just left for another one: only by the deletion the peer learns that what is on its way there is lost, and sends
        // it again at once. Coming back costs a request, but moves are limited.
        let left = view.primary().filter(|left| Some(*left) != current);
        for local in view.addresses.iter().filter(|l| l.standing == Standing::Present) {
            let ip = local.address.ip();
            let deserted = !local.up && Some(ip) == left;
            if !deserted && !self.is_unwanted(now, ip, local.up, wish) {
                continue;
            }
            // The one in use is not taken away, and another one that works must stay.
            let other = view.addresses.iter().map(|l| l.address.ip());
            let gone = |other| out.iter().any(|d| d.action == Action::DeleteAddress(other));
            let safe = Some(ip) != current
                && other.filter(|&o| o != ip).any(|o| view.usable_path(o).is_some() && !gone(o));
            if safe && self.may_request(now, Request::Delete, ip) {
                self.requests.take(now);
                out.push(Decision { action: Action::DeleteAddress(ip), reason: Reason::AddressLost });
            }
        }
    }

    fn is_unwanted(&mut self, now: Instant, ip: IpAddr, up: bool, wish: &Wish) -> bool {
        if !wish.addresses.contains(&ip) {
            return true;
        }
        let down_since = self.past.down_since(ip);
        let Some(since) = down_since.filter(|_| !up) else { return false };
        let due = since + self.pace.forget_after;
        self.wake_at(now, due);
        due <= now
    }

    /// Whether the time has come for this move, as far as dwelling and settling are concerned.
    fn is_time(&mut self, now: Instant, want: Want, view: &View<'_>) -> bool {
        if want.need == Need::Necessity {
            self.candidate = None;
            // What works can be borne for some time; what does not is left at once, contended or not.
            let works = view.primary().is_some_and(|current| view.usable_path(current).is_some());
            let until = self.contended.shunned_until(want.local).filter(|&until| works && until > now);
            if let Some(until) = until {
                self.wake_at(now, until);
                return false;
            }
            return true;
        }
        let since = match self.candidate {
            Some((ip, since)) if ip == want.local => since,
            _ => now,
        };
        self.candidate = Some((want.local, since));
        let due = self.due(now, want, since);
        self.wake_at(now, due);
        due <= now
    }

    /// When an advantage that has been there `since` then may be taken.
    fn due(&self, now: Instant, want: Want, since: Instant) -> Instant {
        let shunned = self.past.shunned_until(want.local);
        let dwelt = self.moved_at.map(|at| at + self.pace.dwell);
        let contended = self.contended.shunned_until(want.local);
        [Some(since + self.pace.settle), shunned, contended, dwelt].into_iter().flatten().max().unwrap_or(now)
    }

    /// Whether the limits let this request out now, and the peer has not refused it a moment ago.
    fn may_request(&mut self, now: Instant, request: Request, ip: IpAddr) -> bool {
        if let Some(at) = self.refusals.retry_at(request, ip).filter(|&at| at > now) {
            self.wake_at(now, at);
            return false;
        }
        self.may(now, true)
    }

    /// Whether the limits let another request (or else move) out now.
    fn may(&mut self, now: Instant, request: bool) -> bool {
        let at = if request { self.requests.next() } else { self.moves.next() };
        self.wake_at(now, at);
        at <= now
    }

    fn wake_at(&mut self, now: Instant, at: Instant) {
        if at > now {
            self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
        }
    }
}

#[cfg(test)]
#[path = "governor_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "governor_random_tests.rs"]
mod random_tests;
