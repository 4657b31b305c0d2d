//! A terminal, two gateways and a correspondent, and bytes that decide what becomes of what they say to each other: it comes, comes twice, never or
//! damaged, comes to somebody else or from somebody else; time passes, hosts crash. What they keep has to stay bounded, what they send has to be SIP, and
//! in the end nothing may be kept for anybody.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::{Ecn, Input, Instant, LinkFact, Links, Machine, Route, Seed, Sink, Transmit};
use whimbrel_proto::{AssociationId, CloseReason, Mobility, StaticReason};
use whimbrel_ufa::sip::{HardwareAddress, Message, SIP_PORT, SipConfig};
use whimbrel_ufa::{
    Access, ClearSip, Command, Correspondent, Event, Gateway, GatewayConfig, Order, Patience, Release,
    Resources, Terminal, TerminalConfig, UfaPlusPlus,
};

use super::damage::damage;

/// Hosts: the terminal, two gateways, the correspondent.
const HOSTS: usize = 4;
/// Messages on their way at most: older ones are lost.
const ON_THE_WAY: usize = 64;
/// Messages that may come again at any time later.
const KEPT: usize = 32;
/// Bytes that a gateway keeps for terminals that are on their way.
const BUFFER: u64 = 5_000;
/// Packets that one input makes a host send, at most: what waited for a terminal, or one message for each session. When time passes many copies may be due.
const ANSWERS: usize = 64;

enum Host {
    Terminal(Box<Terminal>),
    Gateway(Box<Gateway>),
    Correspondent(Box<Correspondent>),
}

#[derive(Default)]
struct Said {
    sent: Vec<(Route, Vec<u8>)>,
    moves: Vec<IpAddr>,
}

impl Sink<Event> for Said {
    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
        self.sent.push((transmit.route, bytes.to_vec()));
    }

    fn event(&mut self, event: Event) {
        if let Event::Move(_, settings) = event {
            self.moves.push(settings.address);
        }
    }
}

fn address(host: usize, n: u8) -> SocketAddr {
    let ip = match host {
        0 => [10, 1, 0, 2],
        3 => [10, 0, 0, 1],
        gateway => [10, gateway as u8, 0, n],
    };
    SocketAddr::from((ip, SIP_PORT))
}

struct World {
    now: Instant,
    sip: SipConfig,
    hosts: Vec<Host>,
    deadlines: [Option<Instant>; HOSTS],
    wire: VecDeque<(Route, Vec<u8>)>,
    kept: VecDeque<(Route, Vec<u8>)>,
    links: Links,
    terminal: IpAddr,
    born: u64,
}

impl World {
    fn new(supervision: Option<Duration>) -> Self {
        let sip = SipConfig { supervision, ..SipConfig::default() };
        let mut world = Self {
            now: Instant::ZERO,
            sip,
            hosts: Vec::new(),
            deadlines: [None; HOSTS],
            wire: VecDeque::new(),
            kept: VecDeque::new(),
            links: Links::new(&[SocketAddr::new(address(0, 0).ip(), 0)]),
            terminal: address(0, 0).ip(),
            born: 0,
        };
        world.hosts = (0..HOSTS).map(|host| world.make(host)).collect();
        let links = world.links.clone();
        world.step(0, Input::Links(&links));
        world
    }

    fn make(&mut self, host: usize) -> Host {
        self.born += 1;
        let seed = Seed::from_u64(self.born);
        match host {
            0 => {
                let gateway = address(if self.terminal == address(0, 0).ip() { 1 } else { 2 }, 1);
                let address = SocketAddr::new(self.terminal, SIP_PORT);
                let config = TerminalConfig { address, gateway, detection: Duration::ZERO, sip: self.sip };
                Host::Terminal(Box::new(Terminal::new(config, &seed)))
            }
            3 => Host::Correspondent(Box::new(Correspondent::new(
                address(3, 0),
                self.sip,
                Box::new(UfaPlusPlus),
                &seed,
            ))),
            _ => Host::Gateway(Box::new(Gateway::new(self.gateway_config(host), &seed))),
        }
    }

    fn gateway_config(&self, host: usize) -> GatewayConfig {
        GatewayConfig {
            address: address(host, 1),
            access: Access {
                mac: HardwareAddress([2, 0, 0, 0, 0, host as u8]),
                essid: "a network".into(),
                channel: 11,
                netmask: IpAddr::from([255, 255, 255, 0]),
                addresses: (2..6).map(|n| address(host, n).ip()).collect(),
                delay: Duration::from_millis(2),
                key: None,
            },
            resources: Resources {
                throughput: 1_000_000,
                per_terminal: 1_000_000,
                buffer: BUFFER,
                least_buffer: 500,
            },
            order: if host == 1 { Order::OneAfterTheOther } else { Order::AtOnce },
            release: if host == 1 { Release::AtGrantedRate } else { Release::AtOnce },
            patience: Patience::default(),
            sip: self.sip,
            clear: ClearSip::default(),
        }
    }

    fn host_at(&self, ip: IpAddr) -> Option<usize> {
        if ip == self.terminal {
            return Some(0);
        }
        (1..HOSTS).find(|host| address(*host, 1).ip() == ip)
    }

    fn step(&mut self, host: usize, input: Input<'_, Command>) {
        let mut said = Said::default();
        let bound = if matches!(input, Input::Timeout) { usize::MAX } else { ANSWERS };
        self.deadlines[host] = match &mut self.hosts[host] {
            Host::Terminal(terminal) => terminal.step(self.now, [input], &mut said),
            Host::Gateway(gateway) => {
                let deadline = gateway.step(self.now, [input], &mut said);
                assert!(gateway.held_bytes() <= BUFFER, "what waits is bounded");
                deadline
            }
            Host::Correspondent(correspondent) => correspondent.step(self.now, [input], &mut said),
        };
        assert!(said.sent.len() <= bound, "{} answers to one input", said.sent.len());
        for (route, bytes) in said.sent {
            if route.local.port() == SIP_PORT {
                self.sent(route, bytes);
            }
        }
        for to in said.moves {
            self.links.apply(&LinkFact::AddressDown(SocketAddr::new(self.terminal, 0)));
            self.terminal = to;
            self.links.apply(&LinkFact::AddressUp(SocketAddr::new(to, 0)));
            let links = self.links.clone();
            self.step(0, Input::Links(&links));
        }
    }

    fn sent(&mut self, route: Route, bytes: Vec<u8>) {
        let Ok(message) = Message::parse(&bytes) else {
            // What was wrong with a request is wrong with its refusal.
            let text = String::from_utf8_lossy(&bytes);
            let refuses =
                ["400", "416", "501", "505"].iter().any(|code| text.starts_with(&format!("SIP/2.0 {code}")));
            return assert!(refuses, "what a machine sends is SIP: {text}");
        };
        let again = Message::parse(&message.to_bytes()).expect("what is written can be read");
        assert_eq!(again.to_bytes(), message.to_bytes());
        self.wire.push_back((route.reversed(), bytes));
        keep(&mut self.wire, ON_THE_WAY);
    }

    fn deliver(&mut self, route: Route, bytes: &[u8]) {
        let Some(host) = self.host_at(route.local.ip()) else { return };
        self.kept.push_back((route, bytes.to_vec()));
        keep(&mut self.kept, KEPT);
        let segment = bytes.len().max(1);
        self.step(host, Input::Datagrams { route, ecn: Ecn::NotCapable, bytes, segment });
    }

    fn deliver_first(&mut self) {
        if let Some((route, bytes)) = self.wire.pop_front() {
            self.deliver(route, &bytes);
        }
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        // A machine that wants to be called again and again at the same time would never let time pass.
        for _ in 0..10_000 {
            let next = (0..HOSTS).filter_map(|host| Some((self.deadlines[host]?, host))).min();
            let Some((at, host)) = next.filter(|(at, _)| *at <= until) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(at);
            self.step(host, Input::Timeout);
        }
        panic!("deadlines come and come");
    }

    fn transport(&mut self, host: usize, event: whimbrel_proto::Event) {
        self.step(host, Input::Command(Command::Transport(event)));
    }

    fn associate(&mut self, host: usize) {
        let bare = |ip| SocketAddr::new(ip, 0);
        let (mut local, mut remote) = ((self.terminal, 40_000), (address(3, 0).ip(), 5001));
        if host == 3 {
            (local, remote) = (remote, local);
        }
        self.transport(
            host,
            whimbrel_proto::Event::Up {
                association: AssociationId::from_number(7),
                token: None,
                outbound_streams: 1,
                inbound_streams: 1,
                local_port: local.1,
                remote_port: remote.1,
                primary: Route { local: bare(local.0), remote: bare(remote.0) },
                mobility: Mobility::Static(StaticReason::SwitchedOff),
                peer_adaptation: None,
                peer_key: None,
            },
        );
    }

    fn disassociate(&mut self, host: usize) {
        let (association, reason) = (AssociationId::from_number(7), CloseReason::Shutdown);
        self.transport(host, whimbrel_proto::Event::Closed { association, reason, undelivered: 0 });
    }

    /// A message on its way, or one that has come before.
    fn pick(&self, index: u8) -> Option<(Route, Vec<u8>)> {
        let all = self.wire.len() + self.kept.len();
        let index = usize::from(index).checked_rem(all)?;
        self.wire.iter().chain(&self.kept).nth(index).cloned()
    }

    fn act(&mut self, what: u8, how: u8, rest: &mut &[u8]) {
        match what % 24 {
            0..=11 => (0..=how % 4).for_each(|_| self.deliver_first()),
            12 => drop(self.wire.pop_front()),
            13 => {
                if let Some((route, bytes)) = self.pick(how) {
                    self.deliver(route, &bytes);
                }
            }
            14..=17 => {
                if let Some((route, bytes)) = self.pick(how) {
                    self.deliver(route, &damage(&bytes, rest));
                }
            }
            18 => {
                if let Some((_, bytes)) = self.pick(how) {
                    let host = |n: u8| address(usize::from(n) % HOSTS, 1);
                    let route = Route { local: host(how), remote: host(how >> 2) };
                    self.deliver(route, &bytes);
                }
            }
            19 => self.pass(Duration::from_millis(1 << (how % 18))),
            20 => self.pass(Duration::from_millis(u64::from(how))),
            21 if how == 255 => self.step(1, Input::Command(Command::Stop)),
            21 => self.command(how),
            22 => {
                let route = Route {
                    local: SocketAddr::new(address(2, how % 8).ip(), 0),
                    remote: SocketAddr::new(address(3, 0).ip(), 0),
                };
                let (bytes, segment) = (vec![0; 1400], 1400);
                self.step(2, Input::Datagrams { route, ecn: Ecn::NotCapable, bytes: &bytes, segment });
            }
            _ => {
                let host = usize::from(how) % HOSTS;
                self.hosts[host] = self.make(host);
                self.deadlines[host] = None;
                let links = self.links.clone();
                self.step(host, Input::Links(&links));
            }
        }
    }

    fn command(&mut self, how: u8) {
        let terminal = self.terminal;
        match how % 8 {
            0 | 1 => [3, 0].into_iter().for_each(|host| self.associate(host)),
            2..=4 => {
                let (here, there) = if how & 8 == 0 { (1, 2) } else { (2, 1) };
                let candidates = vec![address(there, 1)];
                self.step(here, Input::Command(Command::HandOver { terminal, candidates }));
            }
            5 => self.step(0, Input::Command(Command::CannotMove)),
            6 => self.disassociate(if how & 8 == 0 { 0 } else { 3 }),
            _ => self.step(2, Input::Command(Command::Heard(address(2, how >> 3).ip()))),
        }
    }

    /// The associations end, everything comes, and time passes.
    fn end(&mut self) {
        [0, 3].into_iter().for_each(|host| self.disassociate(host));
        for _ in 0..400 {
            while !self.wire.is_empty() {
                self.deliver_first();
            }
            self.pass(Duration::from_secs(1));
        }
        for host in &self.hosts {
            if let Host::Gateway(gateway) = host {
                assert_eq!(
                    (gateway.held_bytes(), gateway.expected().count()),
                    (0, 0),
                    "nothing waits for anybody"
                );
            }
        }
    }
}

/// Keeps the last ones.
fn keep<T>(all: &mut VecDeque<T>, count: usize) {
    all.drain(..all.len().saturating_sub(count));
}

/// Plays what the bytes say.
pub(crate) fn hostile_sip(bytes: &[u8]) {
    let [first, second, rest @ ..] = bytes else { return };
    let mut world = World::new((first & 1 == 1).then_some(Duration::from_secs(3)));
    // Most begin in the middle of a handover: nothing that damages anything would lead there.
    if first & 6 != 0 {
        [3, 0].into_iter().for_each(|host| world.associate(host));
        (0..8).for_each(|_| world.deliver_first());
    }
    if second & 3 != 0 {
        world.command(2);
        (0..second >> 3).for_each(|_| world.deliver_first());
    }
    let mut rest = rest;
    while let [what, how, then @ ..] = rest {
        rest = then;
        world.act(*what, *how, &mut rest);
    }
    world.end();
}
