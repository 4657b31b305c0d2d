//! SIPcrossSCTP (paper d10, section V.A): which session is for which association, and what SIP says of it as commands to SCTP.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_proto::{AgreedChange, AssociationId, Command, Event, PathShape, PathState};

use crate::interface::Application;
use crate::sip::AppliConfig;
use crate::transition::{OldAddress, Transition};

/// How long an address lingers to which nothing new is sent: longer than its retransmission timer runs, which repairs what was in flight.
const LINGERING: Duration = Duration::from_secs(10);

/// Bytes that go to the peer's new address before it has answered, at most, whatever bandwidth-delay product a gateway names: it can have a host send as
/// many to somebody else.
const VOUCHED_MOST: usize = 1 << 20;

/// Sessions and associations known at most, of each.
const KNOWN_MAX: usize = 1024;

/// An association of this host.
#[derive(Clone, Copy, Debug)]
struct Known {
    association: AssociationId,
    /// By where the terminal is.
    application: Application,
    /// By where it was before: it may be there still, if the network could not tell it.
    before: Option<Application>,
    /// The UDP ports of SCTP's encapsulation here and there (RFC 6951), 0 without one.
    ports: [u16; 2],
}

/// An association on its way to another address of the peer.
#[derive(Clone, Copy, Debug)]
struct Moving {
    association: AssociationId,
    to: IpAddr,
    from: IpAddr,
    shape: Option<PathShape>,
}

/// What binds sessions to associations on one host.
#[derive(Debug)]
pub struct Cross {
    transition: Box<dyn Transition>,
    known: Vec<Known>,
    moving: Vec<Moving>,
    lingering: Vec<(Instant, AssociationId, IpAddr)>,
    orders: Vec<Command>,
}

impl Cross {
    /// Nothing is known yet. `transition` says what becomes of data when the peer moves.
    pub fn new(transition: Box<dyn Transition>) -> Self {
        Self { transition, known: Vec::new(), moving: Vec::new(), lingering: Vec::new(), orders: Vec::new() }
    }

    // ---- inputs

    /// SCTP has said this. Returns what becomes of sessions by that; `here` says whether this host is the terminal.
    pub fn handle_transport(&mut self, now: Instant, event: &Event, here: Side) -> Option<Change> {
        match event {
            Event::Up { association, local_port, remote_port, primary, .. } => {
                let application = here.application(*primary, *local_port, *remote_port);
                if self.known.len() >= KNOWN_MAX {
                    return None;
                }
                let ports = [primary.local.port(), primary.remote.port()];
                self.known.push(Known { association: *association, application, before: None, ports });
                return Some(Change::Up(application));
            }
            Event::Path { association, path, route, state: PathState::Active } => {
                let to =
                    |moving: &Moving| moving.association == *association && moving.to == route.remote.ip();
                if let Some(at) = self.moving.iter().position(to) {
                    let moving = self.moving.remove(at);
                    self.use_path(now, &moving, *path);
                }
            }
            Event::Closed { association, .. } => {
                let at = self.known.iter().position(|known| known.association == *association);
                let gone = at.map(|at| Change::Down(self.known.remove(at).application));
                self.moving.retain(|moving| moving.association != *association);
                self.lingering.retain(|(_, lingering, _)| lingering != association);
                return gone;
            }
            _ => {}
        }
        None
    }

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: Instant) {
        let due = |(at, ..): &(Instant, AssociationId, IpAddr)| *at <= now;
        let gone: Vec<_> = self.lingering.iter().copied().filter(due).collect();
        self.lingering.retain(|lingering| !due(lingering));
        for (_, association, address) in gone {
            self.agree(association, vec![AgreedChange::DeletePeer(address)]);
        }
    }

    // ---- commands

    /// The association of a session, if it is up.
    pub fn association(&self, application: &Application) -> Option<AssociationId> {
        self.known(application).map(|known| known.association)
    }

    /// What an association is called now that a terminal calls so. A terminal that has been moved names it by the address that it has, as its gateway takes
    /// a session for no other one.
    pub fn name(&self, called: Application) -> Application {
        let known = self.known(&called).or_else(|| {
            let before = |known: &&Known| known.before == Some(called);
            self.known.iter().find(before)
        });
        known.map_or(called, |known| known.application)
    }

    fn known(&self, application: &Application) -> Option<&Known> {
        self.known.iter().find(|known| known.application == *application)
    }

    /// The terminal is there from now on.
    fn rename(&mut self, application: &Application, terminal: IpAddr) {
        if let Some(known) = self.known.iter_mut().find(|known| known.application == *application) {
            let now = application.at(terminal);
            known.before = Some(core::mem::replace(&mut known.application, now));
        }
    }

    /// Message 7: the peer has another address from now on, with this bandwidth-delay product on the way there. The association is called by it.
    pub fn peer_moves(&mut self, application: &Application, config: &AppliConfig, bdp: Option<u64>) {
        let Some(&Known { association, ports: [_, port], .. }) = self.known(application) else { return };
        // What lingers of an earlier move goes first; and an address that comes back no longer lingers.
        for (_, _, address) in
            self.lingering.extract_if(.., |(_, of, _)| *of == association).collect::<Vec<_>>()
        {
            if address != config.add && address != config.delete {
                self.agree(association, vec![AgreedChange::DeletePeer(address)]);
            }
        }
        let from = config.delete;
        let shape = self.transition.shape(bdp);
        // Where it was to go before it will not be.
        for earlier in
            self.moving.extract_if(.., |moving| moving.association == association).collect::<Vec<_>>()
        {
            if earlier.to != config.add {
                self.agree(association, vec![AgreedChange::DeletePeer(earlier.to)]);
            }
        }
        self.moving.push(Moving { association, to: config.add, from, shape });
        let bytes = usize::try_from(bdp.unwrap_or(0)).unwrap_or(usize::MAX).min(VOUCHED_MOST);
        let address = SocketAddr::new(config.add, port);
        self.agree(association, vec![AgreedChange::AddVouchedPeer { address, bytes }]);
        self.rename(application, config.add);
    }

    /// Message 7A: this address is a valid source from now on.
    pub fn we_move(&mut self, application: &Application, to: IpAddr) {
        if let Some(&Known { association, ports: [port, _], .. }) = self.known(application) {
            self.agree(association, vec![AgreedChange::AddOwn(SocketAddr::new(to, port))]);
        }
    }

    /// We have not come there.
    pub fn we_stay(&mut self, application: &Application, to: IpAddr) {
        if let Some(association) = self.association(application) {
            self.agree(association, vec![AgreedChange::DeleteOwn(to)]);
        }
    }

    /// We have come to the new address: the old one is no more. The association is called by the new one.
    pub fn we_have_moved(&mut self, application: &Application, config: &AppliConfig) {
        if let Some(association) = self.association(application) {
            self.agree(association, vec![AgreedChange::DeleteOwn(config.delete)]);
            self.rename(application, config.add);
        }
    }

    fn use_path(&mut self, now: Instant, moving: &Moving, path: whimbrel_proto::PathId) {
        let association = moving.association;
        if let Some(shape) = moving.shape {
            self.orders.push(Command::ShapePath { association, path, shape });
        }
        self.orders.push(Command::SetPrimary { association, path });
        let old = moving.from;
        match self.transition.old_address() {
            OldAddress::GoesAtOnce => self.lingering.push((now, association, old)),
            OldAddress::Lingers => self.lingering.push((now + LINGERING, association, old)),
        }
    }

    fn agree(&mut self, association: AssociationId, changes: Vec<AgreedChange>) {
        self.orders.push(Command::AgreeAddresses { association, changes });
    }

    // ---- outputs

    /// What SCTP is to do, in this order.
    pub fn take_orders(&mut self) -> Vec<Command> {
        core::mem::take(&mut self.orders)
    }

    /// When [`Self::handle_timeout`] must be called.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.lingering.iter().map(|(at, ..)| *at).min()
    }
}

/// An association has come or gone, named as a session for it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It is up.
    Up(Application),
    /// It has ended.
    Down(Application),
}

/// Which end of its associations a host is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The one that moves.
    Terminal,
    /// The one that stays.
    Correspondent,
}

impl Side {
    fn application(self, primary: Route, local_port: u16, remote_port: u16) -> Application {
        let local = SocketAddr::new(primary.local.ip(), local_port);
        let remote = SocketAddr::new(primary.remote.ip(), remote_port);
        match self {
            Self::Terminal => Application { terminal: local, correspondent: remote },
            Self::Correspondent => Application { terminal: remote, correspondent: local },
        }
    }
}

#[cfg(test)]
#[path = "cross_tests.rs"]
mod tests;
