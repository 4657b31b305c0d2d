//! One end asks, the other one answers, and the next question waits for the answer.

use core::time::Duration;

use whimbrel_handover::{Pace, Seamless};
use whimbrel_netsim::{LinkConfig, Loss};
use whimbrel_proto::Config;
use whimbrel_testbed::{Pair, User, link, millis, remotes};

/// How long answers took in a minute of questions of 100 bytes, each 20 ms after the last answer; the longest ones last.
fn answers(seed: u64, links: &[LinkConfig]) -> Vec<Duration> {
    let pause = millis(20);
    let client = User::client(&remotes(links.len())).asking(100, pause);
    let server = User::server().echoing();
    let mut pair = Pair::with_nodes(seed, Config::mobile(), links, client, server, |_, node| {
        node.with_policy(|| Box::new(Seamless::policy(Pace::MOBILE)))
    });
    pair.run(60);
    let received = pair.client().received.windows(2);
    let mut took: Vec<_> =
        received.map(|two| two[1].0.saturating_since(two[0].0).saturating_sub(pause)).collect();
    took.sort_unstable();
    took
}

fn percentile(sorted: &[Duration], of_thousand: usize) -> Duration {
    sorted[sorted.len() * of_thousand / 1000]
}

/// A second network that is slow is no worse than none: what was lost on the quick one is asked for there, and new questions and answers go there, too.
#[test]
fn a_slow_network_beside_a_lossy_one_delays_no_answers() {
    for loss in [0.005, 0.01, 0.02] {
        for seed in [3, 14, 159] {
            let quick = LinkConfig { loss: Loss::Bernoulli(loss), ..link(5, 10) };
            let alone = answers(seed, &[quick]);
            let beside = answers(seed, &[quick, link(5, 300)]);
            for part in [990, 995] {
                let (alone, beside) = (percentile(&alone, part), percentile(&beside, part));
                assert!(
                    beside <= alone.max(millis(91)) + millis(25),
                    "{seed} {loss} {part}: {alone:?}, {beside:?}"
                );
            }
            // A question or an answer that is lost, and its probe, too, takes another round trip or two.
            assert!(
                beside.len() * 100 >= alone.len() * 97,
                "{seed} {loss}: {} of {}",
                beside.len(),
                alone.len()
            );
        }
    }
}
