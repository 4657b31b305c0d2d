//! The bottleneck against theory, through a whole world.
mod common;

use core::time::Duration;

use common::{Command, Event, Toy, ip, route};
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{
    Action, App, Change, Context, DirectionStats, DropReason, InFlight, LinkConfig, QueueLimit, Queueing,
    Side, Stopped, World,
};

const SERVICE: Duration = Duration::from_millis(1);
/// 1000 bytes of IP packet at 8 Mbit/s are served in 1 ms.
const RATE_BPS: u64 = 8_000_000;
const PAYLOAD: usize = 1000 - 28;

/// Poisson arrivals, or the mean and the count of sojourn times.
enum Meter {
    Poisson { mean_gap_ns: f64, left: u64 },
    Sojourn { total: Duration, count: u64 },
}

impl App<Toy> for Meter {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        self.on_wake(0, context);
    }

    fn on_wake(&mut self, _token: u64, context: &mut Context<'_, Command>) {
        let Self::Poisson { mean_gap_ns, left: left @ 1.. } = self else { return };
        *left -= 1;
        context.command(Command::Send { route: route("10.0.0.1", "10.0.0.2"), bytes: PAYLOAD, count: 1 });
        let gap_ns = -(1.0 - context.rng().unit()).ln() * *mean_gap_ns;
        context.wake_at(context.now() + Duration::from_nanos(gap_ns as u64), 0);
    }

    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        if let (Self::Sojourn { total, count }, Event::Received { sent, .. }) = (self, event) {
            *total += context.now() - sent;
            *count += 1;
        }
    }
}

/// Mean time in the system, in service times, and what the link saw.
fn run(load: f64, packets: u64, queue: QueueLimit) -> (f64, DirectionStats) {
    let mut world = World::new(Seed::from_u64(42));
    let mean_gap_ns = SERVICE.as_nanos() as f64 / load;
    let a = world.add_host("a", Toy::default(), Meter::Poisson { mean_gap_ns, left: packets });
    let b = world.add_host("b", Toy::default(), Meter::Sojourn { total: Duration::ZERO, count: 0 });
    let (ia, ib) = (world.add_interface(a, [ip("10.0.0.1")]), world.add_interface(b, [ip("10.0.0.2")]));
    let config = LinkConfig { rate_bps: Some(RATE_BPS), queue, ..LinkConfig::default() };
    let link = world.add_link(ia, ib, config, config);
    assert_eq!(world.run_until(Instant::from_nanos(u64::MAX - 1)), Stopped::Idle);
    let Meter::Sojourn { total, count } = world.app(b) else { unreachable!("b measures") };
    let stats = *world.stats(link, Side::AtoB);
    assert_eq!(*count, stats.delivered_packets);
    (total.as_secs_f64() / *count as f64 / SERVICE.as_secs_f64(), stats)
}

/// M/D/1: the mean wait is ρ/(2(1-ρ)) service times (Pollaczek-Khinchine).
#[test]
fn poisson_arrivals_wait_as_long_as_in_theory() {
    for (load, packets) in [(0.3, 600_000), (0.5, 1_200_000), (0.8, 3_000_000)] {
        let (sojourn, _) = run(load, packets, QueueLimit::packets(u32::MAX));
        let expected = load / (2.0 * (1.0 - load));
        let error = (sojourn - 1.0 - expected) / expected;
        println!(
            "load {load}: wait {:.4} service times, theory {expected:.4}, {:+.2} %",
            sojourn - 1.0,
            error * 100.0
        );
        assert!(error.abs() < 0.01, "load {load}: off by {:.2} %", error * 100.0);
    }
}

/// M/D/1/1 (nobody waits) is an Erlang loss system: a share ρ/(1+ρ) is refused, whatever the service times.
#[test]
fn without_a_queue_the_loss_is_erlang_s() {
    let load = 0.7;
    let (sojourn, stats) = run(load, 400_000, QueueLimit::packets(0));
    assert!((sojourn - 1.0).abs() < 1e-9, "nobody waits");
    let refused = stats.dropped_for(DropReason::Queue) as f64 / stats.offered_packets as f64;
    let expected = load / (1.0 + load);
    assert!((refused / expected - 1.0).abs() < 0.01, "{refused} instead of {expected}");
}

/// A host that sends a burst to two others at the start, or counts when what it gets arrives.
struct Burst {
    trains: Vec<(&'static str, usize)>,
    arrivals: Vec<Instant>,
}

impl App<Toy> for Burst {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        for (to, count) in self.trains.drain(..) {
            context.command(Command::Send { route: route("10.0.0.1", to), bytes: PAYLOAD, count });
        }
    }

    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        if let Event::Received { .. } = event {
            self.arrivals.push(context.now());
        }
    }
}

/// Returns when the packets arrived at each of two hosts behind one link, the first of which is sent a hundred, the second
/// five after those; and what the link saw. At `cut` the link breaks.
fn bursts(queueing: Queueing, cut: Option<Instant>) -> ([Vec<Instant>; 2], DirectionStats, usize) {
    let mut world = World::new(Seed::from_u64(1));
    let burst = |trains| Burst { trains, arrivals: Vec::new() };
    let trains = vec![("10.0.1.1", 100), ("10.0.1.2", 5)];
    let a = world.add_host("a", Toy::default(), burst(trains));
    let ia = world.add_interface(a, [ip("10.0.0.1")]);
    let router = world.add_router();
    let queue = QueueLimit::packets(1000);
    let config = LinkConfig { rate_bps: Some(RATE_BPS), queue, queueing, ..LinkConfig::default() };
    let link = world.add_link(ia, router, config, config);
    let receivers = ["10.0.1.1", "10.0.1.2"].map(|address| {
        let host = world.add_host("b", Toy::default(), burst(Vec::new()));
        let interface = world.add_interface(host, [ip(address)]);
        world.add_link(router, interface, LinkConfig::default(), LinkConfig::default());
        host
    });
    if let Some(at) = cut {
        world.schedule(at, Action::Link(link, Side::AtoB, Change::Down(InFlight::Lost)));
    }
    world.run_until(Instant::from_nanos(u64::MAX - 1));
    let arrivals = receivers.map(|host| world.app(host).arrivals.clone());
    (arrivals, *world.stats(link, Side::AtoB), world.packets_in_flight())
}

#[test]
fn a_queue_per_flow_keeps_flows_apart_in_a_world() {
    let at = |ms: u32| Instant::ZERO + SERVICE * ms;
    let last = |arrivals: &[Vec<Instant>; 2]| arrivals.each_ref().map(|times| *times.last().unwrap());
    let (shared, ..) = bursts(Queueing::DropTail, None);
    assert_eq!(last(&shared), [at(100), at(105)]);
    let (apart, stats, left) = bursts(Queueing::PerFlow, None);
    // In turn, and the link has rested no moment.
    assert!(last(&apart)[0] == at(105) && last(&apart)[1] <= at(12), "{:?}", last(&apart));
    assert_eq!((apart[0].len(), apart[1].len(), stats.delivered_packets, left), (100, 5, 105, 0));
}

#[test]
fn what_waits_in_its_own_queue_is_lost_with_the_link() {
    let (arrivals, stats, left) = bursts(Queueing::PerFlow, Some(Instant::ZERO + SERVICE * 50));
    let arrived = (arrivals[0].len() + arrivals[1].len()) as u64;
    // What arrives at that very instant may do so before or after.
    assert!((49..=50).contains(&arrived), "{arrived}");
    assert_eq!((stats.dropped_for(DropReason::Cut), left), (105 - arrived, 0));
}
