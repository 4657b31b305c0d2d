//! What a session needs of a stack that is driven from outside: packets and time in, packets and events out.

mod dcsctp;
mod sctp_proto;

use std::net::SocketAddr;
use std::time::Instant;

use crate::options::{Options, StackName};

/// What has happened.
#[derive(Debug)]
pub(crate) enum Event {
    Up,
    Received { stream: u16, ppid: u32, payload: Vec<u8> },
    Shutdown,
    Lost(String),
}

/// One association.
pub(crate) trait Stack {
    /// A packet of the peer.
    fn handle_packet(&mut self, now: Instant, from: SocketAddr, packet: &[u8]);
    /// Timers that are due.
    fn advance(&mut self, now: Instant);
    /// False if there is no room for it now. Panics when the stack refuses for another reason: that is ours to mend.
    fn send(&mut self, stream: u16, ppid: u32, unordered: bool, payload: &[u8]) -> bool;
    fn shutdown(&mut self);
    fn abort(&mut self);
    /// Packets that want to be sent.
    fn poll_packets(&mut self, now: Instant) -> Vec<Vec<u8>>;
    fn poll_event(&mut self) -> Option<Event>;
    /// When `advance` has to be called at the latest.
    fn deadline(&self) -> Option<Instant>;
}

/// A stack that waits for an INIT, or sends one.
pub(crate) fn open(options: &Options) -> Box<dyn Stack> {
    match options.stack {
        StackName::Dcsctp => Box::new(dcsctp::Dcsctp::open(options)),
        StackName::SctpProto => Box::new(sctp_proto::SctpProto::open(options)),
    }
}
