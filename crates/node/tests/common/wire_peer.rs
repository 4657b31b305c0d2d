//! A node under test on a bench, and a peer that is driven by hand: it completes handshakes and can then send anything.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_machine::{Ecn, Input, Instant, LinkFact, Machine, Route, Seed, Sink, Transmit, Unreachable};
use whimbrel_node::Node;
use whimbrel_proto::{
    AssociationId, CloseReason, Command, Config, ConnectToken, Event, Message, PathView, PmtuSearch, StreamId,
};
use whimbrel_wire::{
    Cause, ChecksumMode, Chunk, CommonHeader, CookieAck, CookieEcho, Data, EmitChunk, GapAckBlock,
    InitAckBuilder, InitBuilder, Packet, PacketWriter, Parameter, PayloadProtocolId, SackBuilder, Ssn, Tsn,
};

/// SCTP port the node listens on.
pub(crate) const NODE_PORT: u16 = 5001;
/// SCTP port of the peer.
pub(crate) const PEER_PORT: u16 = 7000;
/// UDP encapsulation port of both.
pub(crate) const UDP: u16 = 9899;

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The RFC's defaults without path MTU probes, which would show up between the packets that tests look at.
pub(crate) fn quiet() -> Config {
    let mut config = Config::rfc();
    config.pmtu.search = PmtuSearch::Off;
    config
}

/// The node's address number `n`.
pub(crate) fn node_address(n: u8) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, n, 1).into(), UDP)
}

/// The peer's address number `n`.
pub(crate) fn peer_address(n: u8) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, n, 2).into(), UDP)
}

/// The way between the first addresses, as the node sees it.
pub(crate) fn route() -> Route {
    Route { local: node_address(1), remote: peer_address(1) }
}

/// A packet the node has sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub at: Instant,
    pub route: Route,
    pub bytes: Vec<u8>,
}

impl Sent {
    pub(crate) fn packet(&self) -> Packet<'_> {
        Packet::parse(&self.bytes).unwrap()
    }

    pub(crate) fn tag(&self) -> u32 {
        self.packet().header().verification_tag
    }

    pub(crate) fn chunks(&self) -> Vec<Chunk<'_>> {
        self.packet().chunks().map(|chunk| chunk.expect("the node writes well-formed chunks")).collect()
    }

    /// The only chunk.
    #[track_caller]
    pub(crate) fn only(&self) -> Chunk<'_> {
        let chunks = self.chunks();
        assert_eq!(chunks.len(), 1, "{chunks:?}");
        chunks[0]
    }

    pub(crate) fn data(&self) -> Vec<Data<'_>> {
        let data = |chunk| if let Chunk::Data(data) = chunk { Some(data) } else { None };
        self.chunks().into_iter().filter_map(data).collect()
    }
}

struct Recorder<'a> {
    at: Instant,
    sent: &'a mut Vec<Sent>,
    events: &'a mut Vec<Event>,
    association: &'a mut Option<AssociationId>,
}

impl Sink<Event> for Recorder<'_> {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        for bytes in bytes.chunks(transmit.segment) {
            let packet = Packet::parse(bytes).expect("the node writes whole packets");
            assert!(packet.checksum_is_valid());
            self.sent.push(Sent { at: self.at, route: transmit.route, bytes: bytes.to_vec() });
        }
    }

    fn event(&mut self, event: Event) {
        if let Event::Up { association, .. } = event {
            *self.association = Some(association);
        }
        self.events.push(event);
    }
}

/// A node, its clock, and everything it has said that was not taken yet.
pub(crate) struct Bench {
    pub node: Node,
    pub now: Instant,
    pub events: Vec<Event>,
    sent: Vec<Sent>,
    deadline: Option<Instant>,
    association: Option<AssociationId>,
}

impl Bench {
    /// A node with `addresses` addresses that listens on [`NODE_PORT`].
    pub(crate) fn with_addresses(config: Config, addresses: u8) -> Self {
        Self::with_locals(config, (1..=addresses).map(node_address).collect())
    }

    /// A node with these addresses that listens on [`NODE_PORT`].
    pub(crate) fn with_locals(config: Config, locals: Vec<SocketAddr>) -> Self {
        config.validate().unwrap();
        let node = Node::new(Arc::new(config), Seed::from_u64(1), locals);
        let now = Instant::from_nanos(1_000_000_000);
        let mut bench =
            Self { node, now, events: Vec::new(), sent: Vec::new(), deadline: None, association: None };
        bench.command(Command::Listen { port: NODE_PORT });
        bench
    }

    pub(crate) fn new(config: Config) -> Self {
        Self::with_addresses(config, 1)
    }

    pub(crate) fn step(&mut self, mut inputs: Vec<Input<'_, Command>>) {
        for _ in 0..100 {
            let mut recorder = Recorder {
                at: self.now,
                sent: &mut self.sent,
                events: &mut self.events,
                association: &mut self.association,
            };
            self.deadline = self.node.step(self.now, inputs, &mut recorder);
            if self.deadline.is_none_or(|at| at > self.now) {
                return;
            }
            // A timer that was set for this very moment.
            inputs = vec![Input::Timeout];
        }
        panic!("the node asks to be called again at once, for ever");
    }

    /// A packet arrives on `route` (as the node sees it).
    pub(crate) fn deliver_on(&mut self, route: Route, bytes: &[u8]) {
        self.step(vec![Input::Datagrams { route, ecn: Ecn::NotCapable, bytes, segment: bytes.len() }]);
    }

    /// A packet arrives on the first route.
    pub(crate) fn deliver(&mut self, bytes: &[u8]) {
        self.deliver_on(route(), bytes);
    }

    /// A packet arrives on the first route; what the node sends because of it.
    pub(crate) fn ask(&mut self, bytes: &[u8]) -> Vec<Sent> {
        self.take();
        self.deliver(bytes);
        self.take()
    }

    /// An ICMP message about a packet on `route` arrives.
    pub(crate) fn unreachable(&mut self, route: Route, reason: Unreachable, quoted: &[u8]) {
        self.step(vec![Input::Unreachable { route, reason, quoted }]);
    }

    /// A fact about the node's links.
    pub(crate) fn link(&mut self, fact: LinkFact) {
        self.links(&[fact]);
    }

    /// Facts about the node's links, seen all at once.
    pub(crate) fn links(&mut self, facts: &[LinkFact]) {
        let mut links = self.node.links();
        facts.iter().for_each(|fact| links.apply(fact));
        self.step(vec![Input::Links(&links)]);
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.step(vec![Input::Command(command)]);
    }

    pub(crate) fn connect(&mut self, remotes: &[SocketAddr]) {
        self.command(Command::Connect {
            token: ConnectToken(1),
            remote: remotes.to_vec(),
            remote_port: PEER_PORT,
            local_port: Some(NODE_PORT),
        });
    }

    pub(crate) fn send(&mut self, stream: u16, payload: &[u8]) {
        let association = self.association();
        let message = Message::new(StreamId(stream), payload.to_vec());
        self.command(Command::Send { association, message });
    }

    pub(crate) fn shutdown(&mut self) {
        let association = self.association();
        self.command(Command::Shutdown { association });
    }

    /// Lets time pass, keeping every deadline on the way.
    pub(crate) fn pass(&mut self, duration: Duration) {
        let end = self.now + duration;
        let mut steps = 0;
        while let Some(at) = self.deadline.filter(|&at| at <= end) {
            self.now = at;
            self.step(vec![Input::Timeout]);
            steps += 1;
            assert!(steps < 100_000, "too many deadlines, last at {at:?}");
        }
        self.now = end;
    }

    /// Lets time pass up to the next deadline; false if there is none.
    pub(crate) fn pass_to_deadline(&mut self) -> bool {
        let Some(at) = self.deadline else { return false };
        self.now = at;
        self.step(vec![Input::Timeout]);
        true
    }

    /// What the node has sent since the last call.
    pub(crate) fn take(&mut self) -> Vec<Sent> {
        core::mem::take(&mut self.sent)
    }

    /// The only packet sent since the last call.
    #[track_caller]
    pub(crate) fn take_only(&mut self) -> Sent {
        let sent = self.take();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.into_iter().next().unwrap()
    }

    /// The association that came up last.
    #[track_caller]
    pub(crate) fn association(&self) -> AssociationId {
        self.association.expect("no association has come up")
    }

    pub(crate) fn paths(&self) -> Vec<PathView> {
        self.node.paths(self.association())
    }

    pub(crate) fn ups(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Up { .. })).count()
    }

    pub(crate) fn restarts(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Restarted { .. })).count()
    }

    /// Why the association has ended, if it has.
    pub(crate) fn closed(&self) -> Option<CloseReason> {
        self.events.iter().find_map(|event| match event {
            Event::Closed { reason, .. } | Event::ConnectFailed { reason, .. } => Some(reason.clone()),
            _ => None,
        })
    }

    /// Payloads delivered to the user.
    pub(crate) fn received(&self) -> Vec<Vec<u8>> {
        let payload = |event: &Event| match event {
            Event::Message { received, .. } => Some(received.payload.to_vec()),
            _ => None,
        };
        self.events.iter().filter_map(payload).collect()
    }
}

/// A packet with `chunks`.
pub(crate) fn packet(header: CommonHeader, chunks: &[&dyn EmitChunk]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header, usize::MAX);
    for chunk in chunks {
        assert!(writer.push(chunk));
    }
    writer.finish(ChecksumMode::Crc32c);
    out
}

/// Bytes of a chunk that is written as they are.
pub(crate) struct Raw(pub Vec<u8>);

impl Raw {
    /// A chunk of any type with any value, padded.
    pub(crate) fn chunk(chunk_type: u8, flags: u8, value: &[u8]) -> Self {
        let mut bytes = vec![chunk_type, flags];
        bytes.extend_from_slice(&(4 + value.len() as u16).to_be_bytes());
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        Self(bytes)
    }
}

impl EmitChunk for Raw {
    fn wire_len(&self) -> usize {
        self.0.len()
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

/// The peer that is driven by hand.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub port: u16,
    /// The tag the node must use.
    pub tag: u32,
    /// The tag of packets to the node.
    pub node_tag: u32,
    /// First TSN of the peer.
    pub initial_tsn: Tsn,
    /// TSN of the next DATA chunk.
    pub tsn: Tsn,
    /// First TSN of the node.
    pub node_tsn: Tsn,
    pub a_rwnd: u32,
    pub streams: u16,
    pub cookie: Vec<u8>,
}

impl Peer {
    pub(crate) fn new() -> Self {
        Self {
            port: PEER_PORT,
            tag: 0x1111_2222,
            node_tag: 0,
            initial_tsn: Tsn(1000),
            tsn: Tsn(1000),
            node_tsn: Tsn(0),
            a_rwnd: 100_000,
            streams: 10,
            cookie: Vec::new(),
        }
    }

    pub(crate) fn with_initial_tsn(tsn: u32) -> Self {
        Self { initial_tsn: Tsn(tsn), tsn: Tsn(tsn), ..Self::new() }
    }

    pub(crate) fn header(&self, verification_tag: u32) -> CommonHeader {
        CommonHeader { source_port: self.port, destination_port: NODE_PORT, verification_tag }
    }

    /// A packet of the association.
    pub(crate) fn packet(&self, chunks: &[&dyn EmitChunk]) -> Vec<u8> {
        packet(self.header(self.node_tag), chunks)
    }

    pub(crate) fn init_builder<'a>(&self, parameters: &'a [Parameter<'a>]) -> InitBuilder<'a> {
        InitBuilder {
            initiate_tag: self.tag,
            a_rwnd: self.a_rwnd,
            outbound_streams: self.streams,
            inbound_streams: self.streams,
            initial_tsn: self.initial_tsn,
            parameters,
        }
    }

    pub(crate) fn init(&self, parameters: &[Parameter<'_>]) -> Vec<u8> {
        packet(self.header(0), &[&self.init_builder(parameters)])
    }

    pub(crate) fn init_ack(&self, parameters: &[Parameter<'_>]) -> Vec<u8> {
        let init_ack = InitAckBuilder {
            initiate_tag: self.tag,
            a_rwnd: self.a_rwnd,
            outbound_streams: self.streams,
            inbound_streams: self.streams,
            initial_tsn: self.initial_tsn,
            parameters,
        };
        self.packet(&[&init_ack])
    }

    pub(crate) fn cookie_echo(&self) -> Vec<u8> {
        self.packet(&[&CookieEcho { cookie: &self.cookie }])
    }

    /// Takes tag, TSN and cookie from an INIT ACK.
    #[track_caller]
    pub(crate) fn learn_init_ack(&mut self, sent: &Sent) {
        assert_eq!(sent.tag(), self.tag);
        let Chunk::InitAck(init_ack) = sent.only() else { panic!("no INIT ACK: {sent:?}") };
        self.node_tag = init_ack.initiate_tag;
        self.node_tsn = init_ack.initial_tsn;
        let cookie = { init_ack.parameters }.find_map(|parameter| match parameter {
            Ok(Parameter::StateCookie(cookie)) => Some(cookie.to_vec()),
            _ => None,
        });
        self.cookie = cookie.expect("an INIT ACK has a cookie");
    }

    /// INIT and INIT ACK.
    #[track_caller]
    pub(crate) fn begin(&mut self, bench: &mut Bench, parameters: &[Parameter<'_>]) {
        bench.take();
        bench.deliver(&self.init(parameters));
        let init_ack = bench.take_only();
        self.learn_init_ack(&init_ack);
    }

    /// The whole handshake, begun by the peer; it lists `addresses` in its INIT.
    #[track_caller]
    pub(crate) fn connect_with(&mut self, bench: &mut Bench, addresses: &[IpAddr]) {
        let parameters: Vec<Parameter<'_>> = addresses.iter().map(|&address| address.into()).collect();
        self.begin(bench, &parameters);
        let ups = bench.ups();
        bench.deliver(&self.cookie_echo());
        assert_eq!(bench.ups(), ups + 1);
    }

    /// The whole handshake, begun by the peer.
    #[track_caller]
    pub(crate) fn connect(&mut self, bench: &mut Bench) {
        self.connect_with(bench, &[]);
        let acked = bench.take();
        assert!(acked.iter().any(|sent| sent.chunks().contains(&Chunk::CookieAck)));
    }

    /// The node has sent an INIT: what it says.
    #[track_caller]
    pub(crate) fn learn_init(&mut self, sent: &Sent) {
        assert_eq!(sent.tag(), 0);
        let Chunk::Init(init) = sent.only() else { panic!("no INIT: {sent:?}") };
        self.node_tag = init.initiate_tag;
        self.node_tsn = init.initial_tsn;
    }

    /// The whole handshake, begun by the node.
    #[track_caller]
    pub(crate) fn accept(&mut self, bench: &mut Bench, parameters: &[Parameter<'_>]) {
        bench.take();
        bench.connect(&[peer_address(1)]);
        self.learn_init(&bench.take_only());
        let mut all = vec![Parameter::StateCookie(b"a cookie")];
        all.extend_from_slice(parameters);
        bench.deliver(&self.init_ack(&all));
        let echo = bench.take_only();
        assert!(matches!(echo.chunks()[0], Chunk::CookieEcho(_)));
        bench.deliver(&self.packet(&[&CookieAck]));
        assert_eq!(bench.ups(), 1);
    }

    /// A DATA chunk with a whole message; counts TSNs.
    pub(crate) fn data<'a>(&mut self, stream: u16, ssn: u16, payload: &'a [u8]) -> Data<'a> {
        let tsn = self.tsn;
        self.tsn = tsn.next();
        data(tsn, stream, ssn, payload)
    }

    /// A packet with one SACK without blocks.
    pub(crate) fn sack(&self, cumulative: Tsn, a_rwnd: u32) -> Vec<u8> {
        self.sack_with(cumulative, a_rwnd, &[])
    }

    pub(crate) fn sack_with(&self, cumulative: Tsn, a_rwnd: u32, blocks: &[(u16, u16)]) -> Vec<u8> {
        let blocks: Vec<GapAckBlock> =
            blocks.iter().map(|&(start, end)| GapAckBlock { start, end }).collect();
        self.packet(&[&SackBuilder {
            cumulative_tsn_ack: cumulative,
            a_rwnd,
            gap_ack_blocks: &blocks,
            duplicate_tsns: &[],
        }])
    }
}

/// A DATA chunk with a whole message.
pub(crate) fn data(tsn: Tsn, stream: u16, ssn: u16, payload: &[u8]) -> Data<'_> {
    Data {
        immediate: false,
        unordered: false,
        beginning: true,
        ending: true,
        tsn,
        stream: StreamId(stream),
        ssn: Ssn(ssn),
        ppid: PayloadProtocolId(0),
        payload,
    }
}

/// Codes of the causes in the ABORT or ERROR chunks of these packets.
pub(crate) fn cause_codes(sent: &[Sent]) -> Vec<u16> {
    let codes = |chunk: &Chunk<'_>| match chunk {
        Chunk::Abort(abort) => abort.causes.map(|cause| cause.unwrap().code()).collect(),
        Chunk::Error(error) => error.causes.map(|cause| cause.unwrap().code()).collect(),
        _ => Vec::new(),
    };
    sent.iter().flat_map(|sent| sent.chunks().iter().flat_map(codes).collect::<Vec<u16>>()).collect()
}

/// The causes' bytes, encoded.
pub(crate) fn encoded(causes: &[Cause<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    whimbrel_wire::cause::encode_causes(causes, &mut out);
    out
}

/// An ABORT that answers an INIT or INIT ACK carries its Initiate Tag, T bit clear (RFC 9260 §8.4 rule 3, §5.1).
#[track_caller]
pub(crate) fn assert_init_aborted(sent: &[Sent], peer: &Peer, causes: &[u16]) {
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0].tag(), peer.tag);
    let Chunk::Abort(abort) = sent[0].only() else { panic!("{sent:?}") };
    assert!(!abort.tag_reflected);
    assert_eq!(cause_codes(sent), causes);
}

#[track_caller]
pub(crate) fn assert_alive(bench: &mut Bench, peer: &Peer) {
    assert_eq!(bench.closed(), None);
    let sent = bench.ask(&peer.packet(&[&whimbrel_wire::Heartbeat { info: b"alive?" }]));
    let answered = sent
        .iter()
        .any(|sent| matches!(sent.chunks()[..], [Chunk::HeartbeatAck(ack), ..] if ack.info == b"alive?"));
    assert!(answered, "{sent:?}");
}
