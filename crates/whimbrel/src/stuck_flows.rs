//! Flows that a box on the way no longer lets pass, while any other between the same hosts would: a translator that keeps an entry which leads nowhere
//! because each packet renews it, a box that has enough of one flow. All that tells is silence, and all that helps is another UDP port.

use std::collections::BTreeMap;

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_node::Node;
use whimbrel_proto::{AssociationId, Command, Event, PathState};

use crate::locals::Locals;

/// After so long without a path that works packets leave from another port. Timeouts have had their tries by then (a path that is silent is left after a fraction of a
/// second), and an outage that is shorter keeps its port, as after a change the peer has to find the new one out first.
const PATIENCE: Duration = Duration::from_secs(4);

/// The longest time until the next port: each may be an entry in somebody's table.
const RARELY: Duration = Duration::from_secs(60);

/// When the silence of an association becomes reason for another port, and how long the one after that has to wait.
#[derive(Clone, Copy, Debug)]
struct Silence {
    until: Instant,
    rest: Duration,
}

/// The associations of a driver of which no path works.
#[derive(Debug, Default)]
pub(crate) struct StuckFlows(BTreeMap<AssociationId, Silence>);

fn is_silent(node: &Node, association: AssociationId) -> bool {
    let paths = node.paths(association);
    !paths.is_empty() && paths.iter().all(|path| path.state != PathState::Active)
}

impl StuckFlows {
    /// Takes in what the machine has told.
    pub(crate) fn note(&mut self, now: Instant, node: &Node, events: &[Event]) {
        for event in events {
            let Event::Path { association, .. } = event else { continue };
            if is_silent(node, *association) {
                self.0.entry(*association).or_insert(Silence { until: now + PATIENCE, rest: PATIENCE });
            } else {
                self.0.remove(association);
            }
        }
    }

    /// When to look next.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.0.values().map(|silence| silence.until).min()
    }

    /// Gives the addresses other ports from which nobody has been heard for long enough, and has the peers asked from there at once: `commands`. An address by which another association
    /// works keeps its port.
    pub(crate) fn renew(
        &mut self,
        now: Instant,
        node: &Node,
        locals: &mut Locals,
        commands: &mut Vec<Command>,
    ) {
        if self.next().is_none_or(|next| next > now) {
            return;
        }
        self.0.retain(|association, _| is_silent(node, *association));
        let due: Vec<_> =
            self.0.iter().filter(|(_, silence)| silence.until <= now).map(|(id, _)| *id).collect();
        if due.is_empty() {
            return;
        }
        let working: Vec<SocketAddr> = node
            .associations()
            .flat_map(|(id, _)| node.paths(id))
            .filter(|path| path.state == PathState::Active)
            .map(|path| path.route.local)
            .collect();
        let mut renewed = Vec::new();
        for association in due {
            for path in node.paths(association) {
                let local = path.route.local;
                if !working.contains(&local) && !renewed.contains(&local) && locals.renew_port(local) {
                    renewed.push(local);
                }
                if renewed.contains(&local) {
                    commands.push(Command::RequestHeartbeat { association, path: path.id });
                }
            }
            if let Some(silence) = self.0.get_mut(&association) {
                silence.rest = (2 * silence.rest).min(RARELY);
                silence.until = now + silence.rest;
            }
        }
    }
}
