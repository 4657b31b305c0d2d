//! A network that carries a small part of what the other does: both together are no worse than the better one alone.

use whimbrel_machine::Instant;
use whimbrel_netsim::{Change, LinkConfig, QueueLimit, Side};
use whimbrel_proto::{Config, PathScheduler};
use whimbrel_testbed::{CLIENT, Pair, User, at, millis, remotes};

use super::{Name, combining};
use core::time::Duration;

const MESSAGE: usize = 10_000;
const MESSAGES: usize = 800;

/// A network with a queue of one bandwidth-delay product, or of two packets if that is more.
fn network(kbit: u64, rtt_ms: u64) -> LinkConfig {
    LinkConfig {
        rate_bps: Some(kbit * 1000),
        delay: Duration::from_micros(rtt_ms * 500),
        queue: QueueLimit::bytes((kbit * rtt_ms / 8).max(3000)),
        ..LinkConfig::default()
    }
}

/// What the second network is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// Thin from the beginning.
    Thin,
    /// As good as the first one for 0.7 s.
    Becomes,
    /// There after 0.7 s.
    Appears,
}

/// How long all of it takes, and the longest time without a message.
fn transfer(config: Config, networks: &[LinkConfig], shape: Shape, buffers: usize) -> (Duration, Duration) {
    let mut config = config;
    (config.limits.send_buffer, config.limits.receive_buffer) = (buffers, buffers);
    let mut client = User::client(&remotes(networks.len())).queueing(MESSAGES, MESSAGE);
    client.limit = buffers;
    let mut links: Vec<_> = networks.to_vec();
    if shape == Shape::Becomes && links.len() > 1 {
        links[1] = links[0];
    }
    let mut pair = Pair::new(1, config, &links, client, User::server());
    match networks {
        [_, thin] if shape == Shape::Becomes => {
            pair.change(1, Side::Both, at(700), Change::Config(*thin));
        }
        [_, _] if shape == Shape::Appears => {
            pair.cut(1, Instant::ZERO);
            pair.heal(1, at(700));
        }
        _ => {}
    }
    pair.run(20);
    let received = &pair.server().received;
    assert_eq!(received.len(), MESSAGES, "{networks:?} {shape:?} {buffers}: {:?}", pair.paths(CLIENT));
    let up = pair.client().came_up().expect("it is up");
    let (gap, _) = pair.server().longest_gap(Instant::ZERO, pair.world.now());
    (received[MESSAGES - 1].0.saturating_since(up), gap)
}

/// The worst of what both networks do together, beside what the first does alone.
fn compare(shape: Shape, thin: &[(u64, u64)]) {
    let better = network(20_000, 20);
    let mut bad = String::new();
    for name in [Name::Reno, Name::Bbr] {
        for buffers in [64 << 10, 256 << 10, 4 << 20, 16 << 20] {
            let alone = transfer(name.mobile(), &[better], shape, buffers);
            for &(kbit, rtt_ms) in thin {
                for scheduler in [PathScheduler::EarliestCompletion, PathScheduler::Redundant] {
                    let networks = [better, network(kbit, rtt_ms)];
                    let both = transfer(combining(name.mobile(), scheduler), &networks, shape, buffers);
                    if alone.0 < both.0.mul_f64(0.98) || both.1 > alone.1 + millis(100) {
                        let told = format!("{name:?} {scheduler:?} {kbit} kbit/s, {rtt_ms} ms, {buffers}");
                        bad += &format!("{told}: {both:?} instead of {alone:?}\n");
                    }
                }
            }
        }
    }
    assert!(bad.is_empty(), "{shape:?}:\n{bad}");
}

/// From a fifth to a three hundredth of the rate.
#[test]
fn a_thin_path_holds_nothing_up() {
    compare(Shape::Thin, &[(2000, 100), (667, 100), (200, 100), (200, 400), (64, 20), (64, 100), (64, 400)]);
}

/// It is full of data when that happens.
#[test]
fn nor_does_one_that_becomes_thin() {
    compare(Shape::Becomes, &[(2000, 100), (200, 100), (64, 20), (64, 100), (64, 400)]);
}

/// Nothing is known of it but the round trip of a small packet.
#[test]
fn nor_does_one_that_appears() {
    compare(Shape::Appears, &[(2000, 100), (200, 100), (64, 20), (64, 100), (64, 400)]);
}
