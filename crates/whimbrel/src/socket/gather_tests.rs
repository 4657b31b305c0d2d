use core::net::SocketAddr;

use whimbrel_machine::{Ecn, Fragmentation, IpProtocol, Route};

use super::*;

fn towards(host: u8, segment: usize) -> Transmit {
    let address = |host: u8| SocketAddr::from(([127, 0, 0, host], 9899));
    let route = Route { local: address(1), remote: address(host) };
    let (fragmentation, protocol) = (Fragmentation::Forbidden, IpProtocol::Sctp);
    Transmit { route, ecn: Ecn::NotCapable, fragmentation, protocol, segment }
}

fn train(gathered: Option<Train>) -> (SocketAddr, usize, Vec<u8>) {
    let train = gathered.expect("a train");
    (train.transmit.route.remote, train.transmit.segment, train.bytes)
}

/// What an endpoint with several paths per association writes: one packet per path in turn.
#[test]
fn routes_that_alternate_grow_a_train_each() {
    let mut gathered = Gathered::default();
    for number in 0..10 {
        for host in [2, 3] {
            assert!(gathered.add(&towards(host, 4), &[number; 4], 1000).is_none());
        }
    }
    for host in [2, 3] {
        let (remote, segment, bytes) = train(gathered.take());
        assert_eq!((remote, segment, bytes.len()), (towards(host, 4).route.remote, 4, 40));
        assert!(bytes.chunks(4).enumerate().all(|(number, packet)| packet == [number as u8; 4]));
    }
    assert!(gathered.take().is_none());
}

#[test]
fn another_length_or_too_much_sends_what_waits() {
    let mut gathered = Gathered::default();
    assert!(gathered.add(&towards(2, 4), &[1; 4], 8).is_none());
    assert!(gathered.add(&towards(2, 4), &[2; 4], 8).is_none());
    assert_eq!(train(gathered.add(&towards(2, 4), &[3; 4], 8)).2, [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(train(gathered.add(&towards(2, 5), &[4; 5], 8)).2, [3; 4]);
    assert_eq!(train(gathered.take_like(&towards(2, 5))).2, [4; 5]);
    assert!(gathered.take().is_none());
}

/// The number of trains is bounded: the oldest leaves.
#[test]
fn many_routes_make_room() {
    let mut gathered = Gathered::default();
    for host in 0..TRAINS as u8 {
        assert!(gathered.add(&towards(host, 1), &[host], 9).is_none());
    }
    assert_eq!(train(gathered.add(&towards(100, 1), &[100], 9)).2, [0]);
    assert_eq!(gathered.growing.len(), TRAINS);
    let rest: Vec<_> = core::iter::from_fn(|| gathered.take()).collect();
    assert_eq!(rest.len(), TRAINS);
    for leaving in rest {
        gathered.reuse(leaving);
    }
    assert_eq!(gathered.spare.len(), TRAINS);
}
