//! Who has sent a request, and how requests find their way back.

use core::net::IpAddr;

use sip_types::Method;
use whimbrel_machine::Route;

use super::Gateway;
use super::session::Session;
use crate::agent::Agent;
use crate::sip::{Contact, Message, Path, Transport, senders};

/// Whoever has sent a request.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// Where it came from: the host itself, or the last proxy.
    pub(super) source: Contact,
    /// The host that has sent it.
    pub(super) host: IpAddr,
    /// Where it can be called.
    pub(super) contact: Contact,
    /// And what is written on requests to it then.
    pub(super) path: Path,
}

impl Gateway {
    /// Where whoever has sent a request can be called (RFC 3261 §12.1.1). The error is the status of an answer.
    pub(super) fn caller(&self, request: &Message, route: Route) -> Result<Caller, u16> {
        let transport = self.agent.transport_at(route.local).unwrap_or_default();
        let source = Contact { address: route.remote, transport };
        let ip = route.remote.ip();
        if !self.agent.is_besides(transport) {
            // Hosts with keys, and the lab's, are where they are heard, at the port that they name; a connection has a port of its own.
            let named = request.contact().filter(|named| named.ip() == ip && named.port() > 0);
            let named = named.filter(|_| transport == Transport::Udp);
            let contact = Contact { address: named.unwrap_or(route.remote), transport };
            return Ok(Caller { source, host: ip, contact, path: Path::default() });
        }
        let host = self.sender(request, ip);
        // What is in a REGISTER's Contact opens no dialog.
        let path = match request.method() {
            &Method::REGISTER => Path::default(),
            _ => Path::of_request(request).map_err(|_| 400_u16)?,
        };
        let named = path.first(transport);
        if path.has_routes() {
            // Nobody has requests go to a third host; and there are no names here.
            let contact = named.filter(|named| named.address.ip() == ip).ok_or(403_u16)?;
            return Ok(Caller { source, host, contact: by_connection(contact, source), path });
        }
        // Who says that it is elsewhere, or by a name, is behind what changes addresses, or has that name.
        let contact = named.filter(|named| named.address.ip() == host).unwrap_or(source);
        Ok(Caller { source, host, contact: by_connection(contact, source), path })
    }

    /// The host that has sent a request which has come from `ip`: that one, or, of a proxy which is trusted to say so, the one that it has heard (RFC 3261
    /// §18.2.1).
    fn sender(&self, request: &Message, ip: IpAddr) -> IpAddr {
        let mut sender = ip;
        for before in senders(request).into_iter().skip(1) {
            if !self.config.clear.proxies.contains(&sender) {
                break;
            }
            let Some(before) = before else { break };
            sender = before;
        }
        sender
    }
}

/// Whoever has a connection to here, or has been reached by one, is called by that: it need not listen where it says that it is. Where there is none any
/// more, the Request-URI says where to.
pub(super) fn by_connection(contact: Contact, source: Contact) -> Contact {
    let both = [contact.transport, source.transport] == [Transport::Tcp; 2];
    if both && contact.address.ip() == source.address.ip() { source } else { contact }
}

impl Session {
    /// Whether a request is the correspondent's, within the dialog that it has with the gateway, and from where that leads. By TCP it may have another
    /// connection: nobody has one from an address that is not his own.
    pub(super) fn is_with(&self, request: &Message, source: Contact) -> bool {
        let there = self.to_correspondent.target();
        let from_there = match source.transport {
            Transport::Tcp => there.transport.is_clear() && there.address.ip() == source.address.ip(),
            Transport::Udp | Transport::Tls => there == source,
        };
        from_there && self.to_correspondent.is_of(request, source.transport)
    }

    /// The correspondent has accepted the call: requests, and ACK (RFC 3261 §13.2.2.4), go from now on to the first proxy that wants to stay between, or where the
    /// correspondent says that it is, if that is the host that was called (§12.1.2, §12.2.1.1). Who has no proxy before it and was called over TCP need not listen at
    /// the port that it names, and is asked by the connection that has reached it as long as there is one.
    pub(super) fn accepted(&mut self, agent: &Agent, response: &Message) {
        self.to_correspondent.confirm(response);
        let called = self.to_correspondent.target();
        let path = Path::of_response(response).ok().filter(|_| agent.is_besides(called.transport));
        let Some(path) = path else { return };
        let named = path.first(called.transport).filter(|named| named.address.ip() == called.address.ip());
        let next = named.unwrap_or(called);
        self.to_correspondent.set_target(if path.has_routes() { next } else { by_connection(next, called) });
        self.to_correspondent.set_path(path);
    }

    /// The terminal has come: between it and this gateway are other proxies than between it and the one before, or none.
    pub(super) fn reached(&mut self, caller: &Caller) {
        self.to_terminal.set_target(caller.contact);
        self.to_terminal.set_path(caller.path.clone());
    }

    /// The terminal is where it was, and may have another port or connection. The proxies between stay the same (RFC 3261 §12.2).
    pub(super) fn refresh(&mut self, caller: &Caller) {
        let mut path = self.to_terminal.path().clone();
        if !path.has_routes() {
            self.to_terminal.set_target(caller.contact);
        }
        path.refresh(caller.path.clone());
        self.to_terminal.set_path(path);
    }
}

#[cfg(test)]
#[path = "caller_tests.rs"]
mod tests;
