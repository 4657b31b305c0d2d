//! What a packet costs the world: bulk over one link, and over two with a router, without capture or trace.
use core::hint::black_box;
use core::net::SocketAddr;
use core::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use whimbrel_machine::{
    Ecn, Fragmentation, Input, Instant, IpProtocol, Machine, Route, Seed, Sink, Transmit,
};
use whimbrel_netsim::{Fate, LinkConfig, LinkDirection, QueueLimit, World};

const PACKETS: u64 = 10_000;
const PAYLOAD: usize = 1452;
/// What a sender with a window of a few hundred packets has under way.
const TRAIN: u64 = 32;

/// Sends a train of datagrams at each deadline, or counts what comes.
struct Blaster {
    route: Option<Route>,
    left: u64,
    received: u64,
    buffer: Vec<u8>,
}

impl Machine for Blaster {
    type Command = ();
    type Event = ();

    fn step<'a>(
        &mut self,
        now: Instant,
        inputs: impl IntoIterator<Item = Input<'a, ()>>,
        sink: &mut impl Sink<()>,
    ) -> Option<Instant> {
        for input in inputs {
            match (input, self.route) {
                (Input::Datagrams { bytes, .. }, _) => self.received += u64::from(!bytes.is_empty()),
                (Input::Timeout, Some(route)) if self.left > 0 => {
                    self.left -= TRAIN.min(self.left);
                    sink.transmit(
                        &Transmit {
                            route,
                            ecn: Ecn::NotCapable,
                            fragmentation: Fragmentation::Forbidden,
                            protocol: IpProtocol::Sctp,
                            segment: PAYLOAD,
                        },
                        &self.buffer,
                    );
                }
                _ => {}
            }
        }
        // 32 packets of 1480 bytes take 379 µs at 1 Gbit/s.
        (self.left > 0).then(|| now + Duration::from_micros(380))
    }
}

fn blaster(route: Option<Route>) -> Blaster {
    let left = if route.is_some() { PACKETS } else { 0 };
    Blaster { route, left, received: 0, buffer: vec![7; PAYLOAD * TRAIN as usize] }
}

fn bulk(hops: usize) -> u64 {
    let mut world = World::new(Seed::from_u64(1));
    let at = |last| SocketAddr::from(([10, 0, 0, last], 9899));
    let a = world.add_host("a", blaster(Some(Route { local: at(1), remote: at(2) })), ());
    let b = world.add_host("b", blaster(None), ());
    let (ia, ib) = (world.add_interface(a, [at(1).ip()]), world.add_interface(b, [at(2).ip()]));
    let config = LinkConfig {
        rate_bps: Some(1_000_000_000),
        delay: Duration::from_millis(2),
        ..LinkConfig::default()
    };
    if hops == 1 {
        world.add_link(ia, ib, config, config);
    } else {
        let router = world.add_router();
        world.add_link(ia, router, config, config);
        world.add_link(router, ib, config, config);
    }
    world.run_until(Instant::from_nanos(10_000_000_000));
    assert!(world.machine(b).received >= PACKETS);
    world.trace_hash()
}

fn world_benchmarks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bulk_1452_bytes");
    group.throughput(Throughput::Elements(PACKETS));
    for hops in [1, 2] {
        group.bench_function(format!("{hops}_hops"), |bencher| bencher.iter(|| black_box(bulk(hops))));
    }
    group.finish();
}

fn direction_benchmarks(criterion: &mut Criterion) {
    let plain = LinkConfig {
        rate_bps: Some(1_000_000_000),
        queue: QueueLimit::packets(100),
        ..LinkConfig::default()
    };
    let noisy = LinkConfig {
        loss: whimbrel_netsim::Loss::Bernoulli(0.01),
        jitter: Duration::from_millis(1),
        corrupt: 0.001,
        duplicate: 0.001,
        ..plain
    };
    for (name, config) in [("offer_plain", plain), ("offer_noisy", noisy)] {
        let mut link = LinkDirection::new(config, &Seed::from_u64(1), 0);
        let mut now = Instant::ZERO;
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                now += Duration::from_micros(12);
                matches!(black_box(link.offer(now, 1480)), Fate::Passed { .. })
            });
        });
    }
}

criterion_group!(benches, world_benchmarks, direction_benchmarks);
criterion_main!(benches);
