//! Mobile IP for IPv4 (RFC 5944): a mobile node keeps its home address wherever it is. Its home agent takes what is sent
//! there and tunnels it to the care-of address, which belongs to the foreign agent of the network the node is in.
//!
//! Three machines: [`HomeAgent`], [`ForeignAgent`], and [`MobileNode`], which wraps the transport above it. What the node
//! sends goes back through the same tunnel (reverse tunnelling, RFC 3024), so that no router sees a foreign source address.
//!
//! Between the foreign agent and the mobile node packets travel inside another IP header, whose addresses stand for those of
//! layer 2. A scenario that counts bytes gives these links 20 bytes of frame overhead less than they have.
//!
//! Registrations stand directly on IP, without the 8 bytes of their UDP header (port 434, RFC 5944 §3.3); captures remark it.
//!
//! Left out: advertisements and solicitations of agents (the node knows the agent of each network, and is told when its address
//! there is up), authentication of registrations, simultaneous bindings, lifetimes other than "until the next registration",
//! and smooth handover.

mod foreign_agent;
mod home_agent;
mod message;
mod mobile_node;

pub use self::foreign_agent::ForeignAgent;
pub use self::home_agent::HomeAgent;
use self::message::Message;
pub use self::mobile_node::{Attachment, MobileNode, MobileNodeStats};

use core::net::{Ipv4Addr, SocketAddr};

use whimbrel_machine::{Ecn, Fragmentation, Input, Route, Sink, Transmit};

/// Bytes that a tunnel adds to a packet (RFC 2003): another IP header.
pub const TUNNEL_BYTES: u32 = 20;

/// Bindings and visitors an agent keeps, at most; further mobile nodes are refused.
const NODES_MAX: usize = 1024;

/// An address as routes have it.
fn at(ip: Ipv4Addr) -> SocketAddr {
    SocketAddr::new(ip.into(), 0)
}

/// Hands over every datagram among the inputs, and the way that it came.
fn each_datagram<'a>(inputs: impl IntoIterator<Item = Input<'a, ()>>, mut take: impl FnMut(Route, &[u8])) {
    for input in inputs {
        if let Input::Datagrams { route, bytes, segment, .. } = input {
            bytes.chunks(segment.max(1)).for_each(|datagram| take(route, datagram));
        }
    }
}

/// Sends one message.
fn send<E>(sink: &mut impl Sink<E>, local: SocketAddr, remote: SocketAddr, message: &Message<'_>) {
    let mut bytes = Vec::with_capacity(64);
    message.write(&mut bytes);
    let (ecn, fragmentation) = (Ecn::NotCapable, Fragmentation::Forbidden);
    let (route, protocol, segment) = (Route { local, remote }, message.protocol(), bytes.len());
    let transmit = Transmit { route, ecn, fragmentation, protocol, segment };
    sink.transmit(&transmit, &bytes);
}
