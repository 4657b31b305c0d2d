//! `[[event]]`: what happens to a network, and what its hosts are told of it.

use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, LinkFact, ReceivedPower};
use whimbrel_netsim::{Action, Change, InFlight, Loss, Side};

use super::file::{Event, HostKind, What};
use super::residents::{address, socket};
use super::world::{Place, START, after};

impl Place<'_> {
    /// Schedules an event as often as it happens before the end.
    pub(super) fn schedule(&mut self, event: &Event) {
        let Some(network) = self.networks.iter().position(|network| network.name == event.network) else {
            return;
        };
        let mut at = Instant::ZERO + START + after(event.at);
        while at <= self.end {
            self.once(network, event.what, event.value, at);
            if let (Some(lasts), What::Break | What::Lose) = (event.lasts, event.what) {
                self.mend(network, at + after(lasts), event.what == What::Lose);
            }
            match event.every {
                Some(every) if every > 0.0 => at += after(every),
                _ => return,
            }
        }
    }

    fn once(&mut self, network: usize, what: What, value: f64, at: Instant) {
        let change = match what {
            What::Break => Change::Down(InFlight::Lost),
            What::Lose => {
                self.link(network, at, Change::Down(InFlight::Lost));
                self.tell(network, at, InterfaceFact::Down);
                return self.tell_addresses(network, at, LinkFact::AddressDown);
            }
            What::Return => return self.mend(network, at, true),
            What::Warn => return self.tell(network, at, InterfaceFact::GoingDown),
            What::Signal => {
                return self.tell(network, at, InterfaceFact::Signal(ReceivedPower::from_dbm(value)));
            }
            What::Rate => Change::Rate(Some((value * 1e6) as u64)),
            What::Delay => Change::Delay(after(value / 1e3)),
            What::Loss => Change::Loss(Loss::Bernoulli(value)),
        };
        self.link(network, at, change);
    }

    fn mend(&mut self, network: usize, at: Instant, told: bool) {
        self.link(network, at, Change::Up);
        if told {
            self.tell(network, at, InterfaceFact::Up(self.networks[network].plan.interface_kind()));
            self.tell_addresses(network, at, LinkFact::AddressUp);
        }
    }

    fn link(&mut self, network: usize, at: Instant, change: Change) {
        self.world.schedule(at, Action::Link(self.networks[network].link, Side::Both, change));
    }

    /// Tells every mobile node in a network something about its interface there.
    fn tell(&mut self, network: usize, at: Instant, fact: InterfaceFact) {
        let interface = InterfaceId(network as u32);
        self.tell_each(network, at, |_| LinkFact::Interface { interface, fact });
    }

    /// Tells every mobile node in a network something about its address there.
    fn tell_addresses(&mut self, network: usize, at: Instant, of: fn(core::net::SocketAddr) -> LinkFact) {
        self.tell_each(network, at, |number| of(socket(address(number, network))));
    }

    fn tell_each(&mut self, network: usize, at: Instant, fact: impl Fn(u8) -> LinkFact) {
        let there = self.residents.iter().filter(|resident| resident.is_in(network));
        let mobile = there.filter(|resident| resident.kind == HostKind::Mobile);
        let told: Vec<_> = mobile.map(|resident| (resident.mn, fact(resident.number))).collect();
        for (mn, fact) in told {
            self.fact(mn, at, fact);
        }
    }
}
