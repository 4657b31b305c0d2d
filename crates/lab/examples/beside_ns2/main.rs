//! What `interop/ns2` runs beside ns-2: the same work without the rows, for its speed, and the same cells with other settings,
//! to find out what a difference comes from.
//!
//! ```sh
//! beside_ns2 start SEED                     # when the source of b08 Figure 7 starts with this seed
//! beside_ns2 sweep FIRST COUNT              # b08 Figure 7: these repetitions of the cells that ns-2 is asked for
//! beside_ns2 bulk SECONDS                   # one greedy source over one link for so many simulated seconds
//! beside_ns2 fig07 COUNT [NAME=VALUE]...    # Figure 7 as CSV, with other settings (see `settings.rs`)
//! beside_ns2 events PAIR SOURCE QUEUE PMR REPETITION [NAME=VALUE]...   # one run: what counts against the primary path, and when
//! beside_ns2 fig12 WINDOW                   # Figure 12 as CSV, with another initial window in packets
//! ```

mod failover;
mod settings;

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use whimbrel_lab::setups::{User, traffic::Greedy};
use whimbrel_lab::{Cell, PAPER, Papers, Value, Watch, figures, profile};
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{LinkConfig, QueueLimit, Side, World};
use whimbrel_node::Node;

use self::settings::Settings;

/// The pairs of access networks in `interop/ns2/run.py`.
const PAIRS: [&str; 3] = ["wlan-umts", "umts-wlan", "geran-wlan"];
/// User data in a full packet of 1,500 bytes.
const LARGEST: usize = 1452;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|word| word.parse::<u64>().ok()).expect("a number");
    let settings = |from: usize| Settings::parse(&arguments[from..]).expect("settings as in settings.rs");
    let papers = Papers::load().expect("a test reads them");
    match arguments.first().map(String::as_str) {
        Some("start") => println!("{}", start(number(1)).as_secs_f64()),
        Some("sweep") => println!("{}", sweep(&papers, number(1), number(2))),
        Some("bulk") => println!("{}", bulk(&papers, Duration::from_secs(number(1)))),
        Some("fig07") => failover::figure(&papers, number(1), &settings(2)),
        Some("events") => {
            let cell = (arguments[1].clone(), arguments[2].clone(), number(3) as u32, number(4) as u32);
            failover::events(&papers, &cell.into(), number(5), &settings(6));
        }
        Some("fig12") => fig12(&papers, number(1) as i64),
        _ => println!("usage: beside_ns2 start | sweep | bulk | fig07 | events | fig12, see the source"),
    }
}

/// As the lab draws it: "uniform(0, 5)" seconds in the data.
fn start(seed: u64) -> Duration {
    Seed::from_u64(seed).stream("traffic.start", 0).duration_below(Duration::from_secs(5))
}

/// Returns how many runs it was.
fn sweep(papers: &Papers, first: u64, count: u64) -> usize {
    let experiment = figures::named(papers, &["b08_fig07".to_owned()]).expect("it exists").remove(0);
    let cells = experiment.cells();
    let asked = cells.iter().filter(|cell| cell.series == PAPER && PAIRS.contains(&cell.word("pair")));
    let mut runs = 0;
    for cell in asked {
        for repetition in first..first + count {
            let outcome = experiment.run(cell, experiment.seed(repetition), Watch::default());
            assert!(!outcome.samples.is_empty());
            runs += 1;
        }
    }
    runs
}

fn fig12(papers: &Papers, window: i64) {
    let experiment = figures::named(papers, &["b08_fig12".to_owned()]).expect("it exists").remove(0);
    println!("pair,alt_icw,packets,transfer_time");
    for pair in PAIRS {
        let axes = vec![("pair".into(), pair.into()), ("alt_icw".into(), Value::from(window))];
        let outcome = experiment.run(&Cell::paper(axes), experiment.seed(0), Watch::default());
        for sample in outcome.samples {
            let of = |name: &str| sample.axes.iter().find(|(axis, _)| axis == name).map(|(_, value)| value);
            if let (Some("standard"), Some(packets), Some((_, time))) =
                (of("variant").and_then(Value::word), of("packets"), sample.metrics.first())
            {
                println!("{pair},{window},{packets},{time}");
            }
        }
    }
}

/// Returns how many full packets were received. Settings as in `interop/ns2/bulk.tcl`.
fn bulk(papers: &Papers, duration: Duration) -> u64 {
    let settings = papers.profile("rfc4960").expect("it exists");
    let config = Arc::new(profile::config(&settings, LARGEST).expect("it is complete"));
    let socket = |host| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), 0);
    let mut world = World::new(Seed::from_u64(1));
    world.forgo_trace_hash();
    let node = |host: u8| {
        Node::new(Arc::clone(&config), world.seed().child("host", host.into()), vec![socket(host)])
    };
    let (cn, mn) = (node(1), node(2));
    let greedy = Box::new(Greedy::new(LARGEST, 256 << 10));
    let start = Instant::ZERO + Duration::from_millis(100);
    let cn = world.add_host("cn", cn, User::sender(start, vec![socket(2)], greedy));
    let mn = world.add_host("mn", mn, User::reader());
    let (near, far) = (world.add_interface(cn, [socket(1).ip()]), world.add_interface(mn, [socket(2).ip()]));
    let config = LinkConfig {
        rate_bps: Some(11_000_000),
        delay: Duration::from_millis(20),
        queue: QueueLimit::packets(50),
        ..LinkConfig::default()
    };
    let link = world.add_link(near, far, config, config);
    world.run_until(Instant::ZERO + duration);
    world.stats(link, Side::AtoB).delivered_bytes / 1500
}
