//! Losses everywhere, and peers that do not play by the rules.
mod common;

use core::time::Duration;

use common::{Log, at, opening, pair};
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{LinkConfig, Loss, QueueLimit, Reorder, World};
use whimbrel_rivals::tcp::{File, NewReno, Rack, Sack, Source, Tcp, TcpConfig, TcpEvent};

/// Whatever the network loses, doubles, breaks or reorders, each file arrives once and whole.
#[test]
fn files_arrive_over_bad_links() {
    for recovery in [Sack::boxed, NewReno::boxed, Rack::boxed] {
        for seed in 0..20 {
            let bad = LinkConfig {
                rate_bps: Some(20_000_000),
                queue: QueueLimit::packets(20),
                delay: Duration::from_millis(10),
                loss: Loss::Bernoulli(0.05),
                corrupt: 0.01,
                duplicate: 0.01,
                reorder: Reorder { probability: 0.02, extra: Duration::from_millis(5) },
                ..LinkConfig::default()
            };
            let config = TcpConfig { recovery, ..TcpConfig::default() };
            let mut pair = pair(seed, config, [bad, bad], vec![Box::new(File(300_001))]);
            pair.run_s(3000);
            assert_eq!(pair.received(), 300_001, "seed {seed}");
            let done = |(_, event): &(Instant, TcpEvent)| matches!(event, TcpEvent::Done { .. });
            assert!(pair.world.app(pair.sender).record.iter().any(done), "seed {seed}");
        }
    }
}

/// A peer that opens too many connections finds the rest refused.
#[test]
fn accepted_connections_are_bounded() {
    let config = TcpConfig { accepted_max: 7, ..TcpConfig::default() };
    let files = (0..20).map(|_| Box::new(File(10)) as Box<dyn Source>).collect();
    let mut pair = pair(1, config, [LinkConfig::default(); 2], files);
    pair.run_s(300);
    assert_eq!(pair.world.machine(pair.receiver).connection_count(), 7);
    let aborted = |(_, event): &&(Instant, TcpEvent)| matches!(event, TcpEvent::Aborted { .. });
    assert_eq!(pair.world.app(pair.sender).record.iter().filter(aborted).count(), 13);
}

/// Nobody at home: SYN is repeated a few times, then the connection is given up, and nothing more happens.
#[test]
fn a_silent_peer_is_given_up() {
    let mut world: World<Tcp, Log> = World::new(Seed::from_u64(1));
    let tcp = Tcp::new(TcpConfig::default().into(), world.seed());
    let host = world.add_host("alone", tcp, opening(vec![Box::new(File(1))]));
    world.add_interface(host, [at(1).ip()]);
    world.run_until(Instant::from_nanos(1_000_000_000_000));
    assert!(matches!(world.app(host).record[..], [(_, TcpEvent::Aborted { .. })]));
    assert_eq!(world.events_pending(), 0);
}
