//! A terminal, two gateways and a correspondent, with a network between them that loses, doubles and delays what it is told to.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::BTreeMap;

use whimbrel_machine::{Input, Instant, LinkFact, Links, Machine, Rng, Route, Seed};
use whimbrel_proto::{AssociationId, Mobility, StaticReason};

use crate::sip::{HardwareAddress, Message, SIP_PORT, SipConfig};
use crate::{
    Access, ClearSip, Command, Correspondent, Event, Gateway, GatewayConfig, Order, Patience, Release,
    Resources, Terminal, TerminalConfig, UfaPlusPlus,
};

mod data;
mod said;
mod wire;

pub(crate) use self::data::Data;
pub(crate) use self::said::Said;
pub(crate) use self::wire::{Faults, Mishap, Victim};

/// The hosts by number.
pub(crate) const TERMINAL: usize = 0;
/// Where the terminal is to begin with.
pub(crate) const SOURCE: usize = 1;
/// Where it goes.
pub(crate) const TARGET: usize = 2;
/// Whom it talks to.
pub(crate) const CORRESPONDENT: usize = 3;

/// From one host to another, one way.
pub(crate) const DELAY: Duration = Duration::from_millis(10);
/// How long the terminal is nowhere.
const GAP: Duration = Duration::from_millis(150);

enum Host {
    Terminal(Box<Terminal>),
    Gateway(Box<Gateway>),
    Correspondent(Box<Correspondent>),
}

/// A host without power.
pub(crate) struct Stopped(Option<Host>, Option<Instant>);

/// Everything.
pub(crate) struct Scene {
    pub(crate) now: Instant,
    hosts: Vec<Option<Host>>,
    deadlines: [Option<Instant>; 4],
    wire: BTreeMap<(Instant, u64), (Route, Vec<u8>)>,
    sent: u64,
    pub(crate) faults: Faults,
    /// A kind of message that does not come as it should.
    pub(crate) victim: Option<Victim>,
    rng: Rng,
    /// What hosts have said, by their numbers.
    pub(crate) heard: Vec<(Instant, usize, Event)>,
    /// SIP as it was sent first: from which host to which, method or status, and the message.
    pub(crate) log: Vec<(Instant, usize, usize, Message)>,
    /// Where the terminal can be reached.
    here: Option<IpAddr>,
    arrives: Option<(Instant, IpAddr)>,
    links: Links,
    /// Never comes anywhere again.
    pub(crate) stranded: bool,
    /// Packets that are no SIP and that hosts have sent.
    pub(crate) released: Vec<(Route, Vec<u8>)>,
}

pub(crate) fn address(host: usize, n: u8) -> SocketAddr {
    let ip = match host {
        TERMINAL => [10, 1, 0, 2],
        CORRESPONDENT => [10, 0, 0, 1],
        gateway => [10, gateway as u8, 0, n],
    };
    SocketAddr::from((ip, SIP_PORT))
}

pub(crate) fn gateway_config(host: usize) -> GatewayConfig {
    GatewayConfig {
        address: address(host, 1),
        access: Access {
            mac: HardwareAddress([2, 0, 0, 0, 0, host as u8]),
            essid: format!("a network; the {host}th"),
            channel: 11,
            netmask: IpAddr::from([255, 255, 255, 0]),
            addresses: (2..10).map(|n| address(host, n).ip()).collect(),
            delay: Duration::from_millis(2),
            key: None,
        },
        resources: Resources {
            throughput: 1_000_000,
            per_terminal: 1_000_000,
            buffer: 100_000,
            least_buffer: 3000,
        },
        order: Order::OneAfterTheOther,
        release: Release::default(),
        patience: Patience::default(),
        sip: SipConfig::default(),
        clear: ClearSip::default(),
    }
}

impl Scene {
    pub(crate) fn new(seed: u64) -> Self {
        Self::with(seed, |_, config| config)
    }

    /// With gateways that `change` makes what they are to be.
    pub(crate) fn with(seed: u64, change: impl Fn(usize, GatewayConfig) -> GatewayConfig) -> Self {
        let seed = Seed::from_u64(seed);
        let gateway =
            |host| Gateway::new(change(host, gateway_config(host)), &seed.child("host", host as u64));
        let config = TerminalConfig {
            address: address(TERMINAL, 0),
            gateway: address(SOURCE, 1),
            detection: Duration::ZERO,
            sip: change(SOURCE, gateway_config(SOURCE)).sip,
        };
        let terminal = Terminal::new(config, &seed.child("host", 0));
        let there = address(CORRESPONDENT, 0);
        let correspondent =
            Correspondent::new(there, SipConfig::default(), Box::new(UfaPlusPlus), &seed.child("host", 3));
        let mut scene = Self {
            now: Instant::ZERO,
            hosts: vec![
                Some(Host::Terminal(Box::new(terminal))),
                Some(Host::Gateway(Box::new(gateway(SOURCE)))),
                Some(Host::Gateway(Box::new(gateway(TARGET)))),
                Some(Host::Correspondent(Box::new(correspondent))),
            ],
            deadlines: [None; 4],
            wire: BTreeMap::new(),
            sent: 0,
            faults: Faults::default(),
            victim: None,
            rng: seed.stream("network", 0),
            heard: Vec::new(),
            log: Vec::new(),
            here: Some(address(TERMINAL, 0).ip()),
            arrives: None,
            links: Links::new(&[SocketAddr::new(address(TERMINAL, 0).ip(), 0)]),
            stranded: false,
            released: Vec::new(),
        };
        let links = scene.links.clone();
        scene.step(TERMINAL, Input::Links(&links));
        scene
    }

    /// With a session that is up.
    pub(crate) fn talking(seed: u64) -> Self {
        let mut scene = Self::new(seed);
        scene.talk();
        scene
    }

    /// A host's power fails; what it knows is kept.
    pub(crate) fn stop(&mut self, host: usize) -> Stopped {
        Stopped(self.hosts[host].take(), self.deadlines[host].take())
    }

    /// It goes on where it was.
    pub(crate) fn start(&mut self, host: usize, stopped: Stopped) {
        (self.hosts[host], self.deadlines[host]) = (stopped.0, stopped.1);
    }

    /// A gateway is started anew and knows nothing.
    pub(crate) fn replace_gateway(
        &mut self,
        host: usize,
        change: impl Fn(usize, GatewayConfig) -> GatewayConfig,
    ) {
        let gateway = Gateway::new(change(host, gateway_config(host)), &Seed::from_u64(77));
        self.hosts[host] = Some(Host::Gateway(Box::new(gateway)));
        self.deadlines[host] = None;
    }

    pub(crate) fn talk(&mut self) {
        self.associate();
        self.pass(Duration::from_secs(1));
        assert!(self.said(TERMINAL).iter().any(|event| matches!(event, Event::Established(_))));
    }

    /// The association of both ends comes up.
    pub(crate) fn associate(&mut self) {
        let (terminal, correspondent) = (address(TERMINAL, 0).ip(), address(CORRESPONDENT, 0).ip());
        let bare = |ip| SocketAddr::new(ip, 0);
        for (host, local, remote, local_port, remote_port) in [
            (CORRESPONDENT, correspondent, terminal, 5001, 40_000),
            (TERMINAL, terminal, correspondent, 40_000, 5001),
        ] {
            let up = whimbrel_proto::Event::Up {
                association: AssociationId::from_number(7),
                token: None,
                outbound_streams: 1,
                inbound_streams: 1,
                local_port,
                remote_port,
                primary: Route { local: bare(local), remote: bare(remote) },
                mobility: Mobility::Static(StaticReason::SwitchedOff),
                peer_adaptation: None,
                peer_key: None,
            };
            self.step(host, Input::Command(Command::Transport(up)));
        }
    }

    /// The association ends at one end.
    pub(crate) fn disassociate(&mut self, host: usize) {
        let closed = whimbrel_proto::Event::Closed {
            association: AssociationId::from_number(7),
            reason: whimbrel_proto::CloseReason::Shutdown,
            undelivered: 0,
        };
        self.step(host, Input::Command(Command::Transport(closed)));
    }

    /// The network decides.
    pub(crate) fn hand_over(&mut self) {
        let terminal = address(TERMINAL, 0).ip();
        let candidates = vec![address(TARGET, 1)];
        self.step(SOURCE, Input::Command(Command::HandOver { terminal, candidates }));
    }

    /// A gateway is told to end.
    pub(crate) fn stop_gateway(&mut self, host: usize) {
        self.command(host, Command::Stop);
    }

    pub(crate) fn command(&mut self, host: usize, command: Command) {
        self.step(host, Input::Command(command));
    }

    pub(crate) fn crash(&mut self, host: usize) {
        self.hosts[host] = None;
        self.deadlines[host] = None;
    }

    /// A data packet comes to a host.
    pub(crate) fn deliver(&mut self, host: usize, route: Route, bytes: &[u8]) -> Vec<(Route, Vec<u8>)> {
        let ecn = whimbrel_machine::Ecn::NotCapable;
        let mut said = Said::default();
        self.step_into(host, Input::Datagrams { route, ecn, bytes, segment: bytes.len() }, &mut said);
        let (sip, data) = said.sent.into_iter().partition(|(route, _)| route.remote.port() == SIP_PORT);
        said.sent = sip;
        self.take(host, said);
        data
    }

    /// SIP comes to a host from somebody who is not among them.
    pub(crate) fn deliver_sip(&mut self, host: usize, local: SocketAddr, from: SocketAddr, bytes: &[u8]) {
        let (route, ecn) = (Route { local, remote: from }, whimbrel_machine::Ecn::NotCapable);
        self.step(host, Input::Datagrams { route, ecn, bytes, segment: bytes.len() });
    }

    /// The terminal has not got anywhere, and is where it was to begin with.
    pub(crate) fn come_back(&mut self) {
        self.here = Some(address(TERMINAL, 0).ip());
    }

    /// Where the terminal is, or will be when it gets there.
    pub(crate) fn place(&self) -> Option<IpAddr> {
        self.here.or(self.arrives.map(|(_, address)| address))
    }

    /// Where the terminal is.
    pub(crate) fn terminal_address(&self) -> SocketAddr {
        SocketAddr::new(self.here.expect("it is somewhere"), SIP_PORT)
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.next_at().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.happen();
        }
        self.now = until;
    }

    fn next_at(&self) -> Option<Instant> {
        let wire = self.wire.keys().next().map(|(at, _)| *at);
        let arrives = self.arrives.map(|(at, _)| at);
        self.deadlines.iter().copied().flatten().chain(wire).chain(arrives).min()
    }

    fn happen(&mut self) {
        if let Some((_, address)) = self.arrives.take_if(|(at, _)| *at <= self.now) {
            self.here = Some(address);
            self.links.apply(&LinkFact::AddressUp(SocketAddr::new(address, 0)));
            let links = self.links.clone();
            return self.step(TERMINAL, Input::Links(&links));
        }
        if let Some(entry) = self.wire.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (route, bytes) = entry.remove();
            let Some(host) = self.host_at(route.remote.ip()) else { return };
            let (segment, ecn) = (bytes.len(), whimbrel_machine::Ecn::NotCapable);
            let route = route.reversed();
            return self.step(host, Input::Datagrams { route, ecn, bytes: &bytes, segment });
        }
        for host in 0..4 {
            if self.deadlines[host].is_some_and(|deadline| deadline <= self.now) {
                return self.step(host, Input::Timeout);
            }
        }
    }

    fn host_at(&self, ip: IpAddr) -> Option<usize> {
        if Some(ip) == self.here {
            return Some(TERMINAL);
        }
        [SOURCE, TARGET, CORRESPONDENT].into_iter().find(|host| address(*host, 1).ip() == ip)
    }

    fn step(&mut self, host: usize, input: Input<'_, Command>) {
        let mut said = Said::default();
        self.step_into(host, input, &mut said);
        self.take(host, said);
    }

    fn step_into(&mut self, host: usize, input: Input<'_, Command>, said: &mut Said) {
        let Some(machine) = &mut self.hosts[host] else { return };
        self.deadlines[host] = match machine {
            Host::Terminal(terminal) => terminal.step(self.now, [input], said),
            Host::Gateway(gateway) => gateway.step(self.now, [input], said),
            Host::Correspondent(correspondent) => correspondent.step(self.now, [input], said),
        };
    }

    fn take(&mut self, host: usize, said: Said) {
        for (route, bytes) in said.sent {
            self.send(host, route, bytes);
        }
        for event in said.events {
            if let Event::Move(_, settings) = &event {
                self.here = None;
                if !self.stranded {
                    self.arrives = Some((self.now + GAP, settings.address));
                }
            }
            self.heard.push((self.now, host, event));
        }
    }

    // ---- views

    pub(crate) fn said(&self, host: usize) -> Vec<&Event> {
        self.heard.iter().filter(|(_, of, _)| *of == host).map(|(.., event)| event).collect()
    }

    pub(crate) fn gateway(&self, host: usize) -> &Gateway {
        match &self.hosts[host] {
            Some(Host::Gateway(gateway)) => gateway,
            _ => panic!("host {host} is no gateway that runs"),
        }
    }

    /// Whether a host has power.
    pub(crate) fn runs(&self, host: usize) -> bool {
        self.hosts[host].is_some()
    }

    /// Whether any machine has something to do still.
    pub(crate) fn is_quiet(&self) -> bool {
        self.next_at().is_none()
    }

    /// Commands to the SCTP of a host, as texts.
    pub(crate) fn orders(&self, host: usize) -> Vec<String> {
        let order = |event: &&Event| match event {
            Event::Transport(order) => Some(format!("{:?}", order.0)),
            _ => None,
        };
        self.said(host).iter().filter_map(order).collect()
    }
}
