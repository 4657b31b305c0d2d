//! What hosts are told of their networks, and what becomes of their links on their way.

use whimbrel_machine::{Cost, Instant, InterfaceFact, InterfaceId, LinkFact};
use whimbrel_netsim::{Action, CellEvent, Change, HostId, InFlight, Mixed, Side};

use super::file::{File, Host};
use super::motion;
use super::residents::{Resident, address};
use super::world::{Place, START};

/// What happens to a host's link with the cell of a network.
pub(super) struct Contact {
    network: usize,
    events: Vec<(Instant, CellEvent)>,
}

impl Contact {
    /// Whether it is a network that the host has not attached to when it begins.
    pub(super) fn is_missing_at_first(&self, network: usize) -> bool {
        self.network == network && self.events.first() != Some(&(Instant::ZERO, CellEvent::Attached))
    }
}

impl Place<'_> {
    /// What a host hears of the cells of its networks on its way.
    pub(super) fn contacts(&self, file: &File, number: u8, host: &Host, networks: &[usize]) -> Vec<Contact> {
        let Some(motion) = file.motion_of(host) else { return Vec::new() };
        let way = motion.way(self.lasts, &mut self.world.seed().stream("motion", number.into()));
        let cells = networks
            .iter()
            .filter_map(|&network| Some((network, self.networks[network].plan.cell.as_ref()?)));
        // Each radio with its cells; a cell that names none has one for itself.
        let mut radios: Vec<(Option<&str>, Vec<_>)> = Vec::new();
        for (network, cell) in cells {
            let radio = cell.radio.as_deref();
            match radios.iter_mut().find(|(known, _)| radio.is_some() && *known == radio) {
                Some((_, heard)) => heard.push((network, cell)),
                None => radios.push((radio, vec![(network, cell)])),
            }
        }
        let of_radio = |(radio, heard): (Option<&str>, Vec<(usize, &motion::CellPlan)>)| {
            let plans: Vec<_> = heard.iter().map(|(_, cell)| *cell).collect();
            let layer_two = file.handover(radio.unwrap_or_default()).layer_two();
            let events = motion::events(&plans, layer_two, &way, self.lasts);
            let contact = |((network, _), events)| Contact { network, events };
            heard.into_iter().zip(events).map(contact).collect::<Vec<_>>()
        };
        radios.into_iter().flat_map(of_radio).collect()
    }

    /// Tells a mobile node what its networks are.
    pub(super) fn introduce(&mut self, resident: &Resident<'_>) {
        for &(network, _) in &resident.links {
            let interface = InterfaceId(network as u32);
            let plan = self.networks[network].plan;
            let cost = if plan.metered { Cost::Metered } else { Cost::Flat };
            // Of a network that has a cell, motion says whether it is up.
            let up = plan.cell.is_none().then(|| InterfaceFact::Up(plan.interface_kind()));
            let rest = [
                InterfaceFact::Rank(plan.rank),
                InterfaceFact::Rate((plan.rate * 1e6) as u64),
                InterfaceFact::Cost(cost),
            ];
            let own = address(resident.number, network);
            self.fact(resident.mn, Instant::ZERO, LinkFact::AddressOn { interface, address: own });
            for fact in up.into_iter().chain(rest) {
                self.fact(resident.mn, Instant::ZERO, LinkFact::Interface { interface, fact });
            }
        }
        // SCTP begins with its addresses. Mobile IP is told of them, the best network last, where it then registers.
        if matches!(self.world.machine(resident.mn), Mixed::Second(_)) {
            for &(network, _) in resident.links.iter().rev() {
                if self.networks[network].plan.cell.is_none() {
                    self.fact(resident.mn, Instant::ZERO, LinkFact::AddressUp(resident.socket(network)));
                }
            }
        }
    }

    /// Turns contacts with cells into changes of a mobile node's links and facts.
    pub(super) fn follow(&mut self, resident: &Resident<'_>, contacts: &[Contact]) {
        let down = Change::Down(InFlight::Lost);
        for Contact { network, events } in contacts {
            let Some(&(_, link)) = resident.links.iter().find(|(of, _)| of == network) else { continue };
            let plan = self.networks[*network].plan;
            self.world.schedule_link(link, Side::Both, [(Instant::ZERO, down)]);
            let interface = InterfaceId(*network as u32);
            let own = resident.socket(*network);
            let of = |fact| LinkFact::Interface { interface, fact };
            for &(at, event) in events {
                // What is so at first has long been so; the node moves from the start on.
                let at = if at == Instant::ZERO { at } else { at + START };
                match event {
                    CellEvent::Signal(power) => {
                        self.fact(resident.mn, at, of(InterfaceFact::Signal(power)));
                    }
                    CellEvent::Attached => {
                        self.fact(resident.mn, at, of(InterfaceFact::Up(plan.interface_kind())));
                        self.fact(resident.mn, at, of(InterfaceFact::HandoverComplete));
                        self.world.schedule(at, Action::Link(link, Side::Both, Change::Up));
                    }
                    CellEvent::Addressed => self.fact(resident.mn, at, LinkFact::AddressUp(own)),
                    CellEvent::Lost => {
                        self.fact(resident.mn, at, LinkFact::AddressDown(own));
                        self.fact(resident.mn, at, of(InterfaceFact::Down));
                        self.world.schedule(at, Action::Link(link, Side::Both, down));
                    }
                }
            }
        }
    }

    pub(super) fn fact(&mut self, host: HostId, at: Instant, fact: LinkFact) {
        self.world.schedule(at, Action::Fact(host, fact));
    }
}
