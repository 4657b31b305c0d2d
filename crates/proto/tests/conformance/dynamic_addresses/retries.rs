//! Where and when a request goes out again while the peer's addresses come and go, too (RFC 5061 §5.1 B1 to B4).

use core::time::Duration;

use whimbrel_proto::{Config, TailLoss};
use whimbrel_wire::chunk_type;

use super::mobile::*;
use whimbrel_testbed::peer::*;

fn asconfs(sent: Vec<Sent>) -> Vec<Sent> {
    sent.into_iter().filter(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF)).collect()
}

/// A peer with two addresses; the request to add another of ours that has just left.
fn asked(config: Config) -> (Bench, Mobile, Sent) {
    let (mut bench, mobile) = Mobile::connected_with(config, 1, &[1, 2]);
    // The round trip is measured on both.
    for _ in 0..400 {
        bench.pass(Duration::from_millis(100));
        mobile.settle(&mut bench);
    }
    gain(&mut bench, node_address(2));
    let request = asconfs(bench.take()).remove(0);
    (bench, mobile, request)
}

/// What is on its way to an address that the peer has just deleted is lost; T4 would say so an RTO later.
#[test]
fn what_went_to_an_address_that_the_peer_deletes_goes_elsewhere_at_once() {
    let (mut bench, mut mobile, request) = asked(mesh());
    let (gone, left) = if request.route.remote == peer_address(1) { (1, 2) } else { (2, 1) };
    let deletion = mobile.asconf_naming(peer_address(left).ip(), &[delete(1, peer_address(gone).ip())]);
    bench.deliver_on(between(1, left), &deletion);
    let again = asconfs(bench.take()).remove(0);
    assert_eq!(again.route, between(1, left));
    assert_eq!(mobile.read_asconf(&again), mobile.read_asconf(&request));
}

/// As with the tail of what was sent: two round trips without an answer, and the chunk goes out once more where another path works.
#[test]
fn another_path_is_tried_after_two_round_trips() {
    let mut config = mesh();
    config.retransmission.tail = TailLoss::Probe;
    let (mut bench, mobile, request) = asked(config.clone());
    let errors = |bench: &Bench| bench.paths().iter().map(|path| path.error_count).sum::<u32>();
    bench.pass(config.rto.min / 2);
    let again = asconfs(bench.take());
    assert_eq!(again.len(), 1);
    assert_ne!(again[0].route, request.route);
    // Nothing has been missed yet: the second has the time that T4 gives it.
    assert_eq!(errors(&bench), 0);
    bench.pass(config.rto.min / 2);
    assert_eq!(asconfs(bench.take()).len(), 0);
    bench.pass(config.rto.min);
    let third = asconfs(bench.take());
    assert_eq!(third.len(), 1);
    assert!(errors(&bench) > 0);
    mobile.grant(&mut bench, &third[0]);
    bench.pass(Duration::from_secs(10));
    assert_eq!(asconfs(bench.take()).len(), 0);
}
