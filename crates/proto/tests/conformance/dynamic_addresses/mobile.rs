//! A peer with addresses that come and go, driven by hand.

use core::net::{IpAddr, SocketAddr};
use core::ops::{Deref, DerefMut};
use core::time::Duration;

use whimbrel_machine::{LinkFact, Route};
use whimbrel_proto::{
    AddressChange, AddressChangeError, Command, Config, DarMode, Event, Mobility, PathPairing, PathState,
    PathView, PeerAddressChange,
};
use whimbrel_wire::{
    AddressRequest, AsconfAckBuilder, AsconfBuilder, Chunk, CookieEcho, EmitChunk, Parameter, Parameters,
    chunk_type,
};

use crate::auth_peer::{AuthPeer, requiring};
use whimbrel_testbed::peer::*;

pub(crate) const EXTENSIONS: [u8; 3] = [chunk_type::AUTH, chunk_type::ASCONF, chunk_type::ASCONF_ACK];

/// The RFC's defaults with dynamic addresses, and all paths probed at once.
pub(crate) fn dynamic() -> Config {
    let mut config = requiring(&[]);
    config.dar.mode = DarMode::Negotiated;
    // So that paths are confirmed without waiting for one another.
    config.heartbeat.max_burst = 8;
    config
}

/// As [`dynamic`], every address pair a path.
pub(crate) fn mesh() -> Config {
    Config { pairing: PathPairing::Mesh, ..dynamic() }
}

/// The route from the node's address number `local` to the peer's number `remote`.
pub(crate) fn between(local: u8, remote: u8) -> Route {
    Route { local: node_address(local), remote: peer_address(remote) }
}

/// The peer.
#[derive(Clone, Debug)]
pub(crate) struct Mobile {
    pub auth: AuthPeer,
    /// Serial number of its next ASCONF.
    pub serial: u32,
}

impl Deref for Mobile {
    type Target = AuthPeer;

    fn deref(&self) -> &AuthPeer {
        &self.auth
    }
}

impl DerefMut for Mobile {
    fn deref_mut(&mut self) -> &mut AuthPeer {
        &mut self.auth
    }
}

impl Mobile {
    pub(crate) fn new() -> Self {
        let auth = AuthPeer::new(&[chunk_type::ASCONF, chunk_type::ASCONF_ACK]);
        let serial = auth.initial_tsn.0;
        Self { auth, serial }
    }

    pub(crate) fn with_initial_tsn(tsn: u32) -> Self {
        let mut mobile = Self::new();
        mobile.auth.peer = Peer::with_initial_tsn(tsn);
        mobile.serial = tsn;
        mobile
    }

    /// A bench with `addresses` addresses and the peer connected to it.
    #[track_caller]
    pub(crate) fn connected(config: Config, addresses: u8) -> (Bench, Self) {
        Self::connected_with(config, addresses, &[])
    }

    /// As [`Self::connected`]; the peer lists its addresses of these numbers.
    #[track_caller]
    pub(crate) fn connected_with(config: Config, addresses: u8, listed: &[u8]) -> (Bench, Self) {
        let mut bench = Bench::with_addresses(config, addresses);
        let mut mobile = Self::new();
        mobile.connect(&mut bench, listed);
        (bench, mobile)
    }

    #[track_caller]
    pub(crate) fn connect(&mut self, bench: &mut Bench, listed: &[u8]) {
        self.connect_on(bench, route(), listed);
    }

    #[track_caller]
    pub(crate) fn connect_on(&mut self, bench: &mut Bench, route: Route, listed: &[u8]) {
        self.begin_on(bench, route, listed);
        let ups = bench.ups();
        bench.deliver_on(route, &self.packet(&[&CookieEcho { cookie: &self.cookie }]));
        assert_eq!(bench.ups(), ups + 1);
        assert_eq!(mobility(bench), Mobility::Dynamic);
        self.settle(bench);
        // Who was called leaves the first heartbeat to the caller for a while.
        bench.pass(Duration::from_millis(300));
        self.settle(bench);
    }

    /// INIT and INIT ACK.
    #[track_caller]
    pub(crate) fn begin(&mut self, bench: &mut Bench, listed: &[u8]) {
        self.begin_on(bench, route(), listed);
    }

    /// INIT and INIT ACK, which it returns.
    #[track_caller]
    pub(crate) fn begin_on(&mut self, bench: &mut Bench, route: Route, listed: &[u8]) -> Sent {
        bench.take();
        let mut parameters = self.parameters();
        parameters.push(Parameter::SupportedExtensions(&EXTENSIONS));
        parameters.extend(listed.iter().map(|&n| Parameter::from(peer_address(n).ip())));
        let init = self.init(&parameters);
        bench.deliver_on(route, &init);
        let init_ack = bench.take_only();
        self.auth.learn_init_ack(&init_ack);
        init_ack
    }

    /// Answers the node's INIT, to the end of the handshake.
    #[track_caller]
    pub(crate) fn accept_init(&mut self, bench: &mut Bench, init: &Sent) {
        self.auth.learn_init(init);
        let own = self.clone();
        let mut parameters = own.parameters();
        parameters.push(Parameter::SupportedExtensions(&EXTENSIONS));
        parameters.push(Parameter::StateCookie(b"a cookie"));
        bench.deliver(&own.init_ack(&parameters));
        assert!(matches!(bench.take_only().chunks()[0], Chunk::CookieEcho(_)));
        bench.deliver(&self.packet(&[&whimbrel_wire::CookieAck]));
        assert_eq!(bench.ups(), 1);
    }

    /// Answers every HEARTBEAT, so that paths are confirmed; what else was sent.
    pub(crate) fn settle(&self, bench: &mut Bench) -> Vec<Sent> {
        let mut others = Vec::new();
        for _ in 0..20 {
            let sent = bench.take();
            if sent.is_empty() {
                return others;
            }
            for packet in sent {
                self.answer_heartbeats(bench, &packet);
                others.push(packet);
            }
        }
        others
    }

    // ---- ASCONF of the peer

    /// The next ASCONF, authenticated; it names the peer's first address.
    pub(crate) fn asconf(&mut self, requests: &[Parameter<'_>]) -> Vec<u8> {
        self.asconf_naming(peer_address(1).ip(), requests)
    }

    pub(crate) fn asconf_naming(&mut self, address: IpAddr, requests: &[Parameter<'_>]) -> Vec<u8> {
        let sequence_number = self.serial;
        self.serial = self.serial.wrapping_add(1);
        self.signed(&[&AsconfBuilder { sequence_number, address, parameters: requests }])
    }

    // ---- ASCONF of the node

    /// The ASCONF in a packet of the node, which must be authenticated, as serial number, address and requests.
    #[track_caller]
    pub(crate) fn read_asconf(&self, sent: &Sent) -> (u32, IpAddr, Vec<(u16, u32, IpAddr)>) {
        self.opened(sent);
        let asconf = sent.chunks().into_iter().find_map(|chunk| match chunk {
            Chunk::Asconf(asconf) => Some(asconf),
            _ => None,
        });
        let asconf = asconf.unwrap_or_else(|| panic!("no ASCONF: {sent:?}"));
        let request = |parameter: Parameter<'_>| match parameter {
            Parameter::AddIpAddress(r) | Parameter::DeleteIpAddress(r) | Parameter::SetPrimaryAddress(r) => {
                (parameter.parameter_type(), r.correlation_id, r.address)
            }
            other => panic!("{other:?}"),
        };
        let requests = asconf.parameters.map(|parameter| request(parameter.unwrap())).collect();
        (asconf.sequence_number, asconf.address, requests)
    }

    /// An ASCONF-ACK.
    pub(crate) fn ack(&self, serial: u32, responses: &[Parameter<'_>]) -> Vec<u8> {
        self.signed(&[&AsconfAckBuilder { sequence_number: serial, parameters: responses }])
    }

    /// Acknowledges the ASCONF in this packet, on the route it came by.
    #[track_caller]
    pub(crate) fn grant(&self, bench: &mut Bench, sent: &Sent) {
        let (serial, ..) = self.read_asconf(sent);
        bench.deliver_on(sent.route, &self.ack(serial, &[]));
    }

    /// Acknowledges the ASCONF that is the only packet of the node.
    #[track_caller]
    pub(crate) fn grant_next(&self, bench: &mut Bench) {
        let sent = bench.take_only();
        self.grant(bench, &sent);
    }

    /// The node's first serial number.
    pub(crate) fn first_serial(&self) -> u32 {
        self.node_tsn.0
    }
}

pub(crate) fn add(id: u32, address: IpAddr) -> Parameter<'static> {
    Parameter::AddIpAddress(AddressRequest { correlation_id: id, address })
}

pub(crate) fn delete(id: u32, address: IpAddr) -> Parameter<'static> {
    Parameter::DeleteIpAddress(AddressRequest { correlation_id: id, address })
}

pub(crate) fn set_primary(id: u32, address: IpAddr) -> Parameter<'static> {
    Parameter::SetPrimaryAddress(AddressRequest { correlation_id: id, address })
}

/// What an ASCONF-ACK says about a request: its correlation id and the code of the cause, 0 for success.
pub(crate) type Response = (u32, u16);

fn response(parameter: Parameter<'_>) -> Response {
    match parameter {
        Parameter::SuccessIndication(id) => (id, 0),
        Parameter::ErrorCauseIndication(error) => {
            (error.correlation_id, { error.causes }.next().unwrap().unwrap().code())
        }
        other => panic!("{other:?}"),
    }
}

/// The ASCONF-ACKs among these packets: where each went, its serial number and its responses.
pub(crate) fn acks(mobile: &Mobile, sent: &[Sent]) -> Vec<(Route, u32, Vec<Response>)> {
    let mut acks = Vec::new();
    for packet in sent {
        for chunk in packet.chunks() {
            if let Chunk::AsconfAck(ack) = chunk {
                mobile.opened(packet);
                let responses = Parameters::map(ack.parameters, |parameter| response(parameter.unwrap()));
                acks.push((packet.route, ack.sequence_number, responses.collect()));
            }
        }
    }
    acks
}

/// The responses in the only ASCONF-ACK among these packets.
#[track_caller]
pub(crate) fn responses(mobile: &Mobile, sent: &[Sent]) -> Vec<Response> {
    let mut acks = acks(mobile, sent);
    assert_eq!(acks.len(), 1, "{sent:?}");
    acks.remove(0).2
}

/// Whether any of these packets holds a chunk of this type.
pub(crate) fn holds(sent: &[Sent], chunk_type: u8) -> bool {
    sent.iter()
        .flat_map(|packet| packet.packet().chunks().collect::<Vec<_>>())
        .any(|chunk| chunk.unwrap().chunk_type() == chunk_type)
}

// ---- the node

pub(crate) fn up(bench: &mut Bench, address: SocketAddr) {
    bench.link(LinkFact::AddressUp(address));
}

pub(crate) fn down(bench: &mut Bench, address: SocketAddr) {
    bench.link(LinkFact::AddressDown(address));
}

/// Breaks before making: an address is gone, and another one there.
pub(crate) fn swap(bench: &mut Bench, old: SocketAddr, new: SocketAddr) {
    down(bench, old);
    up(bench, new);
}

/// An address is there, and the user has it added.
pub(crate) fn gain(bench: &mut Bench, new: SocketAddr) {
    up(bench, new);
    change(bench, &[AddressChange::Add(new)]);
}

pub(crate) fn change(bench: &mut Bench, changes: &[AddressChange]) {
    let association = bench.association();
    bench.command(Command::ChangeAddresses { association, changes: changes.to_vec() });
}

/// The answers to address changes so far.
pub(crate) fn outcomes(bench: &Bench) -> Vec<(AddressChange, Result<(), AddressChangeError>)> {
    let outcome = |event: &Event| match event {
        Event::AddressChanged { change, outcome, .. } => Some((*change, *outcome)),
        _ => None,
    };
    bench.events.iter().filter_map(outcome).collect()
}

/// What the user was told of the peer's addresses.
pub(crate) fn news(bench: &Bench) -> Vec<(IpAddr, PeerAddressChange)> {
    let news = |event: &Event| match event {
        Event::PeerAddress { address, change, .. } => Some((address.ip(), *change)),
        _ => None,
    };
    bench.events.iter().filter_map(news).collect()
}

#[track_caller]
pub(crate) fn mobility(bench: &Bench) -> Mobility {
    let mobility = |event: &Event| match event {
        Event::Up { mobility, .. } | Event::MobilityChanged { mobility, .. } => Some(*mobility),
        _ => None,
    };
    bench.events.iter().rev().find_map(mobility).expect("the association is up")
}

pub(crate) fn path(bench: &Bench, route: Route) -> Option<PathView> {
    bench.paths().into_iter().find(|path| path.route == route)
}

#[track_caller]
pub(crate) fn state(bench: &Bench, route: Route) -> PathState {
    path(bench, route).unwrap_or_else(|| panic!("no path {route}: {:?}", bench.paths())).state
}

/// The addresses of the peer that paths lead to.
pub(crate) fn remotes(bench: &Bench) -> Vec<IpAddr> {
    let mut remotes: Vec<IpAddr> = bench.paths().iter().map(|path| path.route.remote.ip()).collect();
    remotes.sort_unstable();
    remotes.dedup();
    remotes
}

#[track_caller]
pub(crate) fn primary(bench: &Bench) -> Route {
    bench.paths().iter().find(|path| path.primary).expect("there is a primary path").route
}

/// A chunk of any type, encoded.
pub(crate) fn encoded_chunk(chunk: &dyn EmitChunk) -> Vec<u8> {
    let mut bytes = Vec::new();
    chunk.emit(&mut bytes);
    bytes
}
