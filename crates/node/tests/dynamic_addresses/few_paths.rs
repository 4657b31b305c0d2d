//! A node that may have one path only, and moves.

use whimbrel_proto::AddressChange::{Add, Delete};
use whimbrel_wire::chunk_type;

use super::mobile::*;
use crate::common::wire_peer::*;

/// The path that there is leads from an address that has gone, and stays until there is another, since an association without a path could
/// not even end. The new one goes where the ASCONF-ACK came from: of the peer's other addresses nothing is known.
#[test]
fn the_only_path_makes_way_for_the_one_that_works() {
    let mut config = mesh();
    config.limits.paths = 1;
    let (mut bench, mobile) = Mobile::connected_with(config, 1, &[2, 3]);
    assert_eq!(bench.paths().len(), 1);
    down(&mut bench, node_address(1));
    up(&mut bench, node_address(2));
    change(&mut bench, &[Add(node_address(2)), Delete(node_address(1).ip())]);
    let request =
        bench.take().into_iter().find(|sent| holds(core::slice::from_ref(sent), chunk_type::ASCONF));
    let (serial, ..) = mobile.read_asconf(&request.expect("the node tells where it is"));
    bench.deliver_on(between(2, 3), &mobile.ack(serial, &[]));
    let routes: Vec<_> = bench.paths().iter().map(|path| path.route).collect();
    assert_eq!(routes, [between(2, 3)]);
    assert!(holds(&bench.take(), chunk_type::HEARTBEAT), "it is asked whether it works");
}
