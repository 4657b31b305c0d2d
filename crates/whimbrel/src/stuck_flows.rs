//! Flows that a box on the way no longer lets pass, or never did, while any other between the same hosts would: a translator that keeps an entry which leads nowhere
//! because each packet renews it, a box that has enough of one flow. All that tells is silence, and all that helps is another UDP port.

use std::collections::BTreeMap;

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_node::Node;
use whimbrel_proto::{AssociationId, AssociationState, Command, Event, PathState, PathView};

use crate::locals::Locals;

/// After so long without an answer packets leave from another port. Timeouts have had their tries by then (a path that is silent is left after a fraction of a
/// second), and an outage that is shorter keeps its port, as after a change the peer has to find the new one out first.
const PATIENCE: Duration = Duration::from_secs(4);

/// The longest time until the next port: each may be an entry in somebody's table.
const RARELY: Duration = Duration::from_secs(60);

/// Who is heard on a first port is looked at so often at most, and no sooner after a port has been changed: anybody can send there, each look is at all paths, and
/// the peer is to have time to answer what leaves from the new port.
const HEED: Duration = Duration::from_secs(1);

/// When a silence becomes reason for another port, and how long the one after that has to wait.
#[derive(Clone, Copy, Debug)]
struct Silence {
    until: Instant,
    rest: Duration,
    /// Packets leave from another port than the first. That is tried as often as all others together: there may be a box that knows it, and no other.
    elsewhere: bool,
    /// Another path from the address worked when that was last looked at. The silence begins anew once that path is silent as well, or has gone.
    excused: bool,
}

impl Silence {
    fn begins(now: Instant) -> Self {
        Self { until: now + PATIENCE, rest: PATIENCE, elsewhere: false, excused: false }
    }

    /// There may be paths yet from which nothing is heard; until something happens they are looked at seldom, as each time all paths are.
    fn excused(now: Instant) -> Self {
        Self { until: now + RARELY, excused: true, ..Self::begins(now) }
    }

    fn no_longer_excused(&mut self, now: Instant) {
        if self.excused {
            *self = Self::begins(now);
        }
    }

    /// Another port, or the first one again. False where there is no such address now, or no free port.
    fn change_port(&mut self, now: Instant, locals: &mut Locals, local: SocketAddr) -> bool {
        // An address that went and came back is on its first port, whatever was the case before.
        let is_first = self.elsewhere && locals.return_to_first_port(local);
        let changed = is_first || locals.renew_port(local);
        if changed {
            self.elsewhere = !is_first;
        }
        self.wait(now);
        changed
    }

    fn wait(&mut self, now: Instant) {
        self.rest = (2 * self.rest).min(RARELY);
        self.until = now + self.rest;
    }
}

/// The addresses of a driver by which nobody is reached.
#[derive(Debug, Default)]
pub(crate) struct StuckFlows {
    silences: BTreeMap<SocketAddr, Silence>,
    /// Associations are being set up.
    set_up: Option<Silence>,
    /// How many associations there were when that was last looked at.
    counted: usize,
    heed: Heed,
}

/// When it is looked at who has been heard on first ports.
#[derive(Debug, Default)]
struct Heed {
    /// Somebody has been.
    due: Option<Instant>,
    /// Not before that.
    rests: Instant,
}

impl Heed {
    /// `heard`: somebody has been, and that was not looked at yet.
    fn note(&mut self, now: Instant, heard: bool) {
        self.due = heard.then(|| self.rests.max(now));
    }

    /// It is looked at now, if it is time, or a port has changed.
    fn rest(&mut self, now: Instant) {
        (self.due, self.rests) = (None, now + HEED);
    }

    fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }
}

/// All paths, with whose they are.
fn paths(node: &Node) -> Vec<(AssociationId, PathView)> {
    let of =
        |(id, _): (AssociationId, AssociationState)| node.paths(id).into_iter().map(move |path| (id, path));
    node.associations().flat_map(of).collect()
}

fn works(paths: &[(AssociationId, PathView)], local: SocketAddr) -> bool {
    paths.iter().any(|(_, path)| path.route.local == local && path.state == PathState::Active)
}

/// Whether there is a path from there that does not work.
fn is_silent(paths: &[(AssociationId, PathView)], local: SocketAddr) -> bool {
    paths.iter().any(|(_, path)| path.route.local == local && path.state != PathState::Active)
}

impl StuckFlows {
    /// Takes in what the machine has told.
    pub(crate) fn note(&mut self, now: Instant, node: &Node, events: &[Event]) {
        for event in events {
            match event {
                Event::Path { route, state: PathState::Active, .. } => {
                    // Of several associations another one may be stuck.
                    let silence = self.silences.get_mut(&route.local);
                    silence.into_iter().for_each(|silence| *silence = Silence::excused(now));
                }
                Event::Path { route, .. } => {
                    // Whether another path from there works is asked when it is time.
                    let silence = self.silences.entry(route.local).or_insert_with(|| Silence::begins(now));
                    silence.no_longer_excused(now);
                }
                Event::PathGone { .. } | Event::Closed { .. } => {
                    self.silences.values_mut().for_each(|silence| silence.no_longer_excused(now));
                }
                _ => {}
            }
        }
        let count = node.association_count();
        if count > self.counted && self.set_up.is_none() {
            self.set_up = Some(Silence::begins(now));
        }
        self.counted = count;
    }

    /// When to look next.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.silences.values().chain(&self.set_up).map(|silence| silence.until).chain(self.heed.due).min()
    }

    /// Gives the addresses other ports from which nobody has been heard for long enough, and has the peers asked from there at once: `commands`. An address by which some association
    /// works keeps its port.
    pub(crate) fn renew(
        &mut self,
        now: Instant,
        node: &Node,
        locals: &mut Locals,
        commands: &mut Vec<Command>,
    ) {
        let heard = self
            .silences
            .iter()
            .any(|(local, silence)| silence.elsewhere && locals.is_heard_on_first_port(*local));
        self.heed.note(now, heard);
        if self.next().is_none_or(|next| next > now) {
            return;
        }
        let heeds = self.heed.is_due(now);
        let paths = paths(node);
        self.silences.retain(|local, silence| {
            if works(&paths, *local) {
                *silence = Silence::excused(now);
            }
            is_silent(&paths, *local)
        });
        let mut changed = Vec::new();
        for (local, silence) in &mut self.silences {
            let peers = paths.iter().filter(|(_, path)| path.route.local == *local);
            if (heeds && silence.elsewhere)
                && locals.returns_to_first_port(*local, peers.map(|(_, path)| path.route.remote.ip()))
            {
                (silence.elsewhere, silence.until) = (false, now + PATIENCE);
                changed.push(*local);
            } else if silence.until <= now && silence.change_port(now, locals, *local) {
                changed.push(*local);
            }
        }
        if heeds || !changed.is_empty() {
            self.heed.rest(now);
        }
        self.renew_for_set_up(now, node, locals, &paths);
        let asked = paths.iter().filter(|(_, path)| changed.contains(&path.route.local));
        commands.extend(asked.map(|(association, path)| Command::RequestHeartbeat {
            association: *association,
            path: path.id,
        }));
    }

    /// Nobody has answered who is called. INIT and COOKIE ECHO are sent again in any case.
    fn renew_for_set_up(
        &mut self,
        now: Instant,
        node: &Node,
        locals: &mut Locals,
        paths: &[(AssociationId, PathView)],
    ) {
        let Some(silence) = self.set_up.as_mut().filter(|silence| silence.until <= now) else { return };
        let begins = |state| matches!(state, AssociationState::CookieWait | AssociationState::CookieEchoed);
        if !node.associations().any(|(_, state)| begins(state)) {
            self.set_up = None;
            return;
        }
        let unused = |local: &SocketAddr| !works(paths, *local) && !self.silences.contains_key(local);
        let before = *silence;
        for local in locals.addresses().into_iter().filter(unused) {
            *silence = before;
            silence.change_port(now, locals, local);
        }
        if silence.until <= now {
            silence.wait(now);
        }
    }
}

#[cfg(test)]
#[path = "stuck_flows_tests.rs"]
mod tests;
