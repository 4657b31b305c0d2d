use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Action, HostId, LinkConfig, LinkId, Stopped, World};
use whimbrel_node::Node;
use whimbrel_proto::Config;
use whimbrel_testbed::traffic::{ConstantRate, Traffic};
use whimbrel_testbed::{Log, Notes, SipCommand, SipHost, SipParts, SipRole, SipUser, User};
use whimbrel_ufa::sip::{HardwareAddress, SIP_PORT, SipConfig};
use whimbrel_ufa::{
    Access, ClearSip, Command, Correspondent, Event, Gateway, GatewayConfig, Order, Patience, Release,
    Resources, SessionView, Transition,
};

use crate::mobile::Mobile;
use crate::seen::Seen;

/// How often terminals ask after their gateways, as `whimbrel send` does.
pub(crate) const SUPERVISION: Duration = Duration::from_secs(3);
/// Messages of both ends, and how far they are apart.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);
pub(crate) const MESSAGES: u64 = 1200;
/// bit/s of a terminal.
const THROUGHPUT: u64 = 2_000_000;
/// Places of a gateway.
const PLACES: u8 = 8;

pub(crate) type SipWorld = World<SipHost, SipUser<Log>>;

/// What a bed is made of.
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// The gateways that terminals are at.
    pub(crate) terminals: Vec<usize>,
    /// For how many terminals each gateway has throughput.
    pub(crate) rooms: Vec<u64>,
    pub(crate) order: Order,
    pub(crate) transition: Box<dyn Transition>,
}

/// A correspondent, gateways, and terminals that go where these say.
pub(crate) struct Bed {
    pub(crate) world: SipWorld,
    pub(crate) cn: HostId,
    pub(crate) gateways: Vec<HostId>,
    pub(crate) mobiles: Vec<Mobile>,
    /// From the core to each gateway.
    pub(crate) wires: Vec<LinkId>,
    /// Whether each gateway runs.
    runs: Vec<bool>,
    configs: Vec<GatewayConfig>,
    /// Moves that fail from now on: the link cannot be attached.
    pub(crate) attach_fails: bool,
    lives: u64,
    /// Addresses of terminals that are expected, by gateway.
    expected: Vec<Vec<IpAddr>>,
    pub(crate) seen: Notes<Seen>,
}

pub(crate) fn correspondent() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 0))
}

pub(crate) fn gateway_address(gateway: usize) -> SocketAddr {
    SocketAddr::from(([10, gateway as u8 + 1, 0, 1], SIP_PORT))
}

fn config(gateway: usize, rooms: u64, order: Order) -> GatewayConfig {
    let place = |n| IpAddr::from([10, gateway as u8 + 1, 0, 100 + n]);
    GatewayConfig {
        address: gateway_address(gateway),
        access: Access {
            mac: HardwareAddress([2, 0, 0, 0, 0, gateway as u8 + 1]),
            essid: format!("gateway {gateway}"),
            channel: 1,
            netmask: IpAddr::from([255, 255, 255, 0]),
            addresses: (0..PLACES).map(place).collect(),
            delay: Duration::from_millis(5),
            key: None,
        },
        resources: Resources {
            throughput: rooms * THROUGHPUT,
            per_terminal: THROUGHPUT,
            buffer: 1 << 18,
            least_buffer: 1 << 17,
        },
        order,
        release: Release::AtGrantedRate,
        patience: Patience::default(),
        sip: sip(),
        clear: ClearSip::default(),
    }
}

pub(crate) fn sip() -> SipConfig {
    SipConfig { supervision: Some(SUPERVISION), ..SipConfig::default() }
}

pub(crate) fn traffic(size: usize) -> Box<dyn Traffic> {
    Box::new(ConstantRate::every(size, INTERVAL, MESSAGES))
}

/// Bytes of a terminal's messages: by them the correspondent tells whose they are.
pub(crate) const fn size_of(terminal: usize) -> usize {
    500 + 100 * terminal
}

pub(crate) fn link(delay: u64) -> LinkConfig {
    LinkConfig { rate_bps: Some(8_000_000), delay: Duration::from_millis(delay), ..LinkConfig::default() }
}

impl Bed {
    pub(crate) fn new(plan: Plan) -> Self {
        let mut world = World::new(Seed::from_u64(plan.seed));
        let shared = Arc::new(Config::mobile());
        let node = |seed: &Seed, number, local| {
            Node::new(Arc::clone(&shared), seed.child("host", number), vec![local])
        };
        let core = world.add_router();
        let sip_address = SocketAddr::new(correspondent().ip(), SIP_PORT);
        let role = Correspondent::new(sip_address, sip(), plan.transition, &world.seed().child("sip", 0));
        let machine =
            SipParts::both(node(world.seed(), 0, correspondent()), SipRole::Correspondent(Box::new(role)));
        let cn = world.add_host("cn", machine, SipUser::new(User::replier(traffic(500))));
        let own = world.add_interface(cn, [correspondent().ip()]);
        world.add_link(own, core, LinkConfig::default(), LinkConfig::default());
        let (mut gateways, mut relays, mut wires, mut configs) = (vec![], vec![], vec![], vec![]);
        for (number, rooms) in plan.rooms.iter().enumerate() {
            let config = config(number, *rooms, plan.order);
            let machine = Gateway::new(config.clone(), &world.seed().child("gateway", number as u64));
            let host =
                world.add_host(&format!("gateway{number}"), SipParts::gateway(machine), SipUser::listening());
            let relay = world.add_relay(host);
            wires.push(world.add_link(core, relay, link(10), link(10)));
            let own = world.add_interface(host, [gateway_address(number).ip()]);
            world.add_link(own, relay, LinkConfig::default(), LinkConfig::default());
            gateways.push(host);
            relays.push(relay);
            configs.push(config);
        }
        let mut mobiles = Vec::new();
        for (number, at) in plan.terminals.iter().enumerate() {
            mobiles.push(Mobile::new(&mut world, &node, &relays, number, *at));
        }
        let (seen, watcher) = Seen::observe();
        world.set_intruder(Some(watcher));
        let runs = vec![true; gateways.len()];
        Self {
            world,
            cn,
            gateways,
            mobiles,
            wires,
            runs,
            configs,
            attach_fails: false,
            lives: 0,
            expected: Vec::new(),
            seen,
        }
    }

    /// The network decides.
    pub(crate) fn hand_over(&mut self, gateway: usize, terminal: IpAddr, to: &[usize]) {
        let candidates = to.iter().map(|to| gateway_address(*to)).collect();
        let command = SipCommand::Sip(Command::HandOver { terminal, candidates });
        self.world.act(Action::Command(self.gateways[gateway], command));
    }

    /// Everything that a gateway knows is lost, and it routes nothing.
    pub(crate) fn crash(&mut self, gateway: usize) {
        self.runs[gateway] = false;
        self.world.act(Action::Crash(self.gateways[gateway]));
    }

    pub(crate) fn start_anew(&mut self, gateway: usize) {
        self.lives += 1;
        let seed = self.world.seed().child("life", self.lives);
        let machine = SipParts::gateway(Gateway::new(self.configs[gateway].clone(), &seed));
        let fresh = Box::new((machine, SipUser::listening()));
        self.world.act(Action::Restart(self.gateways[gateway], fresh));
        self.runs[gateway] = true;
    }

    /// It stands still, and goes on where it was.
    pub(crate) fn freeze(&mut self, gateway: usize) {
        self.runs[gateway] = false;
        self.world.act(Action::Suspend(self.gateways[gateway]));
    }

    pub(crate) fn thaw(&mut self, gateway: usize) {
        self.world.act(Action::Resume(self.gateways[gateway]));
        self.runs[gateway] = true;
    }

    /// Between the core and each gateway, and between each gateway and its terminals.
    pub(crate) fn all_links(&self) -> Vec<LinkId> {
        let radios = self.mobiles.iter().flat_map(|mobile| mobile.radios.iter().map(|radio| radio.link));
        self.wires.iter().copied().chain(radios).collect()
    }

    /// Lets time pass; terminals go where they are sent.
    pub(crate) fn run_until(&mut self, until: Instant) {
        loop {
            let arrives = self.mobiles.iter().filter_map(|mobile| mobile.arrives.map(|(at, ..)| at)).min();
            let look = self.world.now() + Duration::from_millis(200);
            let until_then = until.min(look).min(arrives.unwrap_or(until));
            let heard: Vec<(HostId, usize)> =
                self.mobiles.iter().map(|mobile| (mobile.host, mobile.seen)).collect();
            let news =
                |world: &SipWorld| heard.iter().any(|(host, seen)| world.app(*host).heard.len() > *seen);
            let stopped = self.world.run_until_or(until_then, news);
            assert!(stopped != Stopped::Livelock, "a livelock");
            self.lead_to_targets();
            for number in 0..self.mobiles.len() {
                self.follow(number);
                self.watch(number);
            }
            if self.world.now() >= until && stopped != Stopped::Satisfied {
                return;
            }
        }
    }

    /// What is sent to an address that a gateway keeps comes to that gateway from then on.
    fn lead_to_targets(&mut self) {
        let expected = expected(&self.world, &self.gateways);
        for (gateway, addresses) in expected.iter().enumerate() {
            for address in addresses
                .iter()
                .filter(|address| self.expected.get(gateway).is_none_or(|before| !before.contains(address)))
            {
                let of = |session: &SessionView| session.terminal == *address;
                let Some(session) = self.sessions(gateway).into_iter().find(of) else { continue };
                let from = session.application.terminal.ip();
                if let Some(mobile) = self.mobiles.iter().find(|mobile| mobile.address == from) {
                    self.world.act(Action::AddAddress(mobile.radios[gateway].interface, *address));
                }
            }
        }
        self.expected = expected;
    }

    fn follow(&mut self, number: usize) {
        let Self { world, mobiles, gateways, attach_fails, .. } = self;
        let mobile = &mut mobiles[number];
        while let Some((_, event)) = world.app(mobile.host).heard.get(mobile.seen).cloned() {
            mobile.seen += 1;
            mobile.hear(world, &event, gateways.len(), *attach_fails);
        }
        if let Some((_, gateway, address, sent)) = mobile.arrives.take_if(|(at, ..)| *at <= world.now()) {
            mobile.come(world, gateway, address);
            if !sent {
                world.act(Action::Command(mobile.host, SipCommand::Sip(Command::CannotMove)));
            }
        }
    }

    fn watch(&mut self, number: usize) {
        let (now, mobile) = (self.world.now(), &self.mobiles[number]);
        let place = mobile.arrives.map_or(mobile.address, |(_, _, address, _)| address);
        let known = (0..self.gateways.len())
            .any(|gateway| self.sessions(gateway).iter().any(|session| session.terminal == place));
        let has = known || !mobile.network_decides.load(Ordering::Relaxed);
        let mobile = &mut self.mobiles[number];
        let count = |is_so: bool, since: &mut Option<Instant>, longest: &mut Duration| {
            *since = is_so.then(|| since.unwrap_or(now));
            *longest = since.map_or(*longest, |since| (*longest).max(now.saturating_since(since)));
        };
        count(!has, &mut mobile.without, &mut mobile.longest_without);
        let here = !has && !mobile.is_on_its_way;
        count(here, &mut mobile.without_here, &mut mobile.longest_without_here);
    }

    // ---- views

    /// What SIP has said on each host, for whoever looks for what went wrong.
    pub(crate) fn tell(&self) {
        let hosts = [self.cn]
            .into_iter()
            .chain(self.gateways.clone())
            .chain(self.mobiles.iter().map(|mobile| mobile.host));
        for (number, host) in hosts.enumerate() {
            for (at, event) in &self.world.app(host).heard {
                eprintln!("{at} host {number}: {event:?}");
            }
        }
    }

    /// A gateway's machine; `None` if it does not run.
    pub(crate) fn gateway(&self, gateway: usize) -> Option<&Gateway> {
        match &self.world.machine(self.gateways[gateway]).parts().sip {
            SipRole::Gateway(machine) if self.runs[gateway] => Some(machine),
            _ => None,
        }
    }

    pub(crate) fn sessions(&self, gateway: usize) -> Vec<SessionView> {
        self.gateway(gateway).map(|machine| machine.sessions().collect()).unwrap_or_default()
    }

    /// How handovers have ended, as a gateway tells it.
    pub(crate) fn ends(&self, gateway: usize) -> Vec<&'static str> {
        let end = |(_, event): &(Instant, Event)| match event {
            Event::HandedOver { .. } => Some("handed over"),
            Event::Stays { .. } => Some("stays"),
            Event::Astray { .. } => Some("astray"),
            _ => None,
        };
        self.world.app(self.gateways[gateway]).heard.iter().filter_map(end).collect()
    }

    pub(crate) fn said(&self, host: HostId, what: impl Fn(&Event) -> bool) -> usize {
        self.world.app(host).heard.iter().filter(|(_, event)| what(event)).count()
    }

    /// Every message is there once, in order, at both ends, and the associations are up. Between the correspondent and the first terminal both ends talk, and the
    /// other terminals talk alone.
    pub(crate) fn judge_data(&self) {
        let log = |host| &self.world.app(host).user().unwrap().record;
        for (number, mobile) in self.mobiles.iter().enumerate() {
            assert!(!log(mobile.host).closed(), "the association of terminal {number} has ended");
            let of = |size: usize| {
                log(self.cn).received.iter().filter(move |(_, received)| received.payload.len() == size)
            };
            let up: Vec<u32> =
                of(size_of(number)).map(|(_, received)| received.ppid.0 & 0x7fff_ffff).collect();
            assert!(
                up.iter().copied().eq(0..MESSAGES as u32),
                "from terminal {number}: {} of {MESSAGES}",
                up.len()
            );
        }
        let down: Vec<u32> = log(self.mobiles[0].host)
            .received
            .iter()
            .map(|(_, received)| received.ppid.0 & 0x7fff_ffff)
            .collect();
        assert!(down.iter().copied().eq(0..MESSAGES as u32), "to the terminal: {} of {MESSAGES}", down.len());
        assert!(!log(self.cn).closed(), "the correspondent's association has ended");
    }

    /// Nothing waits, nobody is expected, and sessions are of terminals that are there.
    pub(crate) fn judge_gateways(&self) {
        for number in 0..self.gateways.len() {
            let Some(gateway) = self.gateway(number) else { continue };
            assert_eq!((gateway.held_bytes(), gateway.expected().count()), (0, 0), "gateway {number}");
            for session in gateway.sessions() {
                let there = |mobile: &Mobile| (mobile.at, mobile.address) == (number, session.terminal);
                assert!(
                    session.state == "here" && self.mobiles.iter().any(there),
                    "gateway {number}: {session:?}"
                );
            }
        }
        for (number, mobile) in self.mobiles.iter().enumerate() {
            let sessions = (0..self.gateways.len()).flat_map(|gateway| self.sessions(gateway));
            let own = sessions.filter(|session| session.terminal == mobile.address).count();
            let decides = mobile.network_decides.load(Ordering::Relaxed);
            assert_eq!(own, usize::from(decides), "terminal {number} has a session, or decides by itself");
        }
    }
}

/// Addresses of terminals that are expected, by gateway.
fn expected(world: &SipWorld, gateways: &[HostId]) -> Vec<Vec<IpAddr>> {
    let of = |host: &HostId| match &world.machine(*host).parts().sip {
        SipRole::Gateway(gateway) => gateway.expected().collect(),
        _ => Vec::new(),
    };
    gateways.iter().map(of).collect()
}
