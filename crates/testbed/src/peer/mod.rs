//! A node under test on a bench, and a peer that is driven by hand: it completes handshakes and can then send anything.

mod bench;
pub mod crowd;
mod packets;

use core::net::IpAddr;

pub use bench::{Bench, NODE_PORT, PEER_PORT, Sent, UDP, ip, node_address, peer_address, quiet, route};
pub use packets::{
    Raw, assert_alive, assert_init_aborted, cause_codes, data, encoded, packet, with_checksum,
};
use whimbrel_proto::Config;
use whimbrel_wire::{
    Chunk, CommonHeader, CookieAck, CookieEcho, Data, EmitChunk, GapAckBlock, HeartbeatAck, InitAckBuilder,
    InitBuilder, Parameter, SackBuilder, Tsn,
};

/// The peer that is driven by hand.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its SCTP port.
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
    /// Bytes of receive window that its INIT and INIT ACK advertise.
    pub a_rwnd: u32,
    /// How many it offers and takes.
    pub streams: u16,
    /// What the node has given it.
    pub cookie: Vec<u8>,
}

impl Default for Peer {
    fn default() -> Self {
        Self::new()
    }
}

impl Peer {
    /// One that has not said anything.
    pub fn new() -> Self {
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

    /// One whose first TSN is this.
    pub fn with_initial_tsn(tsn: u32) -> Self {
        Self { initial_tsn: Tsn(tsn), tsn: Tsn(tsn), ..Self::new() }
    }

    /// The common header of a packet to the node.
    pub fn header(&self, verification_tag: u32) -> CommonHeader {
        CommonHeader { source_port: self.port, destination_port: NODE_PORT, verification_tag }
    }

    /// A packet of the association.
    pub fn packet(&self, chunks: &[&dyn EmitChunk]) -> Vec<u8> {
        packet(self.header(self.node_tag), chunks)
    }

    /// Its INIT chunk.
    pub fn init_builder<'a>(&self, parameters: &'a [Parameter<'a>]) -> InitBuilder<'a> {
        InitBuilder {
            initiate_tag: self.tag,
            a_rwnd: self.a_rwnd,
            outbound_streams: self.streams,
            inbound_streams: self.streams,
            initial_tsn: self.initial_tsn,
            parameters,
        }
    }

    /// A packet with its INIT.
    pub fn init(&self, parameters: &[Parameter<'_>]) -> Vec<u8> {
        packet(self.header(0), &[&self.init_builder(parameters)])
    }

    /// A packet with its INIT ACK.
    pub fn init_ack(&self, parameters: &[Parameter<'_>]) -> Vec<u8> {
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

    /// A packet with the cookie that the node has given it.
    pub fn cookie_echo(&self) -> Vec<u8> {
        self.packet(&[&CookieEcho { cookie: &self.cookie }])
    }

    /// Takes tag, TSN and cookie from an INIT ACK.
    #[track_caller]
    pub fn learn_init_ack(&mut self, sent: &Sent) {
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
    pub fn begin(&mut self, bench: &mut Bench, parameters: &[Parameter<'_>]) {
        bench.take();
        bench.deliver(&self.init(parameters));
        let init_ack = bench.take_only();
        self.learn_init_ack(&init_ack);
    }

    /// The whole handshake, begun by the peer; it lists `addresses` in its INIT.
    #[track_caller]
    pub fn connect_with(&mut self, bench: &mut Bench, addresses: &[IpAddr]) {
        let parameters: Vec<Parameter<'_>> = addresses.iter().map(|&address| address.into()).collect();
        self.begin(bench, &parameters);
        let ups = bench.ups();
        bench.deliver(&self.cookie_echo());
        assert_eq!(bench.ups(), ups + 1);
    }

    /// The whole handshake, begun by the peer.
    #[track_caller]
    pub fn connect(&mut self, bench: &mut Bench) {
        self.connect_with(bench, &[]);
        let acked = bench.take();
        assert!(acked.iter().any(|sent| sent.chunks().contains(&Chunk::CookieAck)));
    }

    /// A node with one address and one association, which a peer has begun.
    #[track_caller]
    pub fn connected(config: Config) -> (Bench, Self) {
        let (mut bench, mut peer) = (Bench::new(config), Self::new());
        peer.connect(&mut bench);
        (bench, peer)
    }

    /// A node with one address that has sent an INIT, which the peer knows.
    #[track_caller]
    pub fn called(config: Config) -> (Bench, Self) {
        let (mut bench, mut peer) = (Bench::new(config), Self::new());
        bench.connect(&[peer_address(1)]);
        peer.learn_init(&bench.take_only());
        (bench, peer)
    }

    /// A node with one address that has answered the INIT of a peer.
    #[track_caller]
    pub fn begun(config: Config) -> (Bench, Self) {
        let (mut bench, mut peer) = (Bench::new(config), Self::new());
        peer.begin(&mut bench, &[]);
        (bench, peer)
    }

    /// Answers the heartbeats in a packet of the node, where they went to.
    pub fn answer_heartbeats(&self, bench: &mut Bench, sent: &Sent) {
        for info in sent.heartbeats() {
            bench.deliver_on(sent.route, &self.packet(&[&HeartbeatAck { info }]));
        }
    }

    /// The node has sent an INIT: what it says.
    #[track_caller]
    pub fn learn_init(&mut self, sent: &Sent) {
        assert_eq!(sent.tag(), 0);
        let Chunk::Init(init) = sent.only() else { panic!("no INIT: {sent:?}") };
        self.node_tag = init.initiate_tag;
        self.node_tsn = init.initial_tsn;
    }

    /// The whole handshake, begun by the node.
    #[track_caller]
    pub fn accept(&mut self, bench: &mut Bench, parameters: &[Parameter<'_>]) {
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
    pub fn data<'a>(&mut self, stream: u16, ssn: u16, payload: &'a [u8]) -> Data<'a> {
        let tsn = self.tsn;
        self.tsn = tsn.next();
        data(tsn, stream, ssn, payload)
    }

    /// A packet with one SACK without blocks.
    pub fn sack(&self, cumulative: Tsn, a_rwnd: u32) -> Vec<u8> {
        self.sack_with(cumulative, a_rwnd, &[])
    }

    /// A packet with one SACK.
    pub fn sack_with(&self, cumulative: Tsn, a_rwnd: u32, blocks: &[(u16, u16)]) -> Vec<u8> {
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
