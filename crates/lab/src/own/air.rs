//! What hosts are told of their networks, and what becomes of their links on their way.

use whimbrel_machine::{Cost, Instant, InterfaceFact, LinkFact};
use whimbrel_netsim::{CellEvent, Mixed};

use super::file::{File, Host};
use super::motion;
use super::residents::Resident;
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
        for &(network, uplink) in &resident.links {
            let plan = self.networks[network].plan;
            let cost = if plan.metered { Cost::Metered } else { Cost::Flat };
            // Of a network that has a cell, motion says whether it is up.
            let up = plan.cell.is_none().then_some(InterfaceFact::Up(uplink.kind));
            let rest = [
                InterfaceFact::Rank(plan.rank),
                InterfaceFact::Rate((plan.nominal_rate() * 1e6) as u64),
                InterfaceFact::Cost(cost),
            ];
            let (interface, address) = (uplink.number, uplink.address.ip());
            uplink.tell(&mut self.world, Instant::ZERO, LinkFact::AddressOn { interface, address });
            for fact in up.into_iter().chain(rest) {
                uplink.about(&mut self.world, Instant::ZERO, fact);
            }
        }
        // SCTP begins with its addresses. Mobile IP is told of them, the best network last, where it then registers.
        if matches!(self.world.machine(resident.mn), Mixed::Second(_)) {
            for &(network, uplink) in resident.links.iter().rev() {
                if self.networks[network].plan.cell.is_none() {
                    uplink.tell(&mut self.world, Instant::ZERO, LinkFact::AddressUp(uplink.address));
                }
            }
        }
    }

    /// Has what happens to contacts with cells happen to a mobile node's links.
    pub(super) fn follow(&mut self, resident: &Resident<'_>, contacts: &[Contact]) {
        for Contact { network, events } in contacts {
            let Some(uplink) = resident.uplink(*network) else { continue };
            uplink.cut(&mut self.world, Instant::ZERO);
            for &(at, event) in events {
                // What is so at first has long been so; the node moves from the start on.
                let at = if at == Instant::ZERO { at } else { at + START };
                uplink.follow(&mut self.world, at, event);
            }
        }
    }
}
