//! Where hosts are while a scenario is played.

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::{InterfaceFact, InterfaceId, LinkFact};
use whimbrel_netsim::{Action, Change, InFlight, LinkId, Side};

use crate::build::Built;
use crate::motion::{Move, interface_kind, renumbered};
use crate::networks::beyond_nat;
use crate::scenario::Scenario;

/// Which interfaces each host has, and with which generation of addresses.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    present: [Vec<Option<u8>>; 2],
}

impl Places {
    /// At the beginning.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let everywhere = |host: usize| scenario.networks.interfaces[host].iter().map(|_| Some(0)).collect();
        let there = |there: &bool| there.then_some(0);
        let present = [0, 1].map(|host| match &scenario.motion {
            Some(motion) => motion.start[host].iter().map(there).collect(),
            None => everywhere(host),
        });
        Self { present }
    }

    /// The addresses of one interface; none if the host does not have it.
    pub(crate) fn of_interface(&self, scenario: &Scenario, host: usize, n: usize) -> Vec<IpAddr> {
        let Some(generation) = self.present[host][n] else { return Vec::new() };
        let first = scenario.networks.interfaces[host][n].iter();
        // Only who moves is ever renumbered.
        first.map(|&ip| if generation == 0 { ip } else { renumbered(ip, generation) }).collect()
    }

    /// The addresses of a host.
    pub(crate) fn addresses(&self, scenario: &Scenario, host: usize) -> Vec<SocketAddr> {
        let interfaces = 0..self.present[host].len();
        let ips = interfaces.flat_map(|n| self.of_interface(scenario, host, n));
        ips.map(|ip| SocketAddr::new(ip, scenario.udp_port)).collect()
    }

    /// The addresses by which the other host can know this one.
    pub(crate) fn visible_addresses(&self, scenario: &Scenario, host: usize) -> Vec<SocketAddr> {
        if host != 0 || scenario.networks.nat_idle.is_none() {
            return self.addresses(scenario, host);
        }
        let there = self.present[host].iter().enumerate().filter(|(_, there)| there.is_some());
        there.map(|(n, _)| SocketAddr::new(beyond_nat(n), scenario.udp_port)).collect()
    }

    /// Tells a host that has just started which address is whose, if it moves at all.
    pub(crate) fn introduce(&self, scenario: &Scenario, built: &mut Built, host: usize) {
        if scenario.motion.is_none() {
            return;
        }
        for n in 0..self.present[host].len() {
            for ip in self.of_interface(scenario, host, n) {
                name(built, host, n, ip);
            }
            if self.present[host][n].is_some() {
                about(built, host, n, InterfaceFact::Up(interface_kind(n)));
            }
        }
    }

    /// Something happens to an interface of a host.
    pub(crate) fn carry_out(&mut self, scenario: &Scenario, built: &mut Built, host: usize, happens: Move) {
        match happens {
            Move::Appear(n, generation) => {
                if self.present[host][n].is_some_and(|known| known != generation) {
                    self.vanish(scenario, built, host, n);
                }
                switch(built, host, n, Change::Up);
                if self.present[host][n].is_none() {
                    self.appear(scenario, built, host, n, generation);
                }
            }
            Move::Vanish(n) => self.vanish(scenario, built, host, n),
            Move::Cut(n) => switch(built, host, n, Change::Down(InFlight::Lost)),
            Move::Warn(n) => about(built, host, n, InterfaceFact::GoingDown),
            Move::Rebind(n) => built.world.act(Action::ForgetMappings(built.interfaces[host][n])),
            Move::Signal(n, power) => about(built, host, n, InterfaceFact::Signal(power)),
        }
    }

    fn appear(&mut self, scenario: &Scenario, built: &mut Built, host: usize, n: usize, generation: u8) {
        self.present[host][n] = Some(generation);
        for ip in self.of_interface(scenario, host, n) {
            built.world.act(Action::AddAddress(built.interfaces[host][n], ip));
            name(built, host, n, ip);
        }
        about(built, host, n, InterfaceFact::Up(interface_kind(n)));
        for ip in self.of_interface(scenario, host, n) {
            tell(built, host, LinkFact::AddressUp(SocketAddr::new(ip, scenario.udp_port)));
        }
    }

    fn vanish(&mut self, scenario: &Scenario, built: &mut Built, host: usize, n: usize) {
        for ip in self.of_interface(scenario, host, n) {
            built.world.act(Action::RemoveAddress(built.interfaces[host][n], ip));
            tell(built, host, LinkFact::AddressDown(SocketAddr::new(ip, scenario.udp_port)));
        }
        self.present[host][n] = None;
    }
}

/// The link behind an interface of a host that moves: its world has a router in the middle.
fn link(built: &Built, host: usize, n: usize) -> LinkId {
    built.links[n + if host == 0 { 0 } else { built.interfaces[0].len() }]
}

fn switch(built: &mut Built, host: usize, n: usize, change: Change) {
    let link = link(built, host, n);
    built.world.act(Action::Link(link, Side::Both, change));
}

fn tell(built: &mut Built, host: usize, fact: LinkFact) {
    built.world.act(Action::Fact(built.hosts[host], fact));
}

fn about(built: &mut Built, host: usize, n: usize, fact: InterfaceFact) {
    tell(built, host, LinkFact::Interface { interface: InterfaceId(n as u32), fact });
}

fn name(built: &mut Built, host: usize, n: usize, address: IpAddr) {
    tell(built, host, LinkFact::AddressOn { interface: InterfaceId(n as u32), address });
}
