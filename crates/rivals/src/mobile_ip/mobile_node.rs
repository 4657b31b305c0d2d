use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Input, Instant, LinkFact, Links, Machine, Record, Route, Sink, Transmit};

use super::message::Message;
use super::{at, send};

/// A request is repeated after this time, then ever more rarely (RFC 5944 §3.6.3: at least a second, doubling).
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(64);

/// A network the node may be in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attachment {
    /// The node's address on the access link.
    pub local: Ipv4Addr,
    /// The foreign agent's address on the access link.
    pub agent: Ipv4Addr,
    /// The user's order of preference; 0 is the best.
    pub rank: u8,
}

/// What a mobile node has seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MobileNodeStats {
    /// Registrations accepted by the home agent.
    pub registrations: u64,
    /// Those of them at another attachment than the one before.
    pub moves: u64,
    /// When the last packet came over each attachment, by its number; zero before.
    pub last_packet: Vec<Instant>,
    /// Packets that came over each attachment, by its number.
    pub packets: Vec<u64>,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Registering {
    attachment: usize,
    identification: u64,
    retry: Duration,
    due: Instant,
}

/// A mobile node: the transport `M`, which knows nothing but the home address, above Mobile IP.
///
/// It registers at the network whose address came up last, unless that is less preferred than where it is; and when it loses its network, at the
/// most preferred that is up. What comes over any network is taken in.
#[derive(Debug)]
pub struct MobileNode<M> {
    inner: M,
    home: Ipv4Addr,
    home_agent: Ipv4Addr,
    attachments: Vec<Attachment>,
    links: Links,
    up: Vec<bool>,
    /// Where the node is registered, and sends.
    current: Option<usize>,
    /// Where it was registered last, be it there or not.
    last: Option<usize>,
    registering: Option<Registering>,
    identification: u64,
    stats: MobileNodeStats,
}

impl<M> MobileNode<M> {
    /// A node that is nowhere yet: it waits for [`LinkFact::AddressUp`] of one of its attachments.
    pub fn new(inner: M, home: Ipv4Addr, home_agent: Ipv4Addr, attachments: Vec<Attachment>) -> Self {
        let count = attachments.len();
        Self {
            inner,
            home,
            home_agent,
            attachments,
            links: Links::default(),
            up: vec![false; count],
            current: None,
            last: None,
            registering: None,
            identification: 0,
            stats: MobileNodeStats {
                registrations: 0,
                moves: 0,
                last_packet: vec![Instant::ZERO; count],
                packets: vec![0; count],
            },
        }
    }

    /// The transport above.
    pub const fn inner(&self) -> &M {
        &self.inner
    }

    /// What has happened.
    pub const fn stats(&self) -> &MobileNodeStats {
        &self.stats
    }

    /// The attachment where the node is registered, by number.
    pub const fn current(&self) -> Option<usize> {
        self.current
    }

    fn on_link(&mut self, now: Instant, fact: LinkFact) {
        let number = |address: SocketAddr| {
            self.attachments.iter().position(|attachment| IpAddr::V4(attachment.local) == address.ip())
        };
        match fact {
            LinkFact::AddressUp(address) => {
                if let Some(number) = number(address) {
                    self.up[number] = true;
                    self.enter(now, number);
                }
            }
            LinkFact::AddressDown(address) => {
                if let Some(number) = number(address) {
                    self.leave(now, number);
                }
            }
            LinkFact::AddressOn { .. } | LinkFact::Interface { .. } => {}
        }
    }

    /// A network can be used.
    fn enter(&mut self, now: Instant, number: usize) {
        let rank = |number: usize| self.attachments[number].rank;
        let heading = self.registering.map(|registering| registering.attachment).or(self.current);
        if heading.is_none_or(|heading| rank(number) <= rank(heading)) {
            self.begin(now, number);
        }
    }

    fn begin(&mut self, now: Instant, attachment: usize) {
        self.identification += 1;
        let identification = self.identification;
        self.registering = Some(Registering { attachment, identification, retry: RETRY, due: now });
    }

    fn leave(&mut self, now: Instant, number: usize) {
        self.up[number] = false;
        self.current = self.current.filter(|&current| current != number);
        self.registering = self.registering.filter(|registering| registering.attachment != number);
        let there = (0..self.up.len()).filter(|&number| self.up[number]);
        let rank = |number: usize| self.attachments[number].rank;
        let Some(best) = there.min_by_key(|&number| rank(number)) else { return };
        if self.registering.is_none() && self.current.is_none_or(|current| rank(best) < rank(current)) {
            self.begin(now, best);
        }
    }

    fn send_request<E>(&mut self, now: Instant, sink: &mut impl Sink<E>) {
        let Some(registering) = self.registering.as_mut().filter(|registering| registering.due <= now) else {
            return;
        };
        let Attachment { local, agent, .. } = self.attachments[registering.attachment];
        registering.due = now + registering.retry;
        registering.retry = (registering.retry * 2).min(RETRY_MAX);
        let request = Message::Request {
            home: self.home,
            agent: self.home_agent,
            // The foreign agent puts its own address here.
            care_of: agent,
            identification: registering.identification,
        };
        send(sink, at(local), at(agent), &request);
    }

    fn on_reply(&mut self, code: u8, identification: u64) {
        if let Some(registering) = self.registering.filter(|ours| ours.identification == identification)
            && code == 0
        {
            self.current = Some(registering.attachment);
            self.registering = None;
            self.stats.registrations += 1;
            let last = self.last.replace(registering.attachment);
            self.stats.moves += u64::from(last.is_some_and(|last| last != registering.attachment));
        }
    }

    /// The datagram for the transport, if that is what came.
    fn on_datagram<'a>(&mut self, now: Instant, route: Route, bytes: &'a [u8]) -> Option<(Route, &'a [u8])> {
        let number = self
            .attachments
            .iter()
            .position(|attachment| IpAddr::V4(attachment.local) == route.local.ip())?;
        match Message::read(bytes)? {
            Message::Reply { code, home, identification, .. } if home == self.home => {
                self.on_reply(code, identification);
                None
            }
            Message::Packet { source, destination, payload } if destination == self.home => {
                self.stats.packets[number] += 1;
                self.stats.last_packet[number] = now;
                Some((Route { local: at(destination), remote: at(source) }, payload))
            }
            _ => None,
        }
    }
}

/// Sends what the transport sends to the agent of the network the node is in; nowhere, it is lost.
struct Tunnel<'s, S> {
    sink: &'s mut S,
    via: Option<Attachment>,
}

impl<E, S: Sink<E>> Sink<E> for Tunnel<'_, S> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        let (Some(via), IpAddr::V4(source), IpAddr::V4(destination)) =
            (self.via, transmit.route.local.ip(), transmit.route.remote.ip())
        else {
            return;
        };
        for payload in bytes.chunks(transmit.segment.max(1)) {
            send(self.sink, at(via.local), at(via.agent), &Message::Packet { source, destination, payload });
        }
    }

    fn event(&mut self, event: E) {
        self.sink.event(event);
    }

    fn trace(&mut self, record: Record) {
        self.sink.trace(record);
    }

    fn traces(&self) -> bool {
        self.sink.traces()
    }
}

impl<M: Machine> Machine for MobileNode<M> {
    type Command = M::Command;
    type Event = M::Event;

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, M::Command>>,
        sink: &mut impl Sink<M::Event>,
    ) -> Option<Instant>
    where
        M::Command: 'a,
    {
        let mut above = Vec::new();
        for input in inputs {
            match input {
                Input::Datagrams { route, ecn, bytes, segment } => {
                    for datagram in bytes.chunks(segment.max(1)) {
                        if let Some((route, bytes)) = self.on_datagram(now, route, datagram) {
                            let segment = bytes.len().max(1);
                            above.push(Input::Datagrams { route, ecn, bytes, segment });
                        }
                    }
                }
                Input::Links(links) => {
                    for change in self.links.follow(links) {
                        self.on_link(now, change);
                    }
                }
                // An error about a tunnel says nothing about the packet in it.
                Input::Unreachable { .. } | Input::Timeout => {}
                Input::Command(command) => above.push(Input::Command(command)),
            }
        }
        self.send_request(now, sink);
        let via = self.current.map(|current| self.attachments[current]);
        let deadline = self.inner.step(now, above, &mut Tunnel { sink, via });
        [deadline, self.registering.map(|registering| registering.due)].into_iter().flatten().min()
    }

    fn links(&self) -> Links {
        self.links.clone()
    }
}
