use core::net::SocketAddr;

use crate::{Instant, IpProtocol, Links};

/// One 4-tuple of addresses: where a datagram leaves from and where it goes. A path is exactly this.
///
/// The port is the UDP encapsulation port (RFC 6951) of that side, or 0 when SCTP runs directly on IP
/// (protocol 132). SCTP's own ports are inside the packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Route {
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
}

impl Route {
    /// The same route seen from the other end.
    pub const fn reversed(self) -> Self {
        Self { local: self.remote, remote: self.local }
    }
}

impl core::fmt::Display for Route {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} -> {}", self.local, self.remote)
    }
}

/// The two ECN bits of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ecn {
    /// 00: the sender does not do ECN.
    #[default]
    NotCapable,
    /// 01
    Ect1,
    /// 10
    Ect0,
    /// 11: a router met congestion.
    CongestionExperienced,
}

/// Why the network said a destination cannot be reached (ICMP, RFC 9260 §10).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unreachable {
    /// Host, network or administratively unreachable.
    Destination,
    /// The peer host has no SCTP (or nothing listens on its UDP encapsulation port).
    Protocol,
    /// The datagram was too big; the next hop's MTU in bytes, IP header included, 0 if not said.
    PacketTooBig {
        /// Bytes, IP header included; 0 if the router did not say.
        mtu: u32,
    },
}

/// Something that happens to a machine.
#[derive(Debug)]
pub enum Input<'a, C> {
    /// A train of datagrams that arrived on one route. All are `segment` bytes long but the last, which may be
    /// shorter: what one receive call with GRO yields. A single datagram has `segment == bytes.len()`.
    ///
    /// The train is one input so that a machine can answer once for all of it (one SACK, one wake-up).
    Datagrams {
        /// `local` is the address that was hit.
        route: Route,
        /// ECN bits of the train.
        ecn: Ecn,
        /// The datagrams' payloads, end to end. For UDP encapsulation and raw IP alike they begin with the SCTP
        /// common header.
        bytes: &'a [u8],
        /// Length of each datagram but the last, in bytes; never 0.
        segment: usize,
    },
    /// An ICMP error that quotes a datagram we sent on `route`.
    Unreachable {
        /// The route of the quoted datagram.
        route: Route,
        /// What the router or host said.
        reason: Unreachable,
        /// The beginning of the quoted datagram, as much as ICMP carried; begins with the SCTP common header.
        quoted: &'a [u8],
    },
    /// A deadline has passed, or the driver just wants to drain.
    Timeout,
    /// What the local links are like now. The machine finds out what has changed, by [`Links::follow`].
    Links(&'a Links),
    /// A wish of the user.
    Command(C),
}

/// Whether the network may cut a datagram up on its way: the opposite of IPv4's DF bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Fragmentation {
    /// A datagram that is too big is lost, and a router may say so.
    #[default]
    Forbidden,
    /// For what cannot be made smaller, such as a DATA chunk that was sent before the path MTU shrank (RFC 9260 §6.9).
    Allowed,
}

/// Where and how to send what the machine wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// From where to where.
    pub route: Route,
    /// ECN bits to set.
    pub ecn: Ecn,
    /// Whether the datagrams may be fragmented.
    pub fragmentation: Fragmentation,
    /// What the datagrams are, for those who read captures; drivers with real sockets know without.
    pub protocol: IpProtocol,
    /// The bytes are one or more datagrams, each `segment` bytes long but the last, which may be shorter (GSO).
    pub segment: usize,
}

/// One line of a trace: something that has changed and is worth seeing, but no event for the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// The quantity that has changed, in the field's words: `cwnd`, `rto`, `state`.
    pub name: &'static str,
    /// The number of the association it belongs to.
    pub subject: u64,
    /// The number of the path it belongs to; `None` for a quantity of the association as a whole.
    pub path: Option<u32>,
    /// The new value.
    pub value: Value,
}

/// The value of a recorded quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// An amount in the unit that the quantity is counted in: bytes, or nanoseconds for times.
    Amount(u64),
    /// The name of a state.
    State(&'static str),
    /// The two addresses of a path.
    Route(Route),
}

/// Receives everything a machine puts out during one step.
pub trait Sink<E> {
    /// Send `bytes` as `transmit` says. A machine may call this many times in a step.
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]);
    /// Tell the application.
    fn event(&mut self, event: E);
    /// Note a trace record. Ignored unless overridden.
    fn trace(&mut self, _record: Record) {}
    /// Whether trace records are wanted. A machine asks once in a step, and builds none otherwise.
    fn traces(&self) -> bool {
        false
    }
}

/// A sans-IO protocol machine.
pub trait Machine {
    /// Wishes of the user.
    type Command;
    /// What the user is told.
    type Event;

    /// Applies `inputs` in order at time `now`, drains every output into `sink`, and returns the next deadline, at
    /// which the driver must call again (with [`Input::Timeout`], or with whatever came first).
    ///
    /// There is no other way in, so a driver cannot forget to drain. Time never runs backwards between calls.
    /// Several inputs in one step share one drain: commands queued together are bundled, and a burst of packets
    /// is acknowledged together.
    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, Self::Command>>,
        sink: &mut impl Sink<Self::Event>,
    ) -> Option<Instant>
    where
        Self::Command: 'a;

    /// The links as this machine was told last, for drivers that tell what has changed (scripts of simulations) or what only
    /// some source has seen. Empty if links do not matter to it.
    fn links(&self) -> Links {
        Links::default()
    }
}
