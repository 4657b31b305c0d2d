//! When everything has come to rest: are the paths what the addresses make possible?

use core::net::IpAddr;
use core::time::Duration;
use std::collections::BTreeSet;

use whimbrel_machine::Instant;
use whimbrel_proto::{PathPairing, PathState, PathView};

use crate::build::Built;
use crate::motion::renumbered;
use crate::networks::beyond_nat;
use crate::places::Places;
use crate::scenario::Scenario;

/// An association younger than this may still be busy with its addresses.
const AGE: Duration = Duration::from_secs(60);

/// So many moves in this time come from networks that are about as good as each other.
const RESTLESS: usize = 2;

type Pairs = BTreeSet<(IpAddr, IpAddr)>;

/// What is wrong with the paths of the associations that are up, in words. In a gentle world each address pair is a path
/// that works, and there is no other.
pub(crate) fn look(scenario: &Scenario, built: &Built, places: &Places) -> Vec<String> {
    let mut wrong = Vec::new();
    let now = built.world.now();
    for (host, &id) in built.hosts.iter().enumerate() {
        let (user, node) = (built.world.app(id), built.world.machine(id));
        for association in user.associations_since(began_before(now)) {
            let moves = user.moves_since(association, began_before(now));
            if moves > RESTLESS && !scenario.hosts.iter().any(|plan| plan.user.meddle_every.is_some()) {
                wrong.push(format!(
                    "{now} host {host}: {moves} moves in the last {AGE:?}, and nothing has changed"
                ));
            }
            let paths = node.paths(association);
            let expected = pairs(scenario, places, host);
            let found = match scenario.hosts[host].config.pairing {
                PathPairing::Mesh => {
                    paths.iter().map(|p| (p.route.local.ip(), p.route.remote.ip())).collect()
                }
                PathPairing::PerDestination => destinations(&paths),
            };
            // Behind a NAT one of several addresses cannot be deleted: nothing names it (RFC 5061 §4.2.2, RFC 6951 §5.7).
            let found: Pairs = match scenario.networks.nat_idle {
                Some(_) => found.intersection(&expected).copied().collect(),
                None => found,
            };
            if found != expected {
                wrong.push(format!("{now} host {host}: paths {found:?} instead of {expected:?}"));
            }
            let wanted = |path: &&PathView| {
                let (local, remote) = (path.route.local.ip(), path.route.remote.ip());
                expected.contains(&(local, remote)) || expected.contains(&(remote, remote))
            };
            let idle = |path: &&PathView| path.state != PathState::Active;
            for path in paths.iter().filter(wanted).filter(idle) {
                let (route, state) = (path.route, path.state);
                wrong.push(format!("{now} host {host}: the path {route} is {state:?}"));
            }
        }
    }
    wrong
}

fn began_before(now: Instant) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_sub(AGE.as_nanos() as u64))
}

/// The pairs that there should be; of one path per destination only the destinations count.
fn pairs(scenario: &Scenario, places: &Places, host: usize) -> Pairs {
    let locals = places.addresses(scenario, host);
    let remotes = places.visible_addresses(scenario, 1 - host);
    let mut pairs = Pairs::new();
    for remote in remotes {
        for local in locals.iter().filter(|local| local.is_ipv4() == remote.is_ipv4()) {
            pairs.insert(match scenario.hosts[host].config.pairing {
                PathPairing::Mesh => (local.ip(), remote.ip()),
                PathPairing::PerDestination => (remote.ip(), remote.ip()),
            });
        }
    }
    pairs
}

fn destinations(paths: &[PathView]) -> Pairs {
    paths.iter().map(|path| (path.route.remote.ip(), path.route.remote.ip())).collect()
}

/// Paths that lead somewhere else than to the peer, although an answer is said to have come from there.
pub(crate) fn strays(scenario: &Scenario, host: usize, paths: &[PathView]) -> Vec<String> {
    let generations = if scenario.motion.is_some() { 4 } else { 1 };
    let first = || scenario.networks.interfaces[1 - host].iter().flatten();
    let ever = |generation: u8, ip: IpAddr| if generation == 0 { ip } else { renumbered(ip, generation) };
    let boxes = || (0..scenario.networks.interfaces[0].len()).map(beyond_nat);
    let boxed =
        |ip: IpAddr| host == 1 && scenario.networks.nat_idle.is_some() && boxes().any(|known| known == ip);
    let known = |ip: IpAddr| {
        boxed(ip) || (0..generations).any(|generation| first().any(|&f| ever(generation, f) == ip))
    };
    let stray = |path: &&PathView| path.state != PathState::Unconfirmed && !known(path.route.remote.ip());
    paths.iter().filter(stray).map(|path| format!("a path to a stranger: {path:?}")).collect()
}
