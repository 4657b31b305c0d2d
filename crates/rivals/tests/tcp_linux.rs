//! TCP as Linux has it (RACK-TLP, PRR, CUBIC with HyStart), through one bottleneck in virtual time.
mod common;

use core::time::Duration;

use common::pair;
use whimbrel_netsim::{LinkConfig, Loss, QueueLimit};
use whimbrel_rivals::tcp::{Cubic, DelayedAck, Greedy, Rack, RtoConfig, Sack, TcpConfig};

/// As the grid's `tcp-cubic` has it.
fn linux() -> TcpConfig {
    let min = Duration::from_millis(200);
    TcpConfig {
        receive_window: 64 << 20,
        rto: RtoConfig { min, granularity: min, ..RtoConfig::default() },
        delayed_ack: DelayedAck { segments: 1, after: Duration::ZERO },
        recovery: Rack::boxed,
        congestion: Cubic::with_hystart,
        ..TcpConfig::default()
    }
}

#[test]
#[ignore]
fn show() {
    for (name, config) in [
        ("rack+hystart", linux()),
        ("rack", TcpConfig { congestion: Cubic::boxed, ..linux() }),
    ] {
        for rate in [10, 100] {
            for rtt in [20, 50, 100] {
                for queue in [0.1, 1.0, 4.0] {
                    for trouble in ["none", "loss 0.1%", "jitter"] {
                        let bdp = rate * 1000 / 8 * rtt;
                        let delay = Duration::from_millis(rtt) / 2;
                        let bytes = ((bdp as f64 * queue) as u64).max(6000);
                        let back = LinkConfig {
                            rate_bps: Some(rate * 1_000_000),
                            delay,
                            queue: QueueLimit::bytes(1 << 30),
                            ..LinkConfig::default()
                        };
                        let mut there = LinkConfig { queue: QueueLimit::bytes(bytes), ..back };
                        match trouble {
                            "loss 0.1%" => there.loss = Loss::Bernoulli(0.001),
                            "jitter" => {
                                there.jitter = Duration::from_millis(5);
                                there.keep_order = false;
                            }
                            _ => {}
                        }
                        let mut pair = pair(1, config.clone(), [there, back], vec![Box::new(Greedy)]);
                        let s = 10.max(rtt * 200 / 1000);
                        pair.run_s(s);
                        let stats = pair.stats();
                        println!(
                            "{name:14} {rate:4} {rtt:4} {queue:4} {trouble:10} {:7.2} Mbit/s again {:6.2} % timeouts {} probes {} recoveries {}",
                            pair.received() as f64 * 8e-6 / s as f64,
                            100.0 * stats.retransmissions as f64 / stats.segments as f64,
                            stats.timeouts, stats.probes, stats.recoveries
                        );
                    }
                }
            }
        }
    }
}
