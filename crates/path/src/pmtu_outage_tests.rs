//! Sizes that a router has named, and what becomes of them in outages.

use super::*;

/// Two timeouts in a row throw doubt on a size that a router has named: only the smallest is sure to pass until a probe of it is answered.
#[test]
fn a_size_below_the_base_is_confirmed_again_after_timeouts() {
    for mtu in [700, 600] {
        let mut path = PathMtu::new(&config(), false);
        let mut network = Network::new(1500);
        network.run(&mut path, Duration::from_secs(1));
        path.on_packet_too_big(700, network.now);
        network.mtu = mtu;
        path.on_timeout(700);
        assert_eq!(path.proved(), 700);
        path.on_timeout(700);
        path.invariants();
        assert_eq!(path.proved(), LEAST_IPV4);
        network.run(&mut path, network.now - Instant::ZERO + Duration::from_secs(10));
        assert_eq!(path.proved(), if mtu == 700 { 700 } else { LEAST_IPV4 });
    }
}

/// PMTU_RAISE_TIMER is not put off by outages (RFC 8899 §5.1.1): what comes back may be another network.
#[test]
fn outages_do_not_put_off_the_search_for_more_than_a_router_named() {
    let mut path = PathMtu::new(&config(), false);
    let mut network = Network::new(1500);
    network.run(&mut path, Duration::from_secs(1));
    path.on_packet_too_big(700, network.now);
    for round in 1..=6 {
        network.now = Instant::ZERO + Duration::from_secs(400 * round);
        path.on_timeout(700);
        path.on_timeout(700);
        network.run(&mut path, Duration::from_secs(400 * round + 1));
    }
    assert_eq!(path.size(), 1452);
}
