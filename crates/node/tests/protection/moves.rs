use whimbrel_netsim::Loss;
use whimbrel_testbed::traffic::{ConstantRate, Traffic};
use whimbrel_testbed::{at, link, millis};
use whimbrel_wire::draft::Dtls;

use super::*;

/// Networks come and go, packets are lost, and everything arrives.
#[test]
fn outages_and_losses_are_survived() {
    for seed in 1..25 {
        let mut wlan = link(10, 10);
        wlan.loss = Loss::Bernoulli(0.02);
        let mut pair = pair(seed, configs(), &[wlan, link(5, 30)]);
        pair.cut(0, at(60 + seed * 7));
        pair.heal(0, at(4_000));
        pair.cut(1, at(200 + seed * 11));
        pair.heal(1, at(9_000));
        pair.run(60);
        assert_all_arrived(&pair);
    }
}

/// The keys are renewed each hour, under loss, and nothing is lost by that.
#[test]
fn keys_are_renewed_each_hour() {
    let mut path = link(10, 10);
    path.loss = Loss::Bernoulli(0.05);
    let mut pair = pair(3, configs(), &[path]);
    let heard = listen(&mut pair);
    pair.run(9_000);
    assert_all_arrived(&pair);
    let mut epochs: Vec<u8> = Vec::new();
    for (_, packet) in heard.lock().unwrap().iter() {
        if let Some(record) = Dtls::read(&chunks(packet)[0])
            && !epochs.contains(&record.epoch)
        {
            epochs.push(record.epoch);
        }
    }
    assert_eq!(epochs, [3, 0, 1]);
}

/// What is said about a renewal comes behind a gap, and its turn comes with other packets. Nobody but the association reads it.
#[test]
fn what_is_said_about_keys_is_for_no_user() {
    for seed in 1..20 {
        let mut path = link(10, 30);
        path.loss = Loss::Bernoulli(0.1);
        let [client, server] = [User::client(&remotes(1)), User::server()].map(|user| {
            let traffic = Later(ConstantRate::every(700, millis(5), COUNT as u64));
            user.sending(Box::new(traffic) as Box<dyn Traffic>)
        });
        let mut pair = Pair::with_configs(seed, configs(), &[[path; 2]], client, server);
        pair.run(3_620);
        assert_all_arrived(&pair);
    }
}

/// Traffic that begins just before keys are renewed.
struct Later(ConstantRate);

impl Traffic for Later {
    fn offer(&mut self, now: Instant, acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        let begin = at(3_599_500);
        if now < begin { Some(begin) } else { self.0.offer(now, acknowledged, send) }
    }
}
