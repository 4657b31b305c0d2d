//! Which local addresses an endpoint has, and how that follows what the host has.

use std::collections::BTreeSet;
use std::sync::Arc;

use core::net::{IpAddr, SocketAddr, SocketAddrV6};
use core::num::NonZeroU32;

use whimbrel_machine::OpenAddress;

use crate::builder::Encapsulation;
use crate::endpoint_events::EndpointEvent;
use crate::error::BindError;
use crate::interfaces::{Interface, InterfaceAddress, InterfaceKind, Interfaces};
use crate::socket::{LocalAddress, Member, Socket};

/// Attempts to find a UDP port that is free on every address.
const FREE_PORT_ATTEMPTS: usize = 64;

/// Local addresses of an endpoint that is bound to any, at most: each is offered to every peer. Peers take 16: a new one finds room there before an old one
/// is taken out.
const ADDRESSES_MAX: usize = 12;
/// Of those, how many without a way out: bridges to containers, say. The others come and go with the networks that the host is in, and leave these as they are.
const ISLANDS_MAX: usize = 8;
/// So many of each family of an interface come before all others of it: an interface with many addresses leaves room for the others.
const PER_INTERFACE_FIRST: usize = 4;

/// The addresses an endpoint is to have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// These, as long as the host has them.
    pub(crate) named: Vec<IpAddr>,
    /// All that the host has of these families, except loopback and link-local ones.
    pub(crate) any_v4: bool,
    pub(crate) any_v6: bool,
    /// UDP port; 0 for any that is free.
    pub(crate) port: u16,
}

/// One address that is to be open now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Due {
    address: SocketAddr,
    /// The device its packets leave through; `None` leaves it to the host's routes.
    device: Option<NonZeroU32>,
    named: bool,
}

impl Wanted {
    pub(crate) fn is_any(&self) -> bool {
        self.any_v4 || self.any_v6
    }

    pub(crate) fn may_be_v6(&self) -> bool {
        self.any_v6 || self.named.iter().any(IpAddr::is_ipv6)
    }

    /// What is to be open, best first, when the host's links are as `interfaces` says. Of named addresses, those not in
    /// `known` are none of the system's business (127.0.0.2, for instance): they are always there.
    fn due(&self, interfaces: &Interfaces, known: &BTreeSet<IpAddr>) -> Vec<Due> {
        let mut due = Vec::new();
        for &ip in &self.named {
            match interfaces.with_address(ip) {
                Some((_, interface)) if interface.is_up() => due.push(self.one(ip, interface, true)),
                Some(_) => {}
                None if known.contains(&ip) => {}
                None => due.push(self.one(ip, &Interface::default(), true)),
            }
        }
        let mut ranked = Vec::new();
        for interface in interfaces.0.values().filter(|interface| interface.is_up()) {
            let mut before = [0, 0];
            for address in interface.addresses.iter().filter(|address| self.wants(address, interface)) {
                let way_out = interface.way_out(address.ip);
                let is_one_of_many = before[usize::from(address.ip.is_ipv6())] >= PER_INTERFACE_FIRST;
                before[usize::from(address.ip.is_ipv6())] += 1;
                let rank = (way_out.is_none(), is_one_of_many, way_out);
                ranked.push((rank, self.one(address.ip, interface, false)));
            }
        }
        // Stable: the system's order among equals.
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut islands = 0;
        for ((is_island, ..), one) in ranked {
            islands += usize::from(is_island);
            if is_island && islands > ISLANDS_MAX {
                break;
            }
            if due.len() < ADDRESSES_MAX && !due.iter().any(|other| other.address.ip() == one.address.ip()) {
                due.push(one);
            }
        }
        due
    }

    fn wants(&self, address: &InterfaceAddress, interface: &Interface) -> bool {
        let (family, local) = match address.ip {
            IpAddr::V4(ip) => (self.any_v4, ip.is_loopback() || ip.is_link_local()),
            IpAddr::V6(ip) => (self.any_v6, ip.is_loopback() || ip.is_unicast_link_local()),
        };
        let local = local || interface.properties.kind == Some(InterfaceKind::Loopback);
        family && (!local || address.asked_for)
    }

    fn one(&self, ip: IpAddr, interface: &Interface, named: bool) -> Due {
        let address = match ip {
            // A link-local address means nothing without its link.
            IpAddr::V6(ip) if ip.is_unicast_link_local() => {
                let scope = interface.index.map_or(0, NonZeroU32::get);
                SocketAddrV6::new(ip, self.port, 0, scope).into()
            }
            ip => SocketAddr::new(ip, self.port),
        };
        let device = interface.way_out(ip).and(interface.index);
        Due { address, device: device.filter(|_| !ip.is_loopback()), named }
    }
}

/// The local addresses that are open.
pub(crate) struct Locals {
    wanted: Wanted,
    encapsulation: Encapsulation,
    member: Member,
    open: Vec<LocalAddress>,
    /// Named addresses that the system has listed at some time: when they are no longer listed, they are gone.
    known: BTreeSet<IpAddr>,
    own: Arc<BTreeSet<IpAddr>>,
    /// Addresses that could not be opened, so that it is said only once.
    refused: BTreeSet<IpAddr>,
    /// The port is one that the system has chosen, and nobody is called there: it may be another.
    renewable: bool,
}

impl Locals {
    /// Opens what is wanted and there.
    ///
    /// # Errors
    /// A named address cannot be opened, or the port is not free. Nothing being there is no error for `any`.
    pub(crate) fn open(
        wanted: Wanted,
        encapsulation: Encapsulation,
        member: Member,
        interfaces: &Interfaces,
    ) -> Result<Self, BindError> {
        let renewable = wanted.port == 0 && encapsulation == Encapsulation::Udp && member.is_alone();
        let mut locals = Self {
            renewable,
            wanted,
            encapsulation,
            member,
            open: Vec::new(),
            known: BTreeSet::new(),
            own: Arc::default(),
            refused: BTreeSet::new(),
        };
        locals.learn(interfaces);
        // Named addresses count as there until the system refuses them, which says more than their absence.
        let mut due = locals.wanted.due(interfaces, &locals.known);
        for &ip in &locals.wanted.named {
            if !due.iter().any(|one| one.address.ip() == ip) && interfaces.with_address(ip).is_none() {
                due.push(locals.wanted.one(ip, &Interface::default(), true));
            }
        }
        locals.open = open_all(&due, encapsulation, member)?;
        locals.settle_port();
        for one in &due {
            if let Some(local) = locals.open.iter_mut().find(|open| open.local().ip() == one.address.ip()) {
                local.set_own(&locals.own);
                local.set_device(one.device);
            }
        }
        Ok(locals)
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.open.iter().filter(|open| !open.is_parked()).map(LocalAddress::local).collect()
    }

    /// The UDP port; 0 as long as none has been asked for or found.
    pub(crate) fn port(&self) -> u16 {
        self.wanted.port
    }

    /// Opens what is to be opened on this UDP port, which another shard of the endpoint has.
    pub(crate) fn use_port(&mut self, port: u16) {
        self.wanted.port = port;
    }

    /// Whether [`Self::renew_port`] may give addresses other ports.
    pub(crate) const fn has_renewable_ports(&self) -> bool {
        self.renewable
    }

    /// Peers call here: packets leave from the first port, also if another one is in use, and that stays so.
    pub(crate) fn keep_ports(&mut self) {
        self.renewable = false;
        for open in &mut self.open {
            open.return_to_first_port();
        }
    }

    /// Has packets of `local`, if that is open, leave from another port ([`LocalAddress::renew_port`]).
    pub(crate) fn renew_port(&mut self, local: SocketAddr) -> bool {
        let open = self.open.iter_mut().find(|open| open.local() == local && !open.is_parked());
        self.renewable && open.is_some_and(LocalAddress::renew_port)
    }

    /// Has packets of `local` leave from its first port again. False if they do.
    pub(crate) fn return_to_first_port(&mut self, local: SocketAddr) -> bool {
        let open = self.open.iter_mut().find(|open| open.local() == local && !open.is_parked());
        self.renewable && open.is_some_and(LocalAddress::return_to_first_port)
    }

    /// See [`LocalAddress::is_heard_on_first_port`].
    pub(crate) fn is_heard_on_first_port(&self, local: SocketAddr) -> bool {
        self.open.iter().any(|open| open.local() == local && open.is_heard_on_first_port())
    }

    /// As [`Self::return_to_first_port`], if one of these has been heard there. Who has been is forgotten.
    pub(crate) fn returns_to_first_port(
        &mut self,
        local: SocketAddr,
        mut peers: impl Iterator<Item = IpAddr>,
    ) -> bool {
        let open = self.open.iter_mut().find(|open| open.local() == local);
        let heard = open.map(LocalAddress::take_heard_on_first_port).unwrap_or_default();
        peers.any(|peer| heard.contains(&peer)) && self.return_to_first_port(local)
    }

    /// Closes all sockets.
    pub(crate) fn close(&mut self) {
        self.open.clear();
    }

    pub(crate) fn all(&mut self) -> &mut [LocalAddress] {
        &mut self.open
    }

    /// Opens and closes what the links' new state demands; returns what is open now, best first.
    pub(crate) fn follow(
        &mut self,
        interfaces: &Interfaces,
        events: &mut Vec<EndpointEvent>,
    ) -> Vec<OpenAddress> {
        self.learn(interfaces);
        let due = self.wanted.due(interfaces, &self.known);
        let mut usable = Vec::new();
        for one in &due {
            let ip = one.address.ip();
            let news = self.revive(ip).or_else(|| self.open_one(*one, events));
            if let Some(address) = news {
                let interface = interfaces.with_address(ip).map(|(name, _)| name.to_owned());
                events.push(EndpointEvent::AddressUp { address, interface });
            }
            if let Some(open) = self.open.iter_mut().find(|open| open.local().ip() == ip) {
                open.set_own(&self.own);
                // An address comes before its routes: what was sent meanwhile has got nowhere.
                let new_way = open.set_device(one.device) && news.is_none();
                usable.push(OpenAddress { address: open.local(), new_way });
            }
        }
        self.refused.retain(|ip| due.iter().any(|one| one.address.ip() == *ip));
        let own = &self.own;
        self.open.retain_mut(|open| {
            let address = open.local();
            if due.iter().any(|one| one.address.ip() == address.ip()) {
                return true;
            }
            if !open.is_parked() {
                events.push(EndpointEvent::AddressDown { address });
            }
            // An address that the host still has, with nobody listening, would make the host tell the peer that there is no
            // SCTP here (ICMP port unreachable, if the packet came by another device), and the peer gives up then.
            open.park();
            own.contains(&address.ip())
        });
        usable
    }

    /// The address of a parked socket that is wanted again; `None` if there is no socket. What is open already is no news.
    fn revive(&mut self, ip: IpAddr) -> Option<SocketAddr> {
        let open = self.open.iter_mut().find(|open| open.local().ip() == ip)?;
        open.unpark().then(|| open.local())
    }

    fn open_one(&mut self, one: Due, events: &mut Vec<EndpointEvent>) -> Option<SocketAddr> {
        if self.open.iter().any(|open| open.local().ip() == one.address.ip()) {
            return None;
        }
        match open_socket(one.address, self.encapsulation, self.member) {
            Ok(socket) => {
                self.refused.remove(&one.address.ip());
                let address = socket.local();
                self.open.push(LocalAddress::new(socket));
                self.settle_port();
                Some(address)
            }
            Err(error) => {
                if self.refused.insert(one.address.ip()) {
                    let (address, reason) = (one.address, error.to_string());
                    events.push(EndpointEvent::AddressRefused { address, reason });
                }
                None
            }
        }
    }

    fn learn(&mut self, interfaces: &Interfaces) {
        let all = interfaces.0.values().flat_map(|interface| &interface.addresses).map(|address| address.ip);
        let own: BTreeSet<IpAddr> = all.collect();
        self.known.extend(self.wanted.named.iter().filter(|ip| own.contains(ip)));
        if *self.own != own {
            self.own = Arc::new(own);
        }
    }

    /// One endpoint has one UDP port (RFC 6951 §5.1): whichever the first address got is everyone's.
    fn settle_port(&mut self) {
        if let Some(first) = self.open.first() {
            self.wanted.port = first.local().port();
        }
    }
}

fn open_socket(
    address: SocketAddr,
    encapsulation: Encapsulation,
    member: Member,
) -> Result<Socket, BindError> {
    match encapsulation {
        Encapsulation::Udp => Socket::open_udp(address, member),
        Encapsulation::RawIp => Socket::open_raw(address, member),
    }
}

fn open_all(
    due: &[Due],
    encapsulation: Encapsulation,
    member: Member,
) -> Result<Vec<LocalAddress>, BindError> {
    for _ in 0..FREE_PORT_ATTEMPTS {
        let mut sockets: Vec<LocalAddress> = Vec::new();
        let mut collision = false;
        for one in due {
            let mut address = one.address;
            let chosen = sockets.first().filter(|_| address.port() == 0).map(|first| first.local().port());
            address.set_port(chosen.unwrap_or(address.port()));
            match open_socket(address, encapsulation, member) {
                Ok(socket) => sockets.push(LocalAddress::new(socket)),
                // The system picked a port for the first address that is not free on this one.
                Err(BindError::PortInUse { .. }) if chosen.is_some_and(|port| port != 0) => {
                    collision = true;
                    break;
                }
                // It went while we looked; the next report of the links says so.
                Err(BindError::AddressNotHere(_)) if !one.named => {}
                Err(error) => return Err(error),
            }
        }
        if !collision {
            return Ok(sockets);
        }
    }
    Err(BindError::NoFreePort)
}

#[cfg(test)]
#[path = "locals_tests.rs"]
mod tests;
