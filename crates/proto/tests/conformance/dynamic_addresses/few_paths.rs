//! Little room: a node that may have one path only, and moves; a peer that may list few addresses.

use core::time::Duration;

use whimbrel_proto::AddressChange::{Add, Delete};
use whimbrel_wire::{cause_code as code, chunk_type};

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

/// A host lists bridges to its containers, too, where nothing answers, and there is no room for more. Then it is elsewhere, and speaks for itself
/// from there.
#[test]
fn an_address_where_nothing_answers_makes_room_for_one_that_speaks() {
    let mut config = mesh();
    config.limits.peer_addresses = 3;
    let (mut bench, mut mobile) = Mobile::connected_with(config, 1, &[1, 2, 3]);
    let speaks = |bench: &mut Bench, mobile: &mut Mobile| {
        let request = mobile.asconf(&[add(1, peer_address(4).ip())]);
        bench.take();
        bench.deliver_on(between(1, 4), &request);
        let sent = bench.take();
        responses(mobile, &sent)
    };
    let shortage = [(1, code::RESOURCE_SHORTAGE)];
    assert_eq!(speaks(&mut bench, &mut mobile), shortage, "they may answer yet");
    // Nobody answers but the first.
    for _ in 0..300 {
        bench.pass(Duration::from_secs(1));
        let sent = bench.take();
        let first: Vec<_> = sent.into_iter().filter(|sent| sent.route == between(1, 1)).collect();
        first.iter().for_each(|sent| mobile.answer_heartbeats(&mut bench, sent));
    }
    assert_eq!(speaks(&mut bench, &mut mobile), Vec::new());
    assert_eq!(remotes(&bench), [1, 2, 4].map(|n| peer_address(n).ip()));
}
