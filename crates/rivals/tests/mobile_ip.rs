//! TCP over Mobile IP, against its latency budget.
#[path = "common/capture.rs"]
mod capture;

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use capture::{open_ipv4, tcp_is_right};
use whimbrel_machine::{Instant, LinkFact, Route, Seed};
use whimbrel_netsim::{
    Action, App, Change, Context, HostId, InFlight, LinkConfig, LinkId, Mixed, Side, World,
};
use whimbrel_rivals::mobile_ip::{Attachment, ForeignAgent, HomeAgent, MobileNode};
use whimbrel_rivals::tcp::{ConnectionId, ConstantRate, DelayedAck, Tcp, TcpCommand, TcpConfig, TcpEvent};
use whimbrel_testbed::{Captured, Memory};

type Host = Mixed<Mixed<Tcp, MobileNode<Tcp>>, Mixed<HomeAgent, ForeignAgent>>;
type HostCommand = Mixed<Mixed<TcpCommand, TcpCommand>, Mixed<(), ()>>;
type HostEvent = Mixed<Mixed<TcpEvent, TcpEvent>, Mixed<(), ()>>;

const HOME: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 9);
const HOME_AGENT: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
const CORRESPONDENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const WIRED: Duration = Duration::from_millis(40);
const RADIO: Duration = Duration::from_millis(3);

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn at(ip: Ipv4Addr) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(ip), 0)
}

/// The addresses of a network: care-of, the agent's on the link, the node's on the link.
fn network(number: u8) -> [Ipv4Addr; 3] {
    [1, 2, 3].map(|last| Ipv4Addr::new(10, 1, number, last))
}

#[derive(Default)]
struct Log {
    starts: bool,
    received: Vec<(Instant, u64)>,
}

impl App<Host> for Log {
    fn on_start(&mut self, context: &mut Context<'_, HostCommand>) {
        if self.starts {
            context.wake_at(ms(1000), 0);
        }
    }

    fn on_wake(&mut self, _token: u64, context: &mut Context<'_, HostCommand>) {
        let route = Route { local: at(CORRESPONDENT), remote: at(HOME) };
        let source = Box::new(ConstantRate::new(500, Duration::from_millis(10), 2000));
        context.command(Mixed::First(Mixed::First(TcpCommand::Open { route, port: 80, source })));
    }

    fn on_event(&mut self, event: HostEvent, context: &mut Context<'_, HostCommand>) {
        if let Mixed::First(Mixed::Second(TcpEvent::Received { bytes, .. })) = event {
            self.received.push((context.now(), bytes));
        }
    }
}

struct Scene {
    world: World<Host, Log>,
    correspondent: HostId,
    node: HostId,
    agent: HostId,
    /// The correspondent's link, and the home agent's.
    near: [LinkId; 2],
    radio: [LinkId; 2],
}

/// The correspondent and the home agent hang on one router; wires of 40 ms lead from it to the two access routers.
fn scene() -> Scene {
    ranked([0, 0])
}

fn ranked(ranks: [u8; 2]) -> Scene {
    let mut world = World::new(Seed::from_u64(1));
    let delayed_ack = DelayedAck { segments: 1, after: Duration::ZERO };
    let config = Arc::new(TcpConfig { delayed_ack, ..TcpConfig::default() });
    let tcp = |number| Tcp::new(config.clone(), &Seed::from_u64(number));
    let attachments = [0, 1].map(|number| {
        let [_, agent, local] = network(number);
        Attachment { local, agent, rank: ranks[usize::from(number)] }
    });
    let log = Log { starts: true, ..Log::default() };
    let correspondent = world.add_host("correspondent", Mixed::First(Mixed::First(tcp(1))), log);
    let node = MobileNode::new(tcp(2), HOME, HOME_AGENT, attachments.to_vec());
    let node = world.add_host("node", Mixed::First(Mixed::Second(node)), Log::default());
    let home_agent = Mixed::Second(Mixed::First(HomeAgent::new(HOME_AGENT)));
    let agent = world.add_host("home", home_agent, Log::default());
    let router = world.add_router();
    let near = LinkConfig { mtu: 2000, ..LinkConfig::default() };
    let wired = LinkConfig { delay: WIRED, ..near };
    let hosts = [(correspondent, vec![CORRESPONDENT]), (agent, vec![HOME_AGENT, HOME])];
    let near_links = hosts.map(|(host, addresses)| {
        let interface = world.add_interface(host, addresses.into_iter().map(IpAddr::V4));
        world.add_link(interface, router, near, near)
    });
    let radio = [0, 1].map(|number| {
        let [care_of, link, local] = network(number);
        let agent = Mixed::Second(Mixed::Second(ForeignAgent::new(care_of, link)));
        let host = world.add_host("access", agent, Log::default());
        let core = world.add_interface(host, [IpAddr::V4(care_of)]);
        world.add_link(router, core, wired, wired);
        let access = world.add_interface(host, [IpAddr::V4(link)]);
        let mobile = world.add_interface(node, [IpAddr::V4(local)]);
        let radio = LinkConfig { delay: RADIO, ..near };
        world.add_link(access, mobile, radio, radio)
    });
    Scene { world, correspondent, node, agent, near: near_links, radio }
}

impl Scene {
    fn up(&mut self, time: Instant, number: u8) {
        let fact = LinkFact::AddressUp(at(network(number)[2]));
        self.world.schedule(time, Action::Fact(self.node, fact));
    }

    /// The node leaves coverage and knows it.
    fn down(&mut self, time: Instant, number: u8) {
        let link = self.radio[usize::from(number)];
        self.world.schedule(time, Action::Link(link, Side::Both, Change::Down(InFlight::Lost)));
        let fact = LinkFact::AddressDown(at(network(number)[2]));
        self.world.schedule(time, Action::Fact(self.node, fact));
    }

    fn node(&self) -> &MobileNode<Tcp> {
        self.world.machine(self.node).first().and_then(Mixed::second).expect("the node")
    }

    fn agent(&self) -> &HomeAgent {
        self.world.machine(self.agent).second().and_then(Mixed::first).expect("the home agent")
    }
}

/// A registration takes radio and wire there and back; the home agent tunnels to the new address after half of it, and the
/// first packet is there after another wire and radio: nothing is lost as long as the old network is heard.
#[test]
fn a_soft_handover_within_the_overlap_loses_nothing() {
    let mut scene = scene();
    scene.up(ms(0), 0);
    scene.up(ms(5000), 1);
    scene.down(ms(5500), 0);
    scene.world.run_until(ms(0) + (RADIO + WIRED) * 2 - Duration::from_nanos(1));
    assert_eq!(scene.node().current(), None);
    scene.world.run_until(ms(0) + (RADIO + WIRED) * 2);
    assert_eq!(scene.node().current(), Some(0), "one round trip to the home agent");
    scene.world.run_until(ms(5000) + RADIO + WIRED - Duration::from_nanos(1));
    assert_eq!(scene.agent().care_of(HOME), Some(network(0)[0]));
    scene.world.run_until(ms(5000) + RADIO + WIRED);
    assert_eq!(scene.agent().care_of(HOME), Some(network(1)[0]));
    scene.world.run_until(ms(30_000));
    let stats = scene.node().stats();
    assert_eq!((stats.registrations, stats.moves), (2, 1));
    let last_old = ms(5000) + (RADIO + WIRED) * 2;
    // What left the home agent before that is there after a wire and a radio, and nothing after it: a packet leaves every 10 ms.
    let last = stats.last_packet[0];
    assert!(last <= last_old && last + Duration::from_millis(10) > last_old, "{:?}", stats.last_packet);
    // The first packet over the new network comes as the next in the series.
    let received = &scene.world.app(scene.node).received;
    let after = received.iter().find(|(at, _)| *at > last).expect("data over the new network").0;
    let next = last_old + Duration::from_millis(10);
    assert!(after >= last_old && after <= next, "{after}, not between {last_old} and {next}");
    let sender = scene.world.machine(scene.correspondent).first().and_then(Mixed::first).expect("TCP");
    let sender = sender.stats(ConnectionId(0)).expect("opened");
    assert_eq!((sender.retransmissions, sender.timeouts), (0, 0));
    assert_eq!(scene.node().inner().stats(ConnectionId(0)).expect("accepted").received, 2000 * 500);
}

/// Coverage ends 2 s before the next network is usable. The sender knows of nothing: it repeats at RTO 1 s and 2 s (as c04 has
/// it), so although the home agent knows the way from 7.043 s on, nothing comes before the timer.
#[test]
fn after_a_gap_the_backed_off_timer_decides() {
    let mut scene = scene();
    scene.up(ms(0), 0);
    scene.down(ms(5000), 0);
    scene.up(ms(7000), 1);
    scene.world.run_until(ms(7000) + RADIO + WIRED - Duration::from_nanos(1));
    assert_ne!(scene.agent().care_of(HOME), Some(network(1)[0]));
    scene.world.run_until(ms(7000) + RADIO + WIRED);
    assert_eq!(scene.agent().care_of(HOME), Some(network(1)[0]), "the way is there from 7.043 s on");
    scene.world.run_until(ms(30_000));
    let received = &scene.world.app(scene.node).received;
    // The last packet whose acknowledgement got over the radio.
    let before = received.iter().rev().find(|(at, _)| *at <= ms(5000) - RADIO).expect("data").0;
    let first = received.iter().find(|(at, _)| *at > ms(5000)).expect("data").0;
    // The timer restarted with the last acknowledgement, half a round trip after the last packet: 1 s, then 2 s later.
    let expected = before + (RADIO + WIRED) * 2 + Duration::from_secs(3);
    assert!(first >= expected && first <= expected + (RADIO + WIRED) * 2, "{first}, not {expected}");
    let sender = scene.world.machine(scene.correspondent).first().and_then(Mixed::first).expect("TCP");
    let sender = sender.stats(ConnectionId(0)).expect("opened");
    assert_eq!(sender.timeouts, 2, "after 1 s, which is lost, and 2 s after that");
    assert!(
        first > ms(7000) + (RADIO + WIRED) * 2 + Duration::from_millis(500),
        "the way was there long before"
    );
}

/// A node that is nowhere gets nothing, and the home agent counts what it drops.
#[test]
fn without_a_registration_nothing_arrives() {
    let mut scene = scene();
    scene.world.run_until(ms(3000));
    assert!(scene.agent().dropped() > 0);
    assert_eq!(scene.node().inner().connection_count(), 0);
}

/// A network that is preferred less is taken when the other is lost, and left when that is back.
#[test]
fn a_network_of_a_better_rank_is_preferred() {
    for (ranks, expected) in [([0, 1], [0, 0, 1, 0]), ([0, 0], [0, 1, 1, 0]), ([1, 0], [0, 1, 1, 1])] {
        let mut scene = ranked(ranks);
        scene.up(ms(0), 0);
        scene.up(ms(1000), 1);
        let down = LinkFact::AddressDown(at(network(0)[2]));
        scene.world.schedule(ms(2000), Action::Fact(scene.node, down));
        scene.up(ms(3000), 0);
        for (second, expected) in (0..).zip(expected) {
            scene.world.run_until(ms(second * 1000 + 900));
            assert_eq!(scene.node().current(), Some(expected), "ranks {ranks:?}, second {second}");
        }
    }
}

/// Who registers again where it was has not moved.
#[test]
fn a_registration_in_the_same_network_is_no_move() {
    let mut scene = scene();
    scene.up(ms(0), 0);
    let down = LinkFact::AddressDown(at(network(0)[2]));
    scene.world.schedule(ms(1000), Action::Fact(scene.node, down));
    scene.up(ms(2000), 0);
    scene.world.run_until(ms(3000));
    let stats = scene.node().stats();
    assert_eq!((stats.registrations, stats.moves), (2, 0));
}

/// When the registration is lost on the radio it is repeated after a second.
#[test]
fn a_lost_request_is_repeated() {
    let mut scene = scene();
    let link = scene.radio[0];
    scene.world.act(Action::Link(link, Side::Both, Change::Down(InFlight::Lost)));
    scene.up(ms(0), 0);
    scene.world.schedule(ms(500), Action::Link(link, Side::Both, Change::Up));
    scene.world.run_until(ms(1000) + (RADIO + WIRED) * 2);
    assert_eq!(scene.node().current(), Some(0));
}

/// In captures the correspondent speaks TCP with the home address, tunnels are IP in IP with the same inside, and registrations, which
/// lack their UDP header here, are called what they are.
#[test]
fn captures_show_tunnels_and_registrations() {
    let mut scene = scene();
    let [plain, agent, air] = [(); 3].map(|()| Memory::default());
    for (link, file) in [(scene.near[0], &plain), (scene.near[1], &agent), (scene.radio[0], &air)] {
        scene.world.capture(&[(link, "link")], file.clone()).unwrap();
    }
    scene.up(ms(0), 0);
    scene.world.run_until(ms(3000));
    let ends =
        |addresses: [Ipv4Addr; 2]| addresses == [CORRESPONDENT, HOME] || addresses == [HOME, CORRESPONDENT];
    for packet in plain.packets() {
        let (protocol, addresses, segment) = open_ipv4(&packet.bytes);
        assert!(protocol == 6 && ends(addresses) && tcp_is_right(addresses, segment), "{packet:?}");
    }
    let (mut registrations, mut tunnelled) = (Vec::new(), 0);
    for packet in air.packets() {
        let (protocol, _, inside) = open_ipv4(&packet.bytes);
        match protocol {
            4 => {
                let (protocol, addresses, segment) = open_ipv4(inside);
                assert!(protocol == 6 && ends(addresses) && tcp_is_right(addresses, segment), "{packet:?}");
                tunnelled += 1;
            }
            253 => registrations.push((inside[0], packet.comments)),
            other => panic!("protocol {other}"),
        }
    }
    let kinds: Vec<u8> = registrations.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [1, 3], "a request and its reply");
    assert!(
        registrations.iter().all(|(_, comments)| comments[0].contains("without UDP")),
        "{registrations:?}"
    );
    assert!(tunnelled > 100, "{tunnelled}");
    // The home agent gets TCP and sends tunnels, and the other way round.
    for (kind, inbound) in [(6, true), (4, false), (4, true), (6, false)] {
        let seen = |packet: &&Captured| packet.bytes[9] == kind && packet.inbound == inbound;
        assert!(agent.packets().iter().filter(seen).count() > 50, "protocol {kind}, inbound {inbound}");
    }
}
