use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;

use whimbrel_machine::{Input, Instant, IpProtocol, Machine, Route, Sink, Transmit};

use super::message::Message;
use super::{NODES_MAX, at, each_datagram, send};

/// Registration denied by the home agent: insufficient resources (RFC 5944 §3.4).
const CODE_NO_RESOURCES: u8 = 130;
/// Registration denied by the home agent: identification mismatch.
const CODE_OLD: u8 = 133;

/// Where a mobile node is.
#[derive(Clone, Copy, Debug)]
struct Binding {
    care_of: Ipv4Addr,
    identification: u64,
}

/// A home agent. Its host owns its own address and the home addresses of its mobile nodes, and so gets what is sent to them
/// (RFC 5944 §4.2).
#[derive(Debug)]
pub struct HomeAgent {
    address: Ipv4Addr,
    bindings: BTreeMap<Ipv4Addr, Binding>,
    /// Packets for mobile nodes that are nowhere.
    dropped: u64,
}

impl HomeAgent {
    /// An agent at `address` without bindings.
    pub const fn new(address: Ipv4Addr) -> Self {
        Self { address, bindings: BTreeMap::new(), dropped: 0 }
    }

    /// The care-of address of a mobile node.
    pub fn care_of(&self, home: Ipv4Addr) -> Option<Ipv4Addr> {
        self.bindings.get(&home).map(|binding| binding.care_of)
    }

    /// Packets that came for mobile nodes that are not registered.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    fn on_datagram(&mut self, route: Route, bytes: &[u8], sink: &mut impl Sink<()>) {
        let (IpAddr::V4(from), IpAddr::V4(to)) = (route.remote.ip(), route.local.ip()) else { return };
        if to != self.address {
            return self.intercept(from, to, bytes, sink);
        }
        match Message::read(bytes) {
            Some(Message::Request { home, agent, care_of, identification }) if agent == self.address => {
                let code = self.register(home, care_of, identification);
                send(sink, route.local, route.remote, &Message::Reply { code, home, agent, identification });
            }
            // What a mobile node sends comes back out of the tunnel, if it comes from where the node is.
            Some(Message::Packet { source, destination, payload }) if self.care_of(source) == Some(from) => {
                let route = Route { local: at(source), remote: at(destination) };
                let (ecn, fragmentation) = Default::default();
                // Tunnels carry TCP alone.
                let (protocol, segment) = (IpProtocol::Tcp, payload.len());
                sink.transmit(&Transmit { route, ecn, fragmentation, protocol, segment }, payload);
            }
            _ => {}
        }
    }

    /// Tunnels what is sent to a home address.
    fn intercept(&mut self, source: Ipv4Addr, home: Ipv4Addr, payload: &[u8], sink: &mut impl Sink<()>) {
        let Some(care_of) = self.care_of(home) else {
            self.dropped += 1;
            return;
        };
        send(sink, at(self.address), at(care_of), &Message::Packet { source, destination: home, payload });
    }

    /// The code of the reply. An identification must be newer than the last (RFC 5944 §5.7).
    fn register(&mut self, home: Ipv4Addr, care_of: Ipv4Addr, identification: u64) -> u8 {
        if self.bindings.get(&home).is_some_and(|binding| binding.identification > identification) {
            return CODE_OLD;
        }
        if self.bindings.len() >= NODES_MAX && !self.bindings.contains_key(&home) {
            return CODE_NO_RESOURCES;
        }
        self.bindings.insert(home, Binding { care_of, identification });
        0
    }
}

impl Machine for HomeAgent {
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
