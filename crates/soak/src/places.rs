//! Where hosts are while a scenario is played.

use core::net::SocketAddr;

use whimbrel_machine::{InterfaceFact, LinkFact};
use whimbrel_netsim::{Action, Change, InFlight, Side};
use whimbrel_testbed::kind;

use crate::build::Built;
use crate::motion::{Move, renumbered};
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
    pub(crate) fn of_interface(&self, scenario: &Scenario, host: usize, n: usize) -> Vec<SocketAddr> {
        let Some(generation) = self.present[host][n] else { return Vec::new() };
        let first = scenario.networks.interfaces[host][n].iter();
        // Only who moves is ever renumbered.
        let now = first.map(|&ip| if generation == 0 { ip } else { renumbered(ip, generation) });
        now.map(|ip| SocketAddr::new(ip, scenario.udp_port)).collect()
    }

    /// The addresses of a host.
    pub(crate) fn addresses(&self, scenario: &Scenario, host: usize) -> Vec<SocketAddr> {
        (0..self.present[host].len()).flat_map(|n| self.of_interface(scenario, host, n)).collect()
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
            for address in self.of_interface(scenario, host, n) {
                name(built, host, n, address);
            }
            if self.present[host][n].is_some() {
                about(built, host, n, InterfaceFact::Up(kind(n)));
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
            Move::Rebind(n) => built.world.act(Action::ForgetMappings(built.uplinks[host][n].interface)),
            Move::Signal(n, power) => about(built, host, n, InterfaceFact::Signal(power)),
        }
    }

    fn appear(&mut self, scenario: &Scenario, built: &mut Built, host: usize, n: usize, generation: u8) {
        self.present[host][n] = Some(generation);
        let addresses = self.of_interface(scenario, host, n);
        for &address in &addresses {
            built.world.act(Action::AddAddress(built.uplinks[host][n].interface, address.ip()));
            name(built, host, n, address);
        }
        about(built, host, n, InterfaceFact::Up(kind(n)));
        addresses.into_iter().for_each(|address| tell(built, host, LinkFact::AddressUp(address)));
    }

    fn vanish(&mut self, scenario: &Scenario, built: &mut Built, host: usize, n: usize) {
        for address in self.of_interface(scenario, host, n) {
            built.world.act(Action::RemoveAddress(built.uplinks[host][n].interface, address.ip()));
            tell(built, host, LinkFact::AddressDown(address));
        }
        self.present[host][n] = None;
    }
}

fn switch(built: &mut Built, host: usize, n: usize, change: Change) {
    built.world.act(Action::Link(built.uplinks[host][n].link, Side::Both, change));
}

fn tell(built: &mut Built, host: usize, fact: LinkFact) {
    built.world.act(Action::Fact(built.hosts[host], fact));
}

fn about(built: &mut Built, host: usize, n: usize, fact: InterfaceFact) {
    tell(built, host, LinkFact::Interface { interface: built.uplinks[host][n].number, fact });
}

fn name(built: &mut Built, host: usize, n: usize, address: SocketAddr) {
    tell(
        built,
        host,
        LinkFact::AddressOn { interface: built.uplinks[host][n].number, address: address.ip() },
    );
}
