//! Hosts, interfaces, routes, faults: what a world does with packets apart from the physics of links.
mod common;

use core::time::Duration;

use common::{Command, Event, Gap, Log, Source, Toy, ip, route};
use whimbrel_machine::{Instant, LinkFact, Seed, Unreachable};
use whimbrel_netsim::{
    Action, App, Change, Context, DropReason, HostId, InFlight, LinkConfig, LinkId, Oversize, Side, Stopped,
    World,
};

const MS: Duration = Duration::from_millis(1);

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

struct Pair {
    world: World<Toy, Log>,
    a: HostId,
    b: HostId,
    link: LinkId,
}

/// Two hosts, 10.0.0.1 and 10.0.0.2, joined by one link.
fn pair(seed: u64, config: LinkConfig, source: Option<Source>) -> Pair {
    let mut world = World::new(Seed::from_u64(seed));
    let a = world.add_host("a", Toy::default(), Log { source, ..Log::default() });
    let b = world.add_host("b", Toy::default(), Log::default());
    let ia = world.add_interface(a, [ip("10.0.0.1")]);
    let ib = world.add_interface(b, [ip("10.0.0.2")]);
    let link = world.add_link(ia, ib, config, config);
    Pair { world, a, b, link }
}

fn send(world: &mut World<Toy, Log>, host: HostId, local: &str, remote: &str, bytes: usize) {
    world.act(Action::Command(host, Command::Send { route: route(local, remote), bytes, count: 1 }));
}

fn source(count: u64, bytes: usize, gap: Duration) -> Option<Source> {
    Some(Source { route: route("10.0.0.1", "10.0.0.2"), bytes, count, gap: Gap::Constant(gap) })
}

#[test]
fn a_datagram_crosses_after_its_transmission_time_and_the_delay() {
    let config = LinkConfig { rate_bps: Some(1_000_000), delay: 20 * MS, ..LinkConfig::default() };
    let mut p = pair(1, config, None);
    send(&mut p.world, p.a, "10.0.0.1", "10.0.0.2", 97);
    assert_eq!(p.world.run_until(at_ms(1000)), Stopped::Idle);
    // 97 bytes, 8 of UDP and 20 of IPv4 are 1000 bits: 1 ms at 1 Mbit/s.
    let expected = Event::Received {
        route: route("10.0.0.2", "10.0.0.1"),
        number: 0,
        sent: Instant::ZERO,
        bytes: 97,
        intact: true,
    };
    assert_eq!(p.world.app(p.b).events, [(at_ms(21), expected)]);
    assert_eq!(p.world.now(), at_ms(1000));
}

#[test]
fn a_train_is_split_into_its_segments() {
    let mut p = pair(1, LinkConfig::default(), None);
    let route = route("10.0.0.1", "10.0.0.2");
    p.world.act(Action::Command(p.a, Command::Send { route, bytes: 500, count: 44 }));
    p.world.run_until(at_ms(1));
    assert_eq!(p.world.app(p.b).numbers(), (0..44).collect::<Vec<_>>());
}

/// Two hosts with two addresses each and two routers: a route names its way, and there is no other.
#[test]
fn source_and_destination_address_choose_the_way() {
    let mut world = World::new(Seed::from_u64(1));
    let a = world.add_host("a", Toy::default(), Log::default());
    let b = world.add_host("b", Toy::default(), Log::default());
    let (wifi, lte) = (world.add_router(), world.add_router());
    let mut link = |host, address: &str, router, ms: u32| {
        let interface = world.add_interface(host, [ip(address)]);
        let config = LinkConfig { delay: ms * MS, ..LinkConfig::default() };
        world.add_link(interface, router, config, config)
    };
    let (a1, a2) = (link(a, "10.1.0.1", wifi, 1), link(a, "10.2.0.1", lte, 10));
    let (b1, b2) = (link(b, "10.1.0.2", wifi, 1), link(b, "fd00::2", lte, 10));
    send(&mut world, a, "10.1.0.1", "10.1.0.2", 100);
    send(&mut world, a, "10.2.0.1", "10.1.0.2", 100);
    send(&mut world, a, "10.9.0.1", "10.1.0.2", 100);
    send(&mut world, a, "10.1.0.2", "10.1.0.1", 100);
    send(&mut world, a, "10.1.0.1", "fd00::2", 100);
    send(&mut world, a, "10.1.0.1", "10.7.7.7", 100);
    world.run_until(at_ms(100));
    // The second crosses a's LTE link, and LTE's router knows no way to b's Wi-Fi address.
    assert_eq!(world.app(b).received().map(|(at, ..)| at).collect::<Vec<_>>(), [at_ms(2)]);
    assert_eq!(world.stats(a1, Side::AtoB).delivered_packets, 1);
    assert_eq!(world.stats(a2, Side::AtoB).delivered_packets, 1);
    assert_eq!(world.stats(b1, Side::BtoA).delivered_packets, 1);
    assert_eq!(world.stats(b2, Side::BtoA).delivered_packets, 0);
    assert_eq!(world.stray_drops(DropReason::NoSource), 3, "foreign, another host's, and of another family");
    assert_eq!(world.stray_drops(DropReason::NoRoute), 2);
    // Once the routers are joined, the way exists.
    world.add_link(wifi, lte, LinkConfig::default(), LinkConfig::default());
    send(&mut world, a, "10.2.0.1", "10.1.0.2", 100);
    world.run_until(at_ms(200));
    assert_eq!(world.app(b).received().last().unwrap().0, at_ms(111));
    assert_eq!(world.packets_in_flight(), 0);
}

#[test]
fn a_cut_loses_what_is_on_its_way_and_only_that() {
    let config = LinkConfig { rate_bps: Some(10_000_000), delay: 50 * MS, ..LinkConfig::default() };
    for (what, lost) in [(InFlight::Lost, 60), (InFlight::Delivered, 10)] {
        let mut p = pair(1, config, source(300, 100, MS));
        let changes = [(at_ms(100), Change::Down(what)), (at_ms(110), Change::Up)];
        p.world.schedule_link(p.link, Side::Both, changes);
        assert_eq!(p.world.run_until(at_ms(1000)), Stopped::Idle);
        // Sent at whole milliseconds: 50 are on the wire at 100 ms; those of 100 to 109 ms meet the link down. The
        // datagram of 100 ms itself comes after the change, which was scheduled first.
        let numbers = p.world.app(p.b).numbers();
        assert_eq!(300 - numbers.len(), lost, "{what:?}");
        assert!(numbers.is_sorted());
        let stats = p.world.stats(p.link, Side::AtoB);
        assert_eq!(stats.dropped_for(DropReason::Down), 10);
        assert_eq!(stats.dropped_for(DropReason::Cut), lost as u64 - 10);
        assert_eq!(stats.offered_packets, stats.delivered_packets + stats.dropped_packets());
        assert_eq!(p.world.packets_in_flight(), 0);
    }
}

#[test]
fn a_new_rate_applies_to_what_waits() {
    let config = LinkConfig { rate_bps: Some(8_000_000), ..LinkConfig::default() };
    let mut p = pair(1, config, None);
    // 972 bytes make packets of 1000 bytes: 1 ms each.
    let route = route("10.0.0.1", "10.0.0.2");
    p.world.act(Action::Command(p.a, Command::Send { route, bytes: 972, count: 10 }));
    p.world.schedule_link(
        p.link,
        Side::AtoB,
        [(Instant::from_nanos(2_500_000), Change::Rate(Some(800_000)))],
    );
    p.world.run_until(at_ms(1000));
    let arrivals: Vec<u64> = p.world.app(p.b).received().map(|(at, ..)| at.as_nanos() / 100_000).collect();
    // Half of the third packet is left and takes 5 ms; each further one takes 10 ms.
    assert_eq!(arrivals, [10, 20, 75, 175, 275, 375, 475, 575, 675, 775]);
}

#[test]
fn too_big_is_told_to_the_sender_when_asked() {
    let config = LinkConfig { mtu: 1280, oversize: Oversize::Reported, ..LinkConfig::default() };
    let mut world = World::new(Seed::from_u64(1));
    let a = world.add_host("a", Toy::default(), Log::default());
    let b = world.add_host("b", Toy::default(), Log::default());
    let (ia, ib, router) = (
        world.add_interface(a, [ip("fd00::1")]),
        world.add_interface(b, [ip("fd00::2")]),
        world.add_router(),
    );
    let near = LinkConfig { delay: 5 * MS, ..LinkConfig::default() };
    world.add_link(ia, router, near, near);
    let far = world.add_link(router, ib, config, config);
    send(&mut world, a, "fd00::1", "fd00::2", 1280 - 48);
    send(&mut world, a, "fd00::1", "fd00::2", 1280 - 48 + 1);
    world.run_until(at_ms(100));
    assert_eq!(world.app(b).numbers(), [0]);
    let reason = Unreachable::PacketTooBig { mtu: 1280 };
    let told = Event::Unreachable { route: route("fd00::1", "fd00::2"), reason, quoted: 520 };
    assert_eq!(world.app(a).events, [(at_ms(10), told)]);
    assert_eq!(world.stats(far, Side::AtoB).dropped_for(DropReason::Mtu), 1);
    assert_eq!(world.packets_in_flight(), 0);
}

#[test]
fn the_machine_deadline_is_kept_when_put_off_and_when_brought_forward() {
    let mut p = pair(1, LinkConfig::default(), None);
    let mut alarm = |at: u64, after: u32| {
        p.world.schedule(at_ms(at), Action::Command(p.a, Command::Alarm(after * MS)));
    };
    alarm(0, 100);
    alarm(10, 100);
    alarm(20, 5);
    alarm(100, 50);
    p.world.run_until(at_ms(1000));
    assert_eq!(p.world.app(p.a).events, [(at_ms(25), Event::Alarm), (at_ms(150), Event::Alarm)]);
}

#[test]
fn a_crashed_host_is_silent_and_a_restarted_one_is_new() {
    let mut p = pair(1, LinkConfig { delay: 5 * MS, ..LinkConfig::default() }, source(100, 100, MS));
    p.world.schedule(at_ms(20), Action::Crash(p.b));
    p.world.schedule(at_ms(40), Action::Restart(p.b, Box::new((Toy::default(), Log::default()))));
    // A restart of the sender begins its numbers anew, and the old life's wake-ups do nothing.
    let again = Log { source: source(10, 100, MS), ..Log::default() };
    p.world.schedule(at_ms(60), Action::Restart(p.a, Box::new((Toy::default(), again))));
    p.world.run_until(at_ms(1000));
    let expected: Vec<u64> = (35..60).chain(0..10).collect();
    assert_eq!(p.world.app(p.b).numbers(), expected);
    let arrivals: Vec<Instant> = p.world.app(p.b).received().map(|(at, ..)| at).collect();
    assert!(arrivals.windows(2).all(|pair| pair[1] - pair[0] == MS), "{arrivals:?}");
    assert_eq!(p.world.stray_drops(DropReason::HostDown), 20);
}

/// Its alarm and its app's next packets wait until it wakes; what was sent to it meanwhile is lost.
#[test]
fn a_sleeping_host_hears_nothing_and_wakes_up_late() {
    let mut p = pair(1, LinkConfig::default(), source(30, 100, MS));
    for (host, from, to) in [(p.b, 5, 15), (p.a, 20, 40)] {
        p.world.schedule(at_ms(from), Action::Suspend(host));
        p.world.schedule(at_ms(to), Action::Resume(host));
    }
    let down = LinkFact::AddressDown("10.0.0.2:0".parse().unwrap());
    p.world.schedule(at_ms(7), Action::Fact(p.b, LinkFact::AddressUp("10.0.0.2:0".parse().unwrap())));
    p.world.schedule(at_ms(8), Action::Fact(p.b, down));
    p.world.act(Action::Command(p.b, Command::Alarm(7 * MS)));
    p.world.schedule(at_ms(50), Action::Command(p.b, Command::Alarm(3 * MS)));
    p.world.run_until(at_ms(1000));
    let b = p.world.app(p.b);
    let expected: Vec<u64> = (0..5).chain(15..30).collect();
    assert_eq!(b.numbers(), expected);
    let alarms = b.events.iter().filter(|(_, event)| *event == Event::Alarm).map(|(at, _)| *at);
    assert_eq!(alarms.collect::<Vec<_>>(), [at_ms(15), at_ms(53)], "late, and then on time");
    let facts: Vec<_> = b.events.iter().filter(|(_, event)| matches!(event, Event::Fact(_))).collect();
    assert!(!facts.is_empty() && facts.iter().all(|(at, _)| *at == at_ms(15)), "{facts:?}");
    let last: Vec<Instant> = b.received().map(|(at, ..)| at).skip(10).collect();
    assert_eq!(last[..2], [at_ms(40), at_ms(41)]);
    assert_eq!(p.world.stray_drops(DropReason::HostDown), 10);
}

#[test]
fn addresses_move_and_links_move() {
    let mut p = pair(1, LinkConfig::default(), source(30, 100, MS));
    let ic = {
        let c = p.world.add_host("c", Toy::default(), Log::default());
        p.world.add_interface(c, [])
    };
    p.world.schedule(at_ms(10), Action::Reattach(p.link, ic.into()));
    p.world.schedule(at_ms(20), Action::AddAddress(ic, ip("10.0.0.2")));
    p.world.run_until(at_ms(100));
    assert_eq!(p.world.app(p.b).numbers(), (0..10).collect::<Vec<_>>());
    assert_eq!(p.world.stray_drops(DropReason::NoRoute), 10);
    let address = "10.0.0.2:0".parse().unwrap();
    for fact in [LinkFact::AddressUp(address), LinkFact::AddressDown(address)] {
        p.world.act(Action::Fact(p.b, fact));
        assert_eq!(p.world.app(p.b).events.last().unwrap().1, Event::Fact(fact));
    }
    p.world.act(Action::RemoveAddress(ic, ip("10.0.0.2")));
    send(&mut p.world, p.a, "10.0.0.1", "10.0.0.2", 100);
    assert_eq!(p.world.stray_drops(DropReason::NoRoute), 11);
}

#[test]
fn packets_in_flight_are_bounded() {
    let mut p = pair(1, LinkConfig { delay: 1000 * MS, ..LinkConfig::default() }, source(100, 100, MS));
    p.world.limit_packets(30);
    p.world.run_until(at_ms(500));
    assert_eq!(p.world.packets_in_flight(), 30);
    assert_eq!(p.world.stray_drops(DropReason::Limit), 70);
}

/// Answers every event with a command that makes an event at once.
struct Circle;

impl App<Toy> for Circle {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        context.command(Command::Alarm(Duration::ZERO));
    }

    fn on_event(&mut self, _event: Event, context: &mut Context<'_, Command>) {
        context.command(Command::Alarm(Duration::ZERO));
    }
}

#[test]
fn going_round_in_circles_ends_the_run() {
    let mut world = World::new(Seed::from_u64(1));
    world.add_host("a", Toy::default(), Circle);
    assert_eq!(world.run_until(at_ms(1)), Stopped::Livelock);
    assert_eq!(world.run_until(at_ms(2)), Stopped::Livelock);
    assert_eq!(world.now(), Instant::ZERO);
}

fn noisy_run(seed: u64) -> (u64, Vec<u64>) {
    let config = LinkConfig {
        rate_bps: Some(5_000_000),
        delay: 10 * MS,
        jitter: 5 * MS,
        keep_order: false,
        loss: whimbrel_netsim::Loss::Bernoulli(0.05),
        corrupt: 0.05,
        duplicate: 0.05,
        ..LinkConfig::default()
    };
    let mut p = pair(seed, config, source(2000, 500, MS));
    p.world.run_until(at_ms(5000));
    (p.world.trace_hash(), p.world.app(p.b).numbers())
}

#[test]
fn the_seed_is_the_run() {
    assert_eq!(noisy_run(1), noisy_run(1));
    assert_ne!(noisy_run(1).0, noisy_run(2).0);
    assert_ne!(noisy_run(1).1, noisy_run(2).1);
}

/// The same on every machine and in every version: a change of this number is a change of behaviour.
#[test]
fn the_trace_hash_is_pinned() {
    assert_eq!(noisy_run(1).0, PINNED);
}

const PINNED: u64 = 3_732_064_980_374_041_693;
