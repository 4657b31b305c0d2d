use core::net::SocketAddr;

use super::*;

#[test]
fn a_path_over_an_address_of_either_end_begins_with_what_is_known_of_it() {
    let route = |local: &str, remote: &str| {
        let at = |ip: &str| SocketAddr::new(ip.parse().unwrap(), 0);
        Route { local: at(local), remote: at(remote) }
    };
    let fresh = |address: &str, seconds: u64| FreshPath {
        address: address.parse().unwrap(),
        initial_window: None,
        ssthresh: None,
        rto_initial: Some(Duration::from_secs(seconds)),
    };
    let mut config = Config::rfc();
    config.fresh_paths = vec![fresh("10.0.1.2", 3), fresh("10.0.2.2", 5)];
    for (local, remote, seconds) in [
        ("10.0.1.2", "192.0.2.1", 3),
        ("192.0.2.1", "10.0.1.2", 3),
        ("10.0.2.2", "192.0.2.1", 5),
        // Of two that fit the first counts.
        ("10.0.2.2", "10.0.1.2", 3),
        ("10.0.3.2", "192.0.2.1", 1),
    ] {
        let rto = config.rto_of(route(local, remote));
        assert_eq!(rto.initial, Duration::from_secs(seconds), "{local} {remote}");
        assert_eq!((rto.min, rto.max), (config.rto.min, config.rto.max));
    }
}
