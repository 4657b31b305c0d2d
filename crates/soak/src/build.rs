//! Makes the world of a scenario.

use std::sync::Arc;

use whimbrel_machine::Seed;
use whimbrel_netsim::{Action, Change, HostId, InFlight, LinkId, Side, World};
use whimbrel_node::Node;
use whimbrel_testbed::{Between, Uplink};

use crate::ledger::Ledger;
use crate::networks::beyond_nat;
use crate::places::Places;
use crate::rough::Sleep;
use crate::scenario::Scenario;
use crate::user::User;

/// A world and the names of its parts.
pub(crate) struct Built {
    pub(crate) world: World<Node, User>,
    pub(crate) hosts: [HostId; 2],
    /// Per host.
    pub(crate) uplinks: [Vec<Uplink>; 2],
    pub(crate) links: Vec<LinkId>,
}

const NAMES: [&str; 2] = ["client", "server"];

impl Scenario {
    /// A host at the beginning of its life number `life`.
    pub(crate) fn host(
        &self,
        seed: &Seed,
        places: &Places,
        host: usize,
        life: u64,
        ledger: Ledger,
    ) -> (Node, User) {
        let plan = self.hosts[host].clone();
        let seed = seed.child(NAMES[host], life);
        let node = Node::new(Arc::clone(&plan.config), seed, places.addresses(self, host));
        let policy = self.motion.as_ref().map(|motion| motion.policies[host]);
        let node = match policy {
            Some(policy) if policy.make().is_some() => {
                node.with_policy(move || policy.make().expect("as before"))
            }
            _ => node,
        };
        let inbound = Arc::clone(&self.hosts[1 - host].traffic);
        (node, User::new(plan, inbound, places.visible_addresses(self, 1 - host), ledger))
    }

    pub(crate) fn build(&self, seed: u64, places: &Places) -> Built {
        let mut world = World::new(Seed::from_u64(seed));
        let hosts = [0, 1].map(|host| {
            let (node, user) = self.host(&Seed::from_u64(seed), places, host, 0, Ledger::default());
            world.add_host(NAMES[host], node, user)
        });
        let addresses = [0, 1].map(|host| {
            (0..self.networks.interfaces[host].len()).map(|n| places.of_interface(self, host, n)).collect()
        });
        let between = if self.networks.mesh { Between::Router } else { Between::Networks };
        let links: Vec<_> = self.networks.links.iter().map(|plan| plan.faulty).collect();
        let uplinks = between.join(&mut world, hosts, addresses, &links);
        if let Some(idle) = self.networks.nat_idle {
            for (n, uplink) in uplinks[0].iter().enumerate() {
                world.add_nat(uplink.interface, beyond_nat(n), idle);
            }
        }
        let ends = &uplinks[..if self.networks.mesh { 2 } else { 1 }];
        let links: Vec<LinkId> = ends.iter().flatten().map(|uplink| uplink.link).collect();
        for (&link, plan) in links.iter().zip(&self.networks.links) {
            for &(at, side, change) in &plan.changes {
                world.schedule(at, Action::Link(link, side, change));
            }
            for (side, clean) in [(Side::AtoB, plan.clean[0]), (Side::BtoA, plan.clean[1])] {
                world.schedule(self.networks.heal_at, Action::Link(link, side, Change::Config(clean)));
                world.schedule(self.networks.heal_at, Action::Link(link, side, Change::Up));
            }
            if let Some(dead) = plan.dead {
                let down = Change::Down(InFlight::Lost);
                world.schedule(self.networks.heal_at, Action::Link(link, dead, down));
            }
        }
        for &Sleep { host, at, until } in &self.sleeps {
            world.schedule(at, Action::Suspend(hosts[host]));
            world.schedule(until, Action::Resume(hosts[host]));
        }
        world.set_intruder(self.intruder(seed));
        Built { world, hosts, uplinks, links }
    }
}
