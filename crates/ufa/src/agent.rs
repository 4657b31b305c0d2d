//! What all three machines have in common: an address, transactions, and words of their own.

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::VecDeque;

use sip_types::Method;
use whimbrel_machine::{Ecn, Fragmentation, Instant, IpProtocol, Rng, Route, Seed, Sink, Transmit};

use crate::interface::Event;
use crate::sip::{
    ClientId, Contact, Dialog, Happening, Message, ServerId, SipConfig, Token, Transactions, Transport,
    is_recognized, response,
};

/// How long a gateway waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// For the answers of candidates.
    pub query: Duration,
    /// For the context to be taken over.
    pub transfer: Duration,
    /// As a target, for the correspondent's answer that measures the way to it.
    pub measuring: Duration,
    /// As a target, for a terminal to come.
    pub arrival: Duration,
    /// For somebody who was heard with one of the gateway's addresses to have gone, so that it can be given away. Whoever has left is heard for a while.
    pub heard: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            // For three copies of a request, and four: see SIP's T1.
            query: Duration::from_secs(2),
            transfer: Duration::from_secs(8),
            measuring: Duration::from_secs(4),
            // The terminal may be told last of all and by the last copy of a message.
            arrival: Duration::from_secs(40),
            heard: Duration::MAX,
        }
    }
}

/// One SIP user agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) address: SocketAddr,
    pub(crate) transactions: Transactions,
    pub(crate) events: VecDeque<Event>,
    transport: Transport,
    besides: Option<Transport>,
    /// The methods that it takes, as Allow has them.
    methods: &'static str,
    rng: Rng,
}

impl Agent {
    pub(crate) fn new(address: SocketAddr, sip: SipConfig, methods: &'static str, seed: &Seed) -> Self {
        let mut transactions = Transactions::new(sip.timers);
        if let Some(besides) = sip.besides {
            for transport in besides_all(besides) {
                let local = SocketAddr::new(address.ip(), transport.local_port());
                transactions.share(local, transport.timers().watchful().patient());
            }
        }
        Self {
            address,
            transactions,
            events: VecDeque::new(),
            transport: sip.transport,
            besides: sip.besides,
            methods,
            rng: seed.stream("sip", 0),
        }
    }

    /// The datagrams of one input.
    pub(crate) fn handle_datagrams(&mut self, now: Instant, route: Route, bytes: &[u8], segment: usize) {
        for datagram in bytes.chunks(segment.max(1)) {
            self.transactions.handle_datagram(now, route, datagram);
        }
    }

    /// What has happened. A request of a method that is known here and that requires something is refused: there are no extensions (RFC 3261 §8.2.2.3).
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Happening> {
        loop {
            let happening = self.transactions.poll()?;
            let Happening::Request { transaction, message, .. } = &happening else { return Some(happening) };
            let method = message.method().to_string();
            if !self.methods.split(", ").any(|known| known == method) {
                return Some(happening);
            }
            let Some(required) = message.list("Require") else { return Some(happening) };
            self.respond(now, *transaction, message, 420, |answer| answer.with("Unsupported", required));
        }
    }

    /// The method of a request is none that can be done here (RFC 3261 §8.2.1), or none that is known at all (§21.5.2).
    pub(crate) fn refuse_method(&mut self, now: Instant, transaction: ServerId, request: &Message) {
        let methods = self.methods;
        let status = if is_recognized(&request.method().to_string()) { 405 } else { 501 };
        // RFC 3261 §20.5 has Allow in any answer.
        self.respond(now, transaction, request, status, |answer| answer.with("Allow", methods));
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// CANCEL, of a request that is known: nobody is told of another one (RFC 3261 §9.2). For a host that answers each INVITE at once it comes too late, and
    /// changes nothing.
    pub(crate) fn agree_to_cancel(&mut self, now: Instant, transaction: ServerId, cancel: &Message) {
        self.respond(now, transaction, cancel, 200, |answer| answer);
    }

    pub(crate) fn token(&mut self) -> Token {
        Token::random(&mut self.rng)
    }

    pub(crate) fn branch(&mut self) -> Token {
        Token::branch(&mut self.rng)
    }

    /// Whether it has this way of speaking.
    pub(crate) fn speaks(&self, transport: Transport) -> bool {
        transport == self.transport || self.is_besides(transport)
    }

    /// Whether this is the other one of two ways, which has a share of what there is.
    pub(crate) fn is_besides(&self, transport: Transport) -> bool {
        self.besides.is_some_and(|besides| besides_all(besides).any(|known| known == transport))
    }

    /// Where it is itself.
    fn contact(&self, transport: Transport) -> Contact {
        let address = match transport == self.transport {
            true => self.address,
            false => SocketAddr::new(self.address.ip(), transport.port()),
        };
        Contact { address, transport }
    }

    /// What has carried a message to this address of ours; `None` if it is none for SIP.
    pub(crate) fn transport_at(&self, local: SocketAddr) -> Option<Transport> {
        let all = [Transport::Udp, Transport::Tcp, Transport::Tls];
        all.into_iter().find(|transport| self.speaks(*transport) && self.local(*transport) == local)
    }

    /// What stands for it where it speaks so.
    fn local(&self, transport: Transport) -> SocketAddr {
        match transport {
            Transport::Tcp => SocketAddr::new(self.address.ip(), transport.local_port()),
            Transport::Udp | Transport::Tls => self.contact(transport).address,
        }
    }

    fn to(&self, remote: Contact) -> Route {
        Route { local: self.local(remote.transport), remote: remote.address }
    }

    /// Sends a request to where the dialog leads.
    pub(crate) fn request(
        &mut self,
        now: Instant,
        dialog: &mut Dialog,
        method: &str,
        more: impl FnOnce(Message) -> Message,
    ) -> Option<ClientId> {
        let branch = self.branch();
        let contact = self.contact(dialog.target().transport);
        let request = dialog.request(&method.into(), contact, &branch)?;
        self.transactions.request(now, self.to(dialog.target()), &more(request))
    }

    /// Acknowledges a 2xx.
    pub(crate) fn acknowledge(&mut self, transaction: ClientId, dialog: &Dialog, accepted: &Message) {
        let branch = self.branch();
        let contact = self.contact(dialog.target().transport);
        if let Some(ack) = dialog.ack(accepted.cseq(), contact, &branch) {
            let route = self.to(dialog.target());
            self.transactions.acknowledge(transaction, route, &ack);
        }
    }

    /// Answers a request.
    pub(crate) fn respond(
        &mut self,
        now: Instant,
        transaction: ServerId,
        request: &Message,
        status: u16,
        more: impl FnOnce(Message) -> Message,
    ) {
        // All answers to a request have one tag (RFC 3261 §12.1), and so has that to its CANCEL (§9.2).
        let tag = self.transactions.tag(transaction).unwrap_or_else(|| self.token());
        self.respond_as(now, transaction, request, status, &tag, more);
    }

    /// As [`Self::respond`], with a tag that is to be the dialog's.
    pub(crate) fn respond_as(
        &mut self,
        now: Instant,
        transaction: ServerId,
        request: &Message,
        status: u16,
        tag: &Token,
        more: impl FnOnce(Message) -> Message,
    ) {
        let Ok(mut answer) = response(request, status, tag) else { return };
        // RFC 3261 §12.1.1. Those who always speak in the same way know where to answer.
        if self.besides.is_some() && (101..300).contains(&status) && request.method() == &Method::INVITE {
            let at = self.transactions.heard_at(transaction).and_then(|local| self.transport_at(local));
            answer = answer.at(self.contact(at.unwrap_or(self.transport))).recorded(request);
        }
        self.transactions.respond(now, transaction, &more(answer));
    }

    /// Sends and tells all there is.
    pub(crate) fn drain(&mut self, sink: &mut impl Sink<Event>) {
        while let Some((route, bytes)) = self.transactions.poll_transmit() {
            sink.transmit(&transmit(route, Ecn::NotCapable, bytes.len()), &bytes);
        }
        while let Some(event) = self.events.pop_front() {
            sink.event(event);
        }
    }
}

/// All that is spoken where this is spoken besides: agents of others have UDP and TCP (RFC 3261 §18).
fn besides_all(besides: Transport) -> impl Iterator<Item = Transport> {
    let more = (besides == Transport::Udp).then_some(Transport::Tcp);
    core::iter::once(besides).chain(more)
}

/// One packet.
pub(crate) fn transmit(route: Route, ecn: Ecn, segment: usize) -> Transmit {
    let protocol = IpProtocol::Sctp;
    Transmit { route, ecn, fragmentation: Fragmentation::Allowed, protocol, segment: segment.max(1) }
}
