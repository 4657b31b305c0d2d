//! A peer that knows the protocol, completes handshakes, and then does anything.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Route, Unreachable};
use whimbrel_proto::{AssociationFailure, Command, Config, PathPairing, PayloadProtocolId, StreamId};
use whimbrel_wire::{
    AbortBuilder, Cause, ChecksumMode, Chunk, CommonHeader, CookieAck, CookieEcho, Data, EmitChunk,
    ErrorBuilder, GapAckBlock, Heartbeat, HeartbeatAck, InitAckBuilder, InitBuilder, Packet, PacketWriter,
    Parameter, SackBuilder, Shutdown, ShutdownAck, ShutdownComplete, Ssn, Tsn,
};

use super::protected_peer::Cover;
use super::script::Script;
use super::victim::{Sent, Victim};

mod user;

const UDP: u16 = 9899;
pub(crate) const VICTIM_PORT: u16 = 5001;
pub(crate) const PEER_PORT: u16 = 7000;
const PAYLOAD: [u8; 1500] = [0x5a; 1500];
/// Decisions in one run at most.
pub(crate) const MAX_SCRIPT: usize = 3000;

/// One endpoint and a peer whose every step is a byte of `bytes`.
///
/// # Panics
/// If anything happens that must not, whatever the peer does.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script::new(bytes, MAX_SCRIPT);
    Attack::new(&mut script).run(&mut script);
}

/// What the victim is like.
pub(crate) fn config(choice: u8) -> Config {
    let mut config = if choice & 1 == 0 { Config::rfc() } else { Config::mobile() };
    config.failure.association = AssociationFailure::Silence(Duration::from_secs(300));
    config.limits.receive_buffer = if choice & 2 == 0 { 5000 } else { 100_000 };
    config.limits.send_buffer = if choice & 4 == 0 { 5000 } else { 60_000 };
    config.limits.associations = 3;
    (config.limits.paths, config.limits.peer_addresses) = (5, 4);
    config.pairing = if choice & 8 == 0 { PathPairing::PerDestination } else { PathPairing::Mesh };
    config
}

fn victim_address(n: u8) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, n, 1).into(), UDP)
}

/// Number 3 is nobody the peer has announced, unless it does.
pub(crate) fn peer_address(n: u8) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, n, 2).into(), UDP)
}

pub(crate) struct Attack {
    pub(crate) victim: Victim,
    /// What packets are hidden by, if they are.
    pub(crate) cover: Option<Cover>,
    /// The tag we want packets to carry.
    tag: u32,
    /// The tag the victim wants, as far as we have seen.
    victim_tag: u32,
    victim_tsn: Tsn,
    cookie: Vec<u8>,
    info: Vec<u8>,
    /// Our next TSN.
    tsn: Tsn,
    ssn: Ssn,
    /// Chunks waiting for their packet.
    bundle: Vec<u8>,
    /// The last packet of the victim.
    last: Option<Sent>,
    connects: u64,
}

impl Attack {
    fn new(script: &mut Script<'_>) -> Self {
        let choice = script.byte();
        let tsn = script.pick(&[Tsn(1000), Tsn(u32::MAX - 5), Tsn(0), Tsn(0x7fff_fffd)]);
        let mut attack = Self::on(config(choice), tsn);
        // Most of the state space lies behind a handshake.
        match choice >> 4 & 3 {
            0 => {}
            1 => attack.connect(),
            _ => {
                attack.init(&[Parameter::from(peer_address(2).ip())]);
                attack.flush(script, true);
                attack.push(&CookieEcho { cookie: &attack.cookie.clone() });
                attack.flush(script, true);
            }
        }
        attack
    }

    /// On a victim that listens and has heard nothing yet.
    pub(crate) fn on(config: Config, tsn: Tsn) -> Self {
        let mut victim = Victim::new(config, vec![victim_address(1), victim_address(2)]);
        victim.command(Command::Listen { port: VICTIM_PORT });
        Self {
            victim,
            cover: None,
            tag: 0x1111_2222,
            victim_tag: 0,
            victim_tsn: Tsn(0),
            cookie: vec![0; 40],
            info: Vec::new(),
            tsn,
            ssn: Ssn(0),
            bundle: Vec::new(),
            last: None,
            connects: 0,
        }
    }

    pub(crate) fn run(mut self, script: &mut Script<'_>) {
        while !script.is_empty() {
            self.step(script);
        }
        self.fall_silent();
    }

    fn step(&mut self, script: &mut Script<'_>) {
        let operation = script.byte();
        match operation & 31 {
            0..4 => self.data(script),
            4..7 => self.sack(script),
            7 => self.heartbeat(script),
            8 => self.handshake(script),
            9 => self.closing(script),
            10 => self.raw_chunk(script),
            11 => self.reflect(script),
            12 => self.icmp(script),
            13..15 => self.error(script),
            15..20 => self.command(script),
            20..23 => _ = self.victim.pass_to_deadline(),
            23 => {
                let milliseconds = script.pick(&[0, 1, 20, 200, 1000, 10_000, 100_000, 10_000_000]);
                self.victim.jump(Duration::from_millis(milliseconds));
            }
            24..27 => self.user(script),
            27 => self.raw_datagram(script),
            // A well-behaved peer now and then, or the association soon is over.
            28 | 29 => self.behave(script),
            _ => self.flush(script, true),
        }
        if operation & 32 == 0 || self.bundle.len() > 3000 {
            self.flush(script, operation & 64 == 0);
        }
        self.learn();
    }

    // ---- packets

    fn push(&mut self, chunk: &impl EmitChunk) {
        chunk.emit(&mut self.bundle);
    }

    /// Sends what is bundled; from the usual address with the right tag if it is to be `regular`.
    fn flush(&mut self, script: &mut Script<'_>, regular: bool) {
        if self.bundle.is_empty() {
            return;
        }
        let init = self.bundle[0] == whimbrel_wire::chunk_type::INIT;
        let usual = if init { 0 } else { self.victim_tag };
        let (route, tag, checksum) = if regular {
            (route(1, 1), usual, ChecksumMode::Crc32c)
        } else {
            let route = route(1 + script.below(2) as u8, 1 + script.below(3) as u8);
            let tag = script.pick(&[usual, usual, usual, 0, self.tag, 1]);
            let checksum = if script.one_in(16) { ChecksumMode::Zero } else { ChecksumMode::Crc32c };
            (route, tag, checksum)
        };
        let bundle = core::mem::take(&mut self.bundle);
        let clear = packet(tag, &bundle, checksum);
        match self.cover.as_mut().filter(|_| !init && !script.one_in(16)) {
            Some(cover) => self.victim.deliver_as(route, &cover.seal(script, tag, bundle), &clear),
            None => self.victim.deliver(route, &clear),
        }
        self.learn();
    }

    /// Remembers what the victim's packets say about it.
    pub(crate) fn learn(&mut self) {
        for sent in core::mem::take(&mut self.victim.sent) {
            let opened = self.cover.as_mut().map(|cover| cover.read(&sent.bytes));
            let packet = Packet::parse(opened.as_ref().unwrap_or(&sent.bytes)).expect("checked before");
            for chunk in packet.chunks().flatten() {
                match chunk {
                    Chunk::Init(init) => {
                        (self.victim_tag, self.victim_tsn) = (init.initiate_tag, init.initial_tsn.prev());
                    }
                    Chunk::InitAck(ack) => {
                        (self.victim_tag, self.victim_tsn) = (ack.initiate_tag, ack.initial_tsn.prev());
                        for parameter in ack.parameters.flatten() {
                            if let Parameter::StateCookie(cookie) = parameter {
                                self.cookie = cookie.to_vec();
                            }
                        }
                    }
                    Chunk::Data(data) if self.victim_tsn.precedes(data.tsn) => self.victim_tsn = data.tsn,
                    Chunk::Heartbeat(heartbeat) => self.info = heartbeat.info.to_vec(),
                    _ => {}
                }
            }
            self.last = Some(sent);
        }
    }

    /// Remembers what an honest peer says whose place we shall take, and returns the packet in clear.
    pub(crate) fn overhear(&mut self, bytes: &[u8]) -> Vec<u8> {
        let opened = self.cover.as_mut().map(|cover| cover.read_own(bytes));
        let clear = opened.unwrap_or_else(|| bytes.to_vec());
        for chunk in Packet::parse(&clear).expect("checked before").chunks().flatten() {
            match chunk {
                Chunk::Init(init) => (self.tag, self.tsn) = (init.initiate_tag, init.initial_tsn),
                Chunk::InitAck(ack) => (self.tag, self.tsn) = (ack.initiate_tag, ack.initial_tsn),
                Chunk::Data(data) => (self.tsn, self.ssn) = (data.tsn.next(), data.ssn.next()),
                _ => {}
            }
        }
        clear
    }

    // ---- the peer's steps

    fn init(&mut self, parameters: &[Parameter<'_>]) {
        let init = InitBuilder {
            initiate_tag: self.tag,
            a_rwnd: 20_000,
            outbound_streams: 4,
            inbound_streams: 4,
            initial_tsn: self.tsn,
            parameters,
        };
        self.push(&init);
    }

    fn handshake(&mut self, script: &mut Script<'_>) {
        if script.one_in(8) {
            self.tag = script.u32();
        }
        if script.one_in(8) {
            self.tsn = Tsn(script.u32());
        }
        let addresses: Vec<IpAddr> = (0..script.below(6)).map(|_| address(script)).collect();
        let unknown = script.bytes(8).to_vec();
        let mut parameters: Vec<Parameter<'_>> = addresses.iter().map(|&ip| ip.into()).collect();
        match script.below(8) {
            0 => parameters.push(Parameter::CookiePreservative(script.u32())),
            1 => parameters.push(Parameter::ZeroChecksumAcceptable(1)),
            2 => parameters.push(Parameter::HostName(&unknown)),
            3 => parameters.push(Parameter::UnrecognizedParameter(&unknown)),
            _ => {}
        }
        match script.below(6) {
            0 | 1 => {
                let init = InitBuilder {
                    initiate_tag: self.tag,
                    a_rwnd: script.u32(),
                    outbound_streams: script.pick(&[4, 1, 0, u16::MAX]),
                    inbound_streams: script.pick(&[4, 1, 0, u16::MAX]),
                    initial_tsn: self.tsn,
                    parameters: &parameters,
                };
                self.push(&init);
            }
            2 => {
                let cookie = self.cookie.clone();
                parameters.push(Parameter::StateCookie(&cookie));
                let init_ack = InitAckBuilder {
                    initiate_tag: self.tag,
                    a_rwnd: script.u32(),
                    outbound_streams: script.pick(&[4, 1, 0, u16::MAX]),
                    inbound_streams: script.pick(&[4, 1, 0, u16::MAX]),
                    initial_tsn: self.tsn,
                    parameters: &parameters,
                };
                self.push(&init_ack);
            }
            3 | 4 => {
                let mut cookie = self.cookie.clone();
                if script.one_in(8) {
                    let at = script.below(cookie.len());
                    cookie[at] ^= script.byte();
                }
                self.push(&CookieEcho { cookie: &cookie });
            }
            _ => self.push(&CookieAck),
        }
    }

    fn data(&mut self, script: &mut Script<'_>) {
        let (flags, place) = (script.byte(), script.byte());
        let ahead = match place >> 6 {
            0..3 => 0,
            _ if place & 32 != 0 => script.u32(),
            _ => u32::from(place & 31),
        };
        let length =
            if place & 1 == 0 { usize::from(script.byte()) } else { script.pick(&[0, 1, 600, 1400]) };
        let data = Data {
            immediate: flags & 1 != 0,
            unordered: flags & 2 != 0,
            // Whole messages more often than not.
            beginning: flags & 0x14 != 4,
            ending: flags & 0x28 != 8,
            tsn: self.tsn.plus(ahead),
            stream: StreamId(u16::from(flags >> 6)),
            ssn: self.ssn.plus(u16::from(place >> 1 & 1)),
            ppid: PayloadProtocolId(u32::from(place >> 2 & 1)),
            payload: &PAYLOAD[..length],
        };
        if ahead == 0 {
            self.tsn = self.tsn.next();
            if !data.unordered && data.ending {
                self.ssn = self.ssn.next();
            }
        }
        self.push(&data);
    }

    fn sack(&mut self, script: &mut Script<'_>) {
        let kind = script.byte();
        let back = if kind & 3 == 3 { u32::from(kind >> 2) } else { 0 };
        let cumulative = match kind & 0xfc {
            0xfc => self.victim_tsn.plus(script.u32()),
            0xf8 => self.victim_tsn.next(),
            _ => Tsn(self.victim_tsn.0.wrapping_sub(back)),
        };
        let mut at = 0;
        let blocks: Vec<GapAckBlock> = (0..back.min(4))
            .map(|_| {
                let start = at + u16::from(script.byte() & 3) + u16::from(at == 0);
                at = start + u16::from(script.byte() & 7);
                GapAckBlock { start, end: if script.one_in(32) { script.u16() } else { at } }
            })
            .collect();
        let sack = SackBuilder {
            cumulative_tsn_ack: cumulative,
            a_rwnd: script.pick(&[20_000, 20_000, 0, 1, 7, 1500, u32::MAX]),
            gap_ack_blocks: &blocks,
            duplicate_tsns: &[],
        };
        self.push(&sack);
    }

    fn heartbeat(&mut self, script: &mut Script<'_>) {
        match script.below(4) {
            0 => self.push(&Heartbeat { info: script.clone().bytes(100) }),
            1 => (0..40).for_each(|_| self.push(&Heartbeat { info: b"again" })),
            _ => {
                let mut info = self.info.clone();
                if let Some(first) = info.first_mut().filter(|_| script.one_in(4)) {
                    *first ^= script.byte();
                }
                self.push(&HeartbeatAck { info: &info });
            }
        }
    }

    fn closing(&mut self, script: &mut Script<'_>) {
        let tag_reflected = script.one_in(4);
        match script.below(10) {
            0 if script.one_in(4) => self.push(&AbortBuilder { tag_reflected, causes: &[] }),
            0..5 => {
                let ahead = script.pick(&[0, 0, 0, 1, u32::MAX]);
                self.push(&Shutdown { cumulative_tsn_ack: self.victim_tsn.plus(ahead) });
            }
            5..8 => self.push(&ShutdownAck),
            _ => self.push(&ShutdownComplete { tag_reflected }),
        }
    }

    fn error(&mut self, script: &mut Script<'_>) {
        let causes = [
            Cause::StaleCookie { microseconds: script.u32() },
            Cause::UnrecognizedParameters(&PAYLOAD[..8]),
            Cause::ProtocolViolation(&PAYLOAD[..script.below(64)]),
        ];
        let first = script.below(3);
        self.push(&ErrorBuilder { causes: &causes[first..=first] });
    }

    /// A chunk of any type and content, with a length that may lie.
    fn raw_chunk(&mut self, script: &mut Script<'_>) {
        let chunk_type = script.byte();
        let value = script.clone().bytes(usize::from(script.byte())).to_vec();
        let length = if script.one_in(8) { script.u16() } else { 4 + value.len() as u16 };
        self.bundle.extend_from_slice(&[chunk_type, script.byte()]);
        self.bundle.extend_from_slice(&length.to_be_bytes());
        self.bundle.extend_from_slice(&value);
        self.bundle.resize(self.bundle.len().next_multiple_of(4), 0);
    }

    fn raw_datagram(&mut self, script: &mut Script<'_>) {
        let bytes = script.clone().bytes(usize::from(script.byte())).to_vec();
        self.victim.deliver(route(1, 1), &bytes);
    }

    /// Something the victim sent comes back, perhaps changed.
    fn reflect(&mut self, script: &mut Script<'_>) {
        let Some(sent) = self.last.clone() else { return };
        let parsed = Packet::parse(&sent.bytes).expect("checked before");
        let tag = script.pick(&[parsed.header().verification_tag, self.victim_tag, 0]);
        let mut chunks = sent.bytes[12..].to_vec();
        if script.one_in(2) {
            let at = usize::from(script.u16()) % chunks.len();
            chunks[at] = script.byte();
        }
        let mut bytes = packet(tag, &chunks, ChecksumMode::Crc32c);
        if script.one_in(4) {
            // From the very port it was meant for.
            bytes = sent.bytes;
        }
        self.victim.deliver(route(1, 1), &bytes);
    }

    fn icmp(&mut self, script: &mut Script<'_>) {
        let mtu = u32::from(script.u16());
        let reason = script.pick(&[
            Unreachable::PacketTooBig { mtu },
            Unreachable::Destination,
            Unreachable::Protocol,
        ]);
        let Some(sent) = &self.last else { return };
        let quoted = sent.bytes[..usize::from(script.byte()).min(sent.bytes.len())].to_vec();
        self.victim.unreachable(sent.route, reason, &quoted);
    }

    /// Acknowledges everything and answers the last heartbeat.
    fn behave(&mut self, script: &mut Script<'_>) {
        let sack = SackBuilder {
            cumulative_tsn_ack: self.victim_tsn,
            a_rwnd: 20_000,
            gap_ack_blocks: &[],
            duplicate_tsns: &[],
        };
        self.push(&HeartbeatAck { info: &self.info.clone() });
        self.push(&sack);
        if script.one_in(4) {
            self.push(&CookieAck);
        }
        self.flush(script, true);
    }

    /// The peer is gone: so is every association before long (RFC 9260 §8.1).
    fn fall_silent(&mut self) {
        for _ in 0..3000 {
            if self.victim.association_count() == 0 {
                return assert_eq!(self.victim.deadline, None, "timers of nobody");
            }
            assert!(self.victim.pass_to_deadline(), "an association without a timer");
            self.victim.sent.clear();
        }
        panic!("an association outlives its peer");
    }
}

pub(crate) fn route(local: u8, remote: u8) -> Route {
    Route { local: victim_address(local), remote: peer_address(remote) }
}

fn address(script: &mut Script<'_>) -> IpAddr {
    let choices = [
        peer_address(1).ip(),
        peer_address(2).ip(),
        peer_address(3).ip(),
        Ipv4Addr::new(192, 0, 2, script.byte()).into(),
        Ipv4Addr::LOCALHOST.into(),
        Ipv4Addr::BROADCAST.into(),
        Ipv4Addr::UNSPECIFIED.into(),
        "2001:db8::2".parse().expect("an address"),
    ];
    script.pick(&choices)
}

pub(crate) fn packet(tag: u32, chunks: &[u8], checksum: ChecksumMode) -> Vec<u8> {
    struct Raw<'a>(&'a [u8]);
    impl EmitChunk for Raw<'_> {
        fn wire_len(&self) -> usize {
            self.0.len()
        }
        fn emit(&self, out: &mut Vec<u8>) {
            out.extend_from_slice(self.0);
        }
    }
    let header =
        CommonHeader { source_port: PEER_PORT, destination_port: VICTIM_PORT, verification_tag: tag };
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header, usize::MAX);
    assert!(writer.push(&Raw(chunks)));
    writer.finish(checksum);
    out
}
