//! TCP over Mobile IP, against its latency budget.
#[path = "common/capture.rs"]
mod capture;

use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;

use capture::{open_ipv4, tcp_is_right};
use whimbrel_machine::{Instant, LinkFact};
use whimbrel_netsim::{LinkConfig, Mixed};
use whimbrel_rivals::mobile_ip::{HomeAgent, MobileNode};
use whimbrel_rivals::tcp::{ConnectionId, ConstantRate, DelayedAck, Tcp, TcpConfig, TcpEvent, TcpStats};
use whimbrel_testbed::mobile_ip::{CORRESPONDENT, HOME, MobileIp, network};
use whimbrel_testbed::{Captured, Flow, Memory, Opening, flow, tcp};

const WIRED: Duration = Duration::from_millis(40);
const RADIO: Duration = Duration::from_millis(3);

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// A correspondent that sends 500 bytes every 10 ms from 1 s on. It and the home agent hang on one router; wires of 40 ms lead from it to the
/// two access routers.
type Scene = MobileIp<Vec<(Instant, TcpEvent)>>;

fn scene() -> Scene {
    ranked([0, 0])
}

fn ranked(ranks: [u8; 2]) -> Scene {
    let delayed_ack = DelayedAck { segments: 1, after: Duration::ZERO };
    let config = TcpConfig { delayed_ack, ..TcpConfig::default() };
    let near = LinkConfig { mtu: 2000, ..LinkConfig::default() };
    let links = [near, LinkConfig { delay: WIRED, ..near }, LinkConfig { delay: RADIO, ..near }];
    let source = ConstantRate::new(500, Duration::from_millis(10), 2000);
    MobileIp::new(1, config, links, ranks, |route| {
        Flow::sender(Opening { start: ms(1000), route, port: 80, sources: vec![Box::new(source)] })
    })
}

/// Tells the node a fact about its address; the link does not change.
fn tell(scene: &mut Scene, time: Instant, number: usize, fact: fn(SocketAddr) -> LinkFact) {
    let radio = scene.radio[number];
    radio.tell(&mut scene.world, time, fact(radio.address));
}

fn up(scene: &mut Scene, time: Instant, number: usize) {
    tell(scene, time, number, LinkFact::AddressUp);
}

/// The node leaves coverage and knows it.
fn down(scene: &mut Scene, time: Instant, number: usize) {
    scene.radio[number].leave(&mut scene.world, time);
}

fn node(scene: &Scene) -> &MobileNode<Tcp> {
    scene.world.machine(scene.mn).first().and_then(Mixed::second).expect("the node")
}

fn agent(scene: &Scene) -> &HomeAgent {
    scene.world.machine(scene.home_agent).second().and_then(Mixed::first).expect("the home agent")
}

/// When data came to the node.
fn received(scene: &Scene) -> Vec<Instant> {
    let log = &flow(scene.world.app(scene.mn)).expect("it has a user").record;
    let data = log.iter().filter(|(_, event)| matches!(event, TcpEvent::Received { .. }));
    data.map(|&(at, _)| at).collect()
}

/// What the correspondent's connection has seen.
fn sender(scene: &Scene) -> TcpStats {
    tcp(scene.world.machine(scene.cn)).and_then(|tcp| tcp.stats(ConnectionId(0))).expect("opened")
}

/// A registration takes radio and wire there and back; the home agent tunnels to the new address after half of it, and the
/// first packet is there after another wire and radio: nothing is lost as long as the old network is heard.
#[test]
fn a_soft_handover_within_the_overlap_loses_nothing() {
    let mut scene = scene();
    up(&mut scene, ms(0), 0);
    up(&mut scene, ms(5000), 1);
    down(&mut scene, ms(5500), 0);
    scene.world.run_until(ms(0) + (RADIO + WIRED) * 2 - Duration::from_nanos(1));
    assert_eq!(node(&scene).current(), None);
    scene.world.run_until(ms(0) + (RADIO + WIRED) * 2);
    assert_eq!(node(&scene).current(), Some(0), "one round trip to the home agent");
    scene.world.run_until(ms(5000) + RADIO + WIRED - Duration::from_nanos(1));
    assert_eq!(agent(&scene).care_of(HOME), Some(network(0)[0]));
    scene.world.run_until(ms(5000) + RADIO + WIRED);
    assert_eq!(agent(&scene).care_of(HOME), Some(network(1)[0]));
    scene.world.run_until(ms(30_000));
    let stats = node(&scene).stats();
    assert_eq!((stats.registrations, stats.moves), (2, 1));
    let last_old = ms(5000) + (RADIO + WIRED) * 2;
    // What left the home agent before that is there after a wire and a radio, and nothing after it: a packet leaves every 10 ms.
    let last = stats.last_packet[0];
    assert!(last <= last_old && last + Duration::from_millis(10) > last_old, "{:?}", stats.last_packet);
    // The first packet over the new network comes as the next in the series.
    let after = received(&scene).into_iter().find(|at| *at > last).expect("data over the new network");
    let next = last_old + Duration::from_millis(10);
    assert!(after >= last_old && after <= next, "{after}, not between {last_old} and {next}");
    let sender = sender(&scene);
    assert_eq!((sender.retransmissions, sender.timeouts), (0, 0));
    assert_eq!(node(&scene).inner().stats(ConnectionId(0)).expect("accepted").received, 2000 * 500);
}

/// Coverage ends 2 s before the next network is usable. The sender knows of nothing: it repeats at RTO 1 s and 2 s (as c04 has
/// it), so although the home agent knows the way from 7.043 s on, nothing comes before the timer.
#[test]
fn after_a_gap_the_backed_off_timer_decides() {
    let mut scene = scene();
    up(&mut scene, ms(0), 0);
    down(&mut scene, ms(5000), 0);
    up(&mut scene, ms(7000), 1);
    scene.world.run_until(ms(7000) + RADIO + WIRED - Duration::from_nanos(1));
    assert_ne!(agent(&scene).care_of(HOME), Some(network(1)[0]));
    scene.world.run_until(ms(7000) + RADIO + WIRED);
    assert_eq!(agent(&scene).care_of(HOME), Some(network(1)[0]), "the way is there from 7.043 s on");
    scene.world.run_until(ms(30_000));
    let received = received(&scene);
    // The last packet whose acknowledgement got over the radio.
    let before = *received.iter().rfind(|at| **at <= ms(5000) - RADIO).expect("data");
    let first = *received.iter().find(|at| **at > ms(5000)).expect("data");
    // The timer restarted with the last acknowledgement, half a round trip after the last packet: 1 s, then 2 s later.
    let expected = before + (RADIO + WIRED) * 2 + Duration::from_secs(3);
    assert!(first >= expected && first <= expected + (RADIO + WIRED) * 2, "{first}, not {expected}");
    assert_eq!(sender(&scene).timeouts, 2, "after 1 s, which is lost, and 2 s after that");
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
    assert!(agent(&scene).dropped() > 0);
    assert_eq!(node(&scene).inner().connection_count(), 0);
}

/// A network that is preferred less is taken when the other is lost, and left when that is back.
#[test]
fn a_network_of_a_better_rank_is_preferred() {
    for (ranks, expected) in [([0, 1], [0, 0, 1, 0]), ([0, 0], [0, 1, 1, 0]), ([1, 0], [0, 1, 1, 1])] {
        let mut scene = ranked(ranks);
        up(&mut scene, ms(0), 0);
        up(&mut scene, ms(1000), 1);
        tell(&mut scene, ms(2000), 0, LinkFact::AddressDown);
        up(&mut scene, ms(3000), 0);
        for (second, expected) in (0..).zip(expected) {
            scene.world.run_until(ms(second * 1000 + 900));
            assert_eq!(node(&scene).current(), Some(expected), "ranks {ranks:?}, second {second}");
        }
    }
}

/// Who registers again where it was has not moved.
#[test]
fn a_registration_in_the_same_network_is_no_move() {
    let mut scene = scene();
    up(&mut scene, ms(0), 0);
    tell(&mut scene, ms(1000), 0, LinkFact::AddressDown);
    up(&mut scene, ms(2000), 0);
    scene.world.run_until(ms(3000));
    let stats = node(&scene).stats();
    assert_eq!((stats.registrations, stats.moves), (2, 0));
}

/// When the registration is lost on the radio it is repeated after a second.
#[test]
fn a_lost_request_is_repeated() {
    let mut scene = scene();
    let radio = scene.radio[0];
    radio.cut(&mut scene.world, ms(0));
    up(&mut scene, ms(0), 0);
    radio.heal(&mut scene.world, ms(500));
    scene.world.run_until(ms(1000) + (RADIO + WIRED) * 2);
    assert_eq!(node(&scene).current(), Some(0));
}

/// In captures the correspondent speaks TCP with the home address, tunnels are IP in IP with the same inside, and registrations, which
/// lack their UDP header here, are called what they are.
#[test]
fn captures_show_tunnels_and_registrations() {
    let mut scene = scene();
    let [plain, agent, air] = [(); 3].map(|()| Memory::default());
    for (link, file) in [(scene.near[0], &plain), (scene.near[1], &agent), (scene.radio[0].link, &air)] {
        scene.world.capture(&[(link, "link")], file.clone()).unwrap();
    }
    up(&mut scene, ms(0), 0);
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
