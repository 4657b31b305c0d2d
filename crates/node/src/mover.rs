//! One association that moves: its policy, and what the policy may look at.

use core::net::{IpAddr, SocketAddr};

use whimbrel_handover::{Action, Decision, Fact, LocalAddress, Policy, Standing, View};
use whimbrel_machine::{Instant, InterfaceId, Links};
use whimbrel_proto::{AddressChange, AssociationId, Command, PathShape, PathView};

/// Stands for the interface of an address of which nothing is known any more.
const NO_INTERFACE: InterfaceId = InterfaceId(u32::MAX);

/// The policy of one association and what it has set in motion.
#[derive(Debug)]
pub(crate) struct Mover {
    association: AssociationId,
    policy: Box<dyn Policy>,
    /// Our addresses as the peer knows them, or has been asked to.
    known: Vec<(SocketAddr, Standing)>,
    dynamic: bool,
    /// Addresses that the association has been told to spare, since they are metered.
    spared: Vec<IpAddr>,
}

impl Mover {
    /// For an association that the peer knows by the addresses `known`.
    pub(crate) fn new(
        association: AssociationId,
        policy: Box<dyn Policy>,
        known: impl IntoIterator<Item = SocketAddr>,
        dynamic: bool,
    ) -> Self {
        let known = known.into_iter().map(|address| (address, Standing::Present)).collect();
        Self { association, policy, known, dynamic, spared: Vec::new() }
    }

    pub(crate) fn set_dynamic(&mut self, dynamic: bool) {
        self.dynamic = dynamic;
    }

    /// The handshake was repeated with these addresses.
    pub(crate) fn restart(&mut self, known: impl IntoIterator<Item = SocketAddr>) {
        self.known = known.into_iter().map(|address| (address, Standing::Present)).collect();
        self.spared.clear();
    }

    /// Which addresses the association has to be told to spare, if those have changed.
    pub(crate) fn spare(&mut self, links: &Links) -> Option<Vec<IpAddr>> {
        if links.metered().eq(self.spared.iter().copied()) {
            return None;
        }
        self.spared = links.metered().collect();
        Some(self.spared.clone())
    }

    /// The peer has answered a request.
    pub(crate) fn answered(&mut self, change: AddressChange, accepted: bool) -> Fact {
        match change {
            AddressChange::Add(address) => {
                self.known.retain(|(known, _)| accepted || *known != address);
                // It may have been asked for before there was a policy.
                if accepted
                    && !address.ip().is_unspecified()
                    && !self.known.iter().any(|(known, _)| known.ip() == address.ip())
                {
                    self.known.push((address, Standing::Present));
                }
                self.set_standing(address.ip(), Standing::Present);
                Fact::Added { address, accepted }
            }
            AddressChange::Delete(address) => {
                if accepted {
                    self.known.retain(|(known, _)| known.ip() != address);
                } else {
                    self.set_standing(address, Standing::Present);
                }
                Fact::Deleted { address, accepted }
            }
            AddressChange::SetPrimary(address) => Fact::PrimaryAsked { address, accepted },
        }
    }

    /// Asks the policy; returns what it decided.
    pub(crate) fn observe(
        &mut self,
        now: Instant,
        fact: &Fact,
        links: &Links,
        paths: &[PathView],
        remotes: &[SocketAddr],
    ) -> Vec<Decision> {
        let addresses = self.addresses(links);
        let interfaces = links.interfaces();
        let view = View { interfaces, addresses: &addresses, paths, remotes, dynamic: self.dynamic };
        self.policy.observe(now, fact, &view)
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.policy.next_deadline()
    }

    /// The commands that carry out `decisions`. Neighbouring address changes go into one command, so that they can go out in one
    /// ASCONF chunk.
    pub(crate) fn commands(&mut self, decisions: &[Decision]) -> Vec<Command> {
        let association = self.association;
        let mut commands = Vec::new();
        for decision in decisions {
            let change = match decision.action {
                Action::AddAddress(address) => {
                    self.known.retain(|(known, _)| known.ip() != address.ip());
                    self.known.push((address, Standing::Adding));
                    AddressChange::Add(address)
                }
                Action::DeleteAddress(address) => {
                    self.set_standing(address, Standing::Deleting);
                    AddressChange::Delete(address)
                }
                Action::AskPrimary(address) => AddressChange::SetPrimary(address),
                Action::UsePath(path) => {
                    commands.push(Command::SetPrimary { association, path });
                    continue;
                }
                Action::ShapePath { path, cwnd, ssthresh, rto } => {
                    let shape = PathShape { cwnd, ssthresh, rto };
                    commands.push(Command::ShapePath { association, path, shape });
                    continue;
                }
                Action::RetransmitLost(path) => {
                    commands.push(Command::RetransmitLost { association, path });
                    continue;
                }
            };
            match commands.last_mut() {
                Some(Command::ChangeAddresses { changes, .. }) => changes.push(change),
                _ => commands.push(Command::ChangeAddresses { association, changes: vec![change] }),
            }
        }
        commands
    }

    fn set_standing(&mut self, address: IpAddr, standing: Standing) {
        if let Some((_, known)) = self.known.iter_mut().find(|(known, _)| known.ip() == address) {
            *known = standing;
        }
    }

    /// The addresses that can be used, and those that only the peer still believes in.
    fn addresses(&self, links: &Links) -> Vec<LocalAddress> {
        let standing =
            |ip| self.known.iter().find(|(known, _)| known.ip() == ip).map(|(_, standing)| *standing);
        let usable = links.usable().map(|(address, interface)| LocalAddress {
            address,
            interface,
            up: true,
            standing: standing(address.ip()).unwrap_or(Standing::Absent),
        });
        let mut all: Vec<LocalAddress> = usable.collect();
        for &(address, standing) in &self.known {
            if !all.iter().any(|local| local.address.ip() == address.ip()) {
                let interface = links.interface_of(address.ip()).unwrap_or(NO_INTERFACE);
                all.push(LocalAddress { address, interface, up: false, standing });
            }
        }
        all
    }
}
