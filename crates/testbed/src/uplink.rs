use core::net::SocketAddr;

use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, Machine};
use whimbrel_netsim::{Action, App, CellEvent, Change, HostId, InFlight, LinkId, Side, World};

/// How a host gets into a network: what happens to the link and what the host is told happens at the same moment, unless the name says that
/// only one of them does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uplink {
    /// The host.
    pub host: HostId,
    /// Its link into the network.
    pub link: LinkId,
    /// The interface, in the world.
    pub interface: whimbrel_netsim::InterfaceId,
    /// What the host calls it.
    pub number: InterfaceId,
    /// What the host takes it for.
    pub kind: InterfaceKind,
    /// The host's address there.
    pub address: SocketAddr,
}

impl Uplink {
    /// The link changes both ways, and nobody is told.
    pub fn change<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant, change: Change) {
        world.schedule(at, Action::Link(self.link, Side::Both, change));
    }

    /// The host learns something of its links.
    pub fn tell<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant, fact: LinkFact) {
        world.schedule(at, Action::Fact(self.host, fact));
    }

    /// The host learns something of the interface.
    pub fn about<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant, fact: InterfaceFact) {
        self.tell(world, at, LinkFact::Interface { interface: self.number, fact });
    }

    /// The host learns which interface its address is on, and of what kind that is.
    pub fn name<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant) {
        let (interface, address) = (self.number, self.address.ip());
        self.tell(world, at, LinkFact::AddressOn { interface, address });
        self.about(world, at, InterfaceFact::Up(self.kind));
    }

    /// The host comes into the network, and is told.
    pub fn enter<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant) {
        self.heal(world, at);
        self.name(world, at);
        self.tell(world, at, LinkFact::AddressUp(self.address));
    }

    /// The host loses the network with all that is on its way, and is told.
    pub fn leave<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant) {
        self.cut(world, at);
        self.tell(world, at, LinkFact::AddressDown(self.address));
    }

    /// Schedules what a cell does at `at`: the link goes up or down, and the host is told the facts.
    pub fn follow<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant, event: CellEvent) {
        match event {
            CellEvent::Signal(power) => self.about(world, at, InterfaceFact::Signal(power)),
            CellEvent::Attached => {
                self.about(world, at, InterfaceFact::Up(self.kind));
                self.about(world, at, InterfaceFact::HandoverComplete);
                self.heal(world, at);
            }
            CellEvent::Addressed => self.tell(world, at, LinkFact::AddressUp(self.address)),
            CellEvent::Lost => {
                self.tell(world, at, LinkFact::AddressDown(self.address));
                self.about(world, at, InterfaceFact::Down);
                self.cut(world, at);
            }
        }
    }

    /// Nothing passes any more, what is on its way included, and nobody is told.
    pub fn cut<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant) {
        self.change(world, at, Change::Down(InFlight::Lost));
    }

    /// Packets pass again, and nobody is told.
    pub fn heal<M: Machine, A: App<M>>(self, world: &mut World<M, A>, at: Instant) {
        self.change(world, at, Change::Up);
    }
}
