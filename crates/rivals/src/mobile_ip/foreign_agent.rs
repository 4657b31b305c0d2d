use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::BTreeMap;

use whimbrel_machine::{Input, Instant, Machine, Route, Sink};

use super::message::Message;
use super::{NODES_MAX, at, each_datagram, send};

/// Registration denied by the foreign agent: insufficient resources (RFC 5944 §3.4).
const CODE_NO_RESOURCES: u8 = 66;

/// A mobile node that is here.
#[derive(Clone, Copy, Debug)]
struct Visitor {
    /// Its address on the link here.
    at: SocketAddr,
    home_agent: Ipv4Addr,
    /// The home agent has accepted.
    registered: bool,
}

/// The access router of a network, with a foreign agent in it. It has an address towards the core, which is the care-of address
/// of its visitors, and one on the access link.
#[derive(Debug)]
pub struct ForeignAgent {
    care_of: Ipv4Addr,
    link: Ipv4Addr,
    visitors: BTreeMap<Ipv4Addr, Visitor>,
}

impl ForeignAgent {
    /// An agent without visitors: the care-of address that it offers, and its address on the access link.
    pub const fn new(care_of: Ipv4Addr, link: Ipv4Addr) -> Self {
        Self { care_of, link, visitors: BTreeMap::new() }
    }

    fn on_datagram(&mut self, route: Route, bytes: &[u8], sink: &mut impl Sink<()>) {
        let Some(message) = Message::read(bytes) else { return };
        if route.local.ip() == IpAddr::V4(self.link) {
            return self.on_visitor(route.remote, &message, sink);
        }
        match message {
            Message::Packet { destination, .. } => {
                if let Some(visitor) = self.visitors.get(&destination) {
                    send(sink, at(self.link), visitor.at, &message);
                }
            }
            Message::Reply { code, home, .. } => {
                let Some(visitor) = self.visitors.get_mut(&home) else { return };
                visitor.registered |= code == 0;
                send(sink, at(self.link), visitor.at, &message);
            }
            Message::Request { .. } => {}
        }
    }

    fn on_visitor(&mut self, from: SocketAddr, message: &Message<'_>, sink: &mut impl Sink<()>) {
        match *message {
            Message::Request { home, agent, identification, .. } => {
                if self.visitors.len() >= NODES_MAX && !self.visitors.contains_key(&home) {
                    let reply = Message::Reply { code: CODE_NO_RESOURCES, home, agent, identification };
                    return send(sink, at(self.link), from, &reply);
                }
                let visitor = Visitor { at: from, home_agent: agent, registered: false };
                self.visitors.insert(home, visitor);
                let request = Message::Request { home, agent, care_of: self.care_of, identification };
                send(sink, at(self.care_of), at(agent), &request);
            }
            Message::Packet { source, .. } => {
                if let Some(visitor) = self.visitors.get(&source).filter(|visitor| visitor.registered) {
                    send(sink, at(self.care_of), at(visitor.home_agent), message);
                }
            }
            Message::Reply { .. } => {}
        }
    }
}

impl Machine for ForeignAgent {
    type Command = ();
    type Event = ();

    fn step<'a>(
        &mut self,
        _now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, ()>>,
        sink: &mut impl Sink<()>,
    ) -> Option<Instant> {
        each_datagram(inputs, |route, bytes| self.on_datagram(route, bytes, sink));
        None
    }
}
