//! TCP (RFC 9293), as far as handover experiments need it: connections that carry data one way, from the end that opens
//! to the end that accepts, with slow start, congestion avoidance, fast retransmit and recovery (RFC 5681, 6582, 6675),
//! retransmission timeouts (RFC 6298), window scaling (RFC 7323), SACK (RFC 2018) and delayed acknowledgements. Who wants TCP as Linux has it takes
//! [`Rack`] (RFC 8985, RFC 9937, RFC 2883) and [`Cubic::with_hystart`].
//!
//! Left out, because no experiment needs it: data in both directions, closing (a connection stays when its source has
//! ended), urgent data, timestamps, resets, path MTU discovery, windows that shrink. The receiving application reads at once.

mod arrivals;
mod config;
mod congestion;
mod connection;
mod receiver;
mod recovery;
mod rto;
mod scoreboard;
mod segment;
mod sender;
mod source;

use core::time::Duration;
use std::sync::Arc;

pub use self::config::{DelayedAck, TcpConfig};
pub use self::congestion::{CongestionControl, Cubic, NewCongestionControl, Reno};
use self::connection::{Connection, Ports};
pub use self::recovery::{NewRecovery, NewReno, Rack, Recovery, Sack};
pub use self::rto::RtoConfig;
use self::segment::{Flags, Segment};
pub use self::source::{ConstantRate, File, Greedy, Source};
use whimbrel_machine::{
    Ecn, Fragmentation, Input, Instant, IpProtocol, Machine, Rng, Route, Seed, Sink, Transmit,
};

/// The first of the ports that connections are opened from (RFC 6335 §6).
const FIRST_DYNAMIC_PORT: u16 = 49_152;

/// Names a connection of one host: its number, in the order in which they came to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u32);

/// A wish.
#[derive(Debug)]
pub enum TcpCommand {
    /// Open a connection and send what `source` hands over. Every port accepts.
    Open {
        /// Addresses; the ports in it play no role and should be 0.
        route: Route,
        /// The peer's TCP port.
        port: u16,
        /// What to send.
        source: Box<dyn Source>,
    },
}

/// What a TCP endpoint tells its user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpEvent {
    /// A connection we opened is established.
    Established {
        /// The connection that it is about.
        connection: ConnectionId,
    },
    /// Data has come in order.
    Received {
        /// The connection that it is about.
        connection: ConnectionId,
        /// Bytes in order that are new.
        bytes: u64,
        /// Bytes in order since the beginning.
        total: u64,
    },
    /// All that the source will ever hand over is acknowledged.
    Done {
        /// The connection that it is about.
        connection: ConnectionId,
    },
    /// The peer did not answer for too long.
    Aborted {
        /// The connection that it is about.
        connection: ConnectionId,
    },
}

/// What a connection has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpStats {
    /// Segments with data sent, repeated ones included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Tail loss probes sent (RFC 8985 §7).
    pub probes: u64,
    /// Recoveries begun by duplicate or selective acknowledgements.
    pub recoveries: u64,
    /// Bytes acknowledged.
    pub acknowledged: u64,
    /// Bytes received in order.
    pub received: u64,
    /// cwnd in bytes.
    pub window: u64,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The retransmission timeout.
    pub rto: Duration,
}

/// A host's TCP.
#[derive(Debug)]
pub struct Tcp {
    config: Arc<TcpConfig>,
    rng: Rng,
    connections: Vec<(Route, Ports, Connection)>,
    accepted: usize,
    buffer: Vec<u8>,
}

impl Tcp {
    /// A host without connections, which accepts those that others open on any port.
    pub fn new(config: Arc<TcpConfig>, seed: &Seed) -> Self {
        let rng = seed.stream("tcp", 0);
        Self { config, rng, connections: Vec::new(), accepted: 0, buffer: Vec::new() }
    }

    /// Totals of a connection.
    pub fn stats(&self, connection: ConnectionId) -> Option<TcpStats> {
        self.connections.get(connection.0 as usize).map(|(_, _, connection)| connection.stats())
    }

    /// Connections there are.
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    fn open(&mut self, route: Route, port: u16, source: Box<dyn Source>) {
        let id = ConnectionId(self.connections.len() as u32);
        let ports = Ports { local: FIRST_DYNAMIC_PORT.wrapping_add(id.0 as u16), remote: port };
        let connection = Connection::open(id, ports, self.rng.next_u32(), &self.config, source);
        self.connections.push((route, ports, connection));
    }

    fn on_datagram(&mut self, now: Instant, route: Route, bytes: &[u8], sink: &mut impl Sink<TcpEvent>) {
        let Some(segment) = Segment::read(bytes) else { return };
        let ports = Ports { local: segment.destination_port, remote: segment.source_port };
        let known = self.connections.iter().position(|(at, of, _)| *of == ports && *at == route);
        let index = match known {
            Some(index) => index,
            None if segment.flags == Flags::SYN && self.accepted < self.config.accepted_max => {
                self.accepted += 1;
                let id = ConnectionId(self.connections.len() as u32);
                let first = self.rng.next_u32();
                let connection = Connection::accept(id, ports, first, &self.config, &segment);
                self.connections.push((route, ports, connection));
                return self.drain(now, self.connections.len() - 1, sink);
            }
            None => return,
        };
        let (_, _, connection) = &mut self.connections[index];
        connection.on_segment(now, &self.config, &segment, |event| sink.event(event));
        self.drain(now, index, sink);
    }

    /// Sends what a connection may send.
    fn drain(&mut self, now: Instant, index: usize, sink: &mut impl Sink<TcpEvent>) {
        let Some((route, _, connection)) = self.connections.get_mut(index) else { return };
        loop {
            self.buffer.clear();
            if !connection.poll(now, &self.config, &mut self.buffer) {
                return;
            }
            let segment = self.buffer.len();
            let (ecn, fragmentation, protocol) = (Ecn::NotCapable, Fragmentation::Forbidden, IpProtocol::Tcp);
            sink.transmit(&Transmit { route: *route, ecn, fragmentation, protocol, segment }, &self.buffer);
        }
    }
}

impl Machine for Tcp {
    type Command = TcpCommand;
    type Event = TcpEvent;

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, TcpCommand>>,
        sink: &mut impl Sink<TcpEvent>,
    ) -> Option<Instant> {
        for input in inputs {
            match input {
                Input::Datagrams { route, bytes, segment, .. } => {
                    for datagram in bytes.chunks(segment.max(1)) {
                        self.on_datagram(now, route, datagram, sink);
                    }
                }
                Input::Command(TcpCommand::Open { route, port, source }) => self.open(route, port, source),
                Input::Unreachable { .. } | Input::Timeout | Input::Links(_) => {}
            }
        }
        for index in 0..self.connections.len() {
            let (_, _, connection) = &mut self.connections[index];
            connection.on_time(now, |event| sink.event(event));
            self.drain(now, index, sink);
        }
        self.connections.iter().filter_map(|(_, _, connection)| connection.next_deadline()).min()
    }
}
