//! A node that may have one path only, and moves.

use core::time::Duration;

use whimbrel_proto::AddressChange::{Add, Delete};
use whimbrel_wire::chunk_type;

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// The path that there is leads from an address that has gone, and stays until there is another, since an association without a path could
/// not even end. The new one goes where the ASCONF-ACK came from: of the peer's other addresses nothing is known.
#[test]
fn the_only_path_makes_way_for_the_one_that_works() {
    let mut config = mesh();
    config.limits.paths = 1;
    let (mut bench, mobile) = Mobile::connected_with(config, 1, &[2, 3]);
    assert_eq!(bench.paths().len(), 1);
    swap(&mut bench, node_address(1), node_address(2));
    change(&mut bench, &[Add(node_address(2)), Delete(node_address(1).ip())]);
    let request =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF));
    let (serial, ..) = mobile.read_asconf(&request.expect("the node tells where it is"));
    bench.deliver_on(between(2, 3), &mobile.ack(serial, &[]));
    let routes: Vec<_> = bench.paths().iter().map(|path| path.route).collect();
    assert_eq!(routes, [between(2, 3)]);
    assert!(holds(&bench.take(), chunk_type::HEARTBEAT), "it is asked whether it works");
}

/// RFC 5061 §5.3.2: a peer may move, however many of the paths are dead.
#[test]
fn a_peer_may_move_though_there_are_as_many_paths_as_there_may_be() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 4, &[1, 2, 3, 4, 5, 6, 7, 8]);
    (2..=4).for_each(|n| down(&mut bench, node_address(n)));
    bench.pass(Duration::from_secs(5));
    mobile.settle(&mut bench);
    let requests = [add(0, peer_address(9).ip()), delete(1, peer_address(1).ip())];
    bench.deliver_on(between(1, 2), &mobile.asconf(&requests));
    let sent = bench.take();
    assert_eq!(responses(&mobile, &sent), [], "32 paths, 24 of them closed");
}
