//! One socket per local address: trains of datagrams in and out, and what the network says about them.

mod error_queue;
mod fragmentation;
mod gather;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod guard;
mod io;
mod local;
mod open;
mod outbox;
mod receive;
mod send;
mod steering;

use core::future::Future;
use core::net::SocketAddr;
use core::pin::Pin;
use core::task::Context;

use quinn_udp::UdpSocketState;
use whimbrel_machine::{Route, Unreachable};

use gather::Gathered;
use io::Io;
pub(crate) use local::LocalAddress;
use outbox::Outbox;
pub(crate) use receive::ReceiveBuffers;
pub(crate) use steering::Member;

/// What precedes the SCTP packet in a received datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Framing {
    /// Nothing: UDP encapsulation, or raw IPv6, whose header the system keeps.
    Bare,
    /// The IPv4 header, which raw sockets get to see.
    Ipv4Header,
}

/// One local address and its socket. Raw sockets are handled as UDP sockets without ports, which for everything used
/// here (addresses, ECN bits, don't-fragment) is what they are to the system.
pub(crate) struct Socket {
    local: SocketAddr,
    member: Member,
    framing: Framing,
    io: Io,
    state: UdpSocketState,
    /// Packets of equal length to one peer, perhaps of many associations, on their way into one train.
    gathered: Gathered,
    /// Trains that the system had no room for.
    outbox: Outbox,
    /// ICMP errors and local refusals not yet told to the machine.
    errors: Vec<NetworkError>,
    /// Resolves when the system has something in the socket's error queue.
    alarm: Alarm,
    /// An error may have cut a receive call short, so that it looked as if the socket were drained.
    reread: bool,
    /// Trains to offer the system room for with the next call: preparing room costs time, whether it is used or not.
    expected: usize,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    _guard: Option<guard::Guard>,
}

type Alarm = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Errors kept between two runs of the driver, at most; a router can send any number.
const ERRORS_MAX: usize = 64;

/// An ICMP error, or a refusal by this host's own network layer, about a datagram we sent.
#[derive(Debug)]
pub(crate) struct NetworkError {
    pub(crate) route: Route,
    pub(crate) reason: Unreachable,
    /// The beginning of the SCTP packet.
    pub(crate) quoted: Vec<u8>,
}

impl Socket {
    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// It stands for the socket at `local` from now on: what it receives is told as having come there.
    pub(super) fn stand_for(&mut self, local: SocketAddr) {
        self.local = local;
    }

    /// Where it really is.
    pub(super) fn bound(&self) -> std::io::Result<SocketAddr> {
        self.io.socket().local_addr()
    }

    /// Makes sure that the task is woken when an ICMP error arrives. True if one did.
    ///
    /// An error does not make a socket readable, so this is a wait of its own.
    pub(crate) fn watch_errors(&mut self, cx: &mut Context<'_>) -> bool {
        while self.alarm.as_mut().poll(cx).is_ready() {
            self.collect_errors();
            self.alarm = Box::pin(self.io.error());
            self.reread = true;
        }
        self.reread || !self.errors.is_empty()
    }

    pub(crate) fn take_errors(&mut self) -> impl Iterator<Item = NetworkError> + '_ {
        self.errors.drain(..)
    }

    fn note(&mut self, error: NetworkError) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(error);
        }
    }

    /// Moves what the system has queued to `errors`. Returns the MTU of our own interface, in bytes, if a packet was larger.
    fn collect_errors(&mut self) -> Option<u32> {
        let mut own_mtu = None;
        for _ in 0..ERRORS_MAX {
            match error_queue::next(self.io.socket(), self.local) {
                error_queue::Next::Empty => break,
                error_queue::Next::Irrelevant => {}
                error_queue::Next::Error(error) => self.note(error),
                error_queue::Next::TooLarge { mtu } => own_mtu = Some(mtu),
            }
        }
        own_mtu
    }
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
