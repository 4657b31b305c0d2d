//! Outages whose networks neither go nor come in the same instant.

use core::time::Duration;

use whimbrel_machine::Seed;
use whimbrel_proto::Config;

use super::rows::{self, Row};
use super::world::{Torture, Way};
use super::{environment, play};

/// Both networks go within 0.3 s and come back within 0.5 s, in any order, after up to 21 s; packets pass up to 1.5 s later. In three seeds of
/// four the host is told.
fn row(seed: u64) -> Row {
    let mut random = Seed::from_u64(seed).stream("skew", 0);
    let mut below = |millis| random.duration_below(Duration::from_millis(millis));
    let way = if seed.is_multiple_of(2) { Way::Up } else { Way::Down };
    let told = seed % 8 < 6;
    let outage = Duration::from_secs(1) + below(20_000);
    let goes = [below(300), below(300)];
    let comes = [outage + below(500), outage + below(500)];
    // Until the kernel has a route and knows who the router is.
    let passes = [comes[0] + below(1500), comes[1] + below(1500)];
    let happen = move |hosts: &mut Torture| {
        for (n, network) in hosts.networks().iter().enumerate() {
            if told {
                hosts.unplug(goes[n], *network, comes[n] - goes[n]);
                hosts.silence(comes[n], *network, passes[n] - comes[n]);
            } else {
                hosts.silence(goes[n], *network, passes[n] - goes[n]);
            }
        }
    };
    let lasts = passes[0].min(passes[1]);
    let name = format!("skewed {way:?} told {told} goes {goes:?} comes {comes:?} passes {passes:?}");
    Row { name, start: rows::two(way), lasts, happen: Box::new(happen) }
}

/// Where nobody tells, or too early, a probe finds out.
#[test]
fn networks_that_come_back_one_after_the_other_are_used_at_once() {
    let first = environment("SEED", 1);
    let mut late = Vec::new();
    for seed in first..first + environment("SEEDS", 20) {
        let row = row(seed);
        let outcome = play(&row, &Config::mobile(), seed);
        if !outcome.survived || outcome.recovery > Duration::from_millis(2_500) {
            late.push(format!("seed {seed}: {} {outcome:?}", row.name));
        }
    }
    assert!(late.is_empty(), "{}", late.join("\n"));
}
