//! A bad network in one process: datagrams that reach `--listen` go on to `--towards` late, out of order, twice or not at all, and answers
//! come back in the same way. The links are those of the soak and of the experiments, in real time; `interop/webrtc.sh` puts other stacks behind it.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this program lives in real time")]

use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;
use whimbrel_emulator::{Relay, RelayConfig};
use whimbrel_machine::Seed;
use whimbrel_netsim::{LinkConfig, Loss, Reorder};

/// Relays UDP datagrams badly until it is killed.
#[derive(Parser, Debug)]
#[command(name = "relay")]
struct Options {
    /// Where clients send to.
    #[arg(long)]
    listen: SocketAddr,
    /// The server.
    #[arg(long)]
    towards: SocketAddr,
    /// Where the server sees the first client.
    #[arg(long)]
    exit: SocketAddr,
    /// Milliseconds one way.
    #[arg(long, default_value_t = 0)]
    delay: u64,
    /// Per cent of datagrams that are lost, each way.
    #[arg(long, default_value_t = 0.0)]
    loss: f64,
    /// Per cent of datagrams that take twice as long as the others, and arrive behind some of them.
    #[arg(long, default_value_t = 0.0)]
    reorder: f64,
    /// Per cent of datagrams that arrive twice.
    #[arg(long, default_value_t = 0.0)]
    duplicate: f64,
    /// Which datagrams these are.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let options = Options::parse();
    let delay = Duration::from_millis(options.delay);
    let link = LinkConfig {
        delay,
        loss: if options.loss > 0.0 { Loss::Bernoulli(options.loss / 100.0) } else { Loss::None },
        reorder: Reorder { probability: options.reorder / 100.0, extra: delay },
        duplicate: options.duplicate / 100.0,
        ..LinkConfig::default()
    };
    let mut config = RelayConfig::new(options.listen, options.towards, options.exit);
    (config.uplink, config.downlink, config.seed) = (link, link, Seed::from_u64(options.seed));
    let relay = Relay::bind(config)?;
    println!("{{\"listening\":\"{}\"}}", relay.handle().local_addr());
    std::future::pending().await
}
