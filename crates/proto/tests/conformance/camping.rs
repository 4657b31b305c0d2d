//! Address camping (RFC 5062 §2): somebody sets up an association from an address of his own and lists that of a victim, which is to come
//! by the same ports.

use whimbrel_machine::Route;
use whimbrel_proto::{Command, ConnectToken, Event};
use whimbrel_wire::Chunk;

use whimbrel_testbed::peer::*;

fn from(n: u8) -> Route {
    Route { local: node_address(1), remote: peer_address(n) }
}

/// A node, and the association of somebody at address 1 who lists address 2.
fn camped() -> (Bench, Peer) {
    let mut bench = Bench::new(quiet());
    let mut camper = Peer::new();
    camper.connect_with(&mut bench, &[peer_address(1).ip(), peer_address(2).ip()]);
    bench.take();
    (bench, camper)
}

fn victim() -> Peer {
    Peer { tag: 0x3333_4444, ..Peer::with_initial_tsn(7000) }
}

/// The victim comes from address 2 and lists `addresses`.
fn come(bench: &mut Bench, addresses: &[u8]) -> Peer {
    let mut victim = victim();
    let listed: Vec<_> = addresses.iter().map(|&n| peer_address(n).ip().into()).collect();
    bench.deliver_on(from(2), &victim.init(&listed));
    victim.learn_init_ack(&bench.take_only());
    bench.deliver_on(from(2), &victim.cookie_echo());
    bench.take();
    victim
}

#[test]
fn who_comes_from_an_address_that_another_has_listed_gets_an_association() {
    for addresses in [&[][..], &[2], &[2, 3], &[1, 2, 3]] {
        let (mut bench, mut camper) = camped();
        let refused = addresses.contains(&1);
        if refused {
            // An address that the camper has proved is the camper's: this would be a restart with new addresses.
            let listed: Vec<_> = addresses.iter().map(|&n| peer_address(n).ip().into()).collect();
            bench.deliver_on(from(2), &victim().init(&listed));
            assert!(matches!(bench.take_only().only(), Chunk::Abort(_)));
            continue;
        }
        let mut victim = come(&mut bench, addresses);
        assert_eq!((bench.ups(), bench.restarts(), bench.node.association_count()), (2, 0, 2));
        // Both are heard, each at its own address.
        for (peer, n, payload) in [(&mut victim, 2, b"victim"), (&mut camper, 1, b"camper")] {
            let data = peer.data(0, 0, payload);
            bench.deliver_on(from(n), &peer.packet(&[&data]));
        }
        assert_eq!(bench.received(), [b"victim", b"camper"]);
        assert_eq!(bench.closed(), None);
    }
}

/// The restart of a peer at an address that it has proved is one, camper or not.
#[test]
fn a_restart_is_still_one() {
    let (mut bench, _) = camped();
    come(&mut bench, &[]);
    let mut again = Peer { tag: 0x7777_8888, ..victim() };
    bench.deliver_on(from(2), &again.init(&[]));
    again.learn_init_ack(&bench.take_only());
    bench.deliver_on(from(2), &again.cookie_echo());
    assert_eq!((bench.restarts(), bench.node.association_count()), (1, 2));
}

/// The user's own association to the victim takes nothing from the camper either.
#[test]
fn the_user_can_connect_to_an_address_that_another_has_listed() {
    let (mut bench, _) = camped();
    let connect = |token, n| Command::Connect {
        token: ConnectToken(token),
        remote: vec![peer_address(n)],
        remote_port: PEER_PORT,
        local_port: Some(NODE_PORT),
    };
    bench.command(connect(1, 2));
    assert!(matches!(bench.take_only().only(), Chunk::Init(_)));
    let failed =
        |bench: &Bench| bench.events.iter().any(|event| matches!(event, Event::ConnectFailed { .. }));
    assert!(!failed(&bench));
    bench.command(connect(2, 1));
    assert!(failed(&bench), "the camper's own address is in use");
}
