//! Who reads what SIP says here, also what TLS hides from the network.

use std::net::SocketAddr;

use whimbrel::Route;
use whimbrel_ufa::sip::Transport;

/// A message of SIP that has left or has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Witnessed<'a> {
    /// Whose it is: address and port.
    pub from: SocketAddr,
    /// Whom it is for.
    pub to: SocketAddr,
    /// How it travels.
    pub over: Transport,
    /// It has come, and has not left.
    pub inbound: bool,
    /// As RFC 3261 has it.
    pub message: &'a [u8],
}

impl<'a> Witnessed<'a> {
    /// `None` if the route is not one of SIP.
    pub(crate) fn new(route: Route, inbound: bool, message: &'a [u8]) -> Option<Self> {
        let over = Transport::at_local_port(route.local.port())?;
        let local = SocketAddr::new(route.local.ip(), over.port());
        let (from, to) = if inbound { (route.remote, local) } else { (local, route.remote) };
        Some(Self { from, to, over, inbound, message })
    }
}

/// Reads every message, in the order in which they leave and come. A gateway waits until it has done so.
pub trait Witness: Send {
    /// One message.
    fn sip(&mut self, message: &Witnessed<'_>);
}
