//! Both sides begin at once: random numbers follow the Verification Tags (RFC 4895 §6.1, RFC 9260 §5.2).

use whimbrel_wire::{Chunk, CookieAck, CookieEcho, Parameter, Parameters, chunk_type};

use crate::auth_peer::{AuthPeer, with_key};
use whimbrel_testbed::peer::{Bench, Sent, peer_address};

const DATA: [u8; 1] = [chunk_type::DATA];

/// The node has sent INIT; the peer begins as well. The INITs.
fn collision() -> (Bench, AuthPeer) {
    let mut bench = Bench::new(with_key(&DATA, b"secret"));
    let mut peer = AuthPeer::with_key(&DATA, b"secret");
    bench.connect(&[peer_address(1)]);
    peer.learn_init(&bench.take_only());
    (bench, peer)
}

fn random(parameters: Parameters<'_>) -> Vec<u8> {
    let random = { parameters }.find_map(|parameter| match parameter {
        Ok(Parameter::Random(random)) => Some(random.to_vec()),
        _ => None,
    });
    random.expect("the node offers authentication")
}

/// Data passes both ways, authenticated with the keys of `peer`.
#[track_caller]
fn assert_keys(bench: &mut Bench, peer: &mut AuthPeer) {
    assert_eq!(bench.ups(), 1);
    bench.take();
    let before = bench.received().len();
    let data = peer.data(0, before as u16, b"x");
    bench.deliver(&peer.signed(&[&data]));
    assert_eq!(bench.received().len(), before + 1);
    bench.send(0, b"y");
    let sent = bench.take();
    assert!(sent.iter().any(|sent| peer.opened(sent).1.contains(&chunk_type::DATA)));
}

/// The INIT ACK to a colliding INIT has the tag of our INIT, and so its random number.
#[test]
fn the_answer_to_a_colliding_init_repeats_the_random_number() {
    let (mut bench, mut peer) = collision();
    let own = peer.node_vector.clone();
    let tag = peer.node_tag;
    peer.begin(&mut bench);
    assert_eq!((&peer.node_vector, peer.node_tag), (&own, tag));
}

/// Our COOKIE ECHO gets there first, then the peer's: RFC 9260 §5.2.4 D.
#[test]
fn the_keys_are_the_same_whichever_handshake_wins() {
    for peer_first in [false, true] {
        let (mut bench, mut peer) = collision();
        peer.begin(&mut bench);
        let cookie = peer.cookie.clone();
        let theirs = peer.packet(&[&CookieEcho { cookie: &cookie }]);
        let mut parameters = vec![Parameter::StateCookie(b"a cookie")];
        let own = peer.clone();
        parameters.extend(own.parameters());
        if peer_first {
            bench.deliver(&theirs);
            bench.deliver(&peer.init_ack(&parameters));
        } else {
            bench.deliver(&peer.init_ack(&parameters));
            assert!(matches!(bench.take_only().chunks()[0], Chunk::CookieEcho(_)));
            bench.deliver(&theirs);
        }
        bench.deliver(&peer.signed(&[&CookieAck]));
        assert_keys(&mut bench, &mut peer);
    }
}

/// RFC 9260 §5.2.4 B: the peer has chosen another tag since, and with it another random number. Those of the cookie
/// count.
#[test]
fn a_later_handshake_of_the_peer_brings_its_random_number() {
    for established in [false, true] {
        let (mut bench, mut peer) = collision();
        let first = peer.clone();
        let mut parameters = vec![Parameter::StateCookie(b"a cookie")];
        parameters.extend(first.parameters());
        // The cookie is made while we wait for an INIT ACK, so that it has our tag and no tie-tags.
        (peer.peer.tag, peer.random) = (0x9999, [0x17; 32]);
        peer.begin(&mut bench);
        let cookie = peer.cookie.clone();
        // The INIT ACK of the peer's first attempt.
        bench.deliver(&first.init_ack(&parameters));
        if established {
            bench.deliver(&first.signed(&[&CookieAck]));
        }
        bench.take();
        bench.deliver(&peer.packet(&[&CookieEcho { cookie: &cookie }]));
        let sent: Vec<Sent> = bench.take();
        assert!(sent.iter().any(|sent| sent.chunks().contains(&Chunk::CookieAck)), "{sent:?}");
        assert_keys(&mut bench, &mut peer);
    }
}

/// A new handshake after a stale cookie has a new tag, and so a new random number.
#[test]
fn a_new_handshake_brings_a_new_random_number() {
    let (mut bench, peer) = collision();
    let mut parameters = vec![Parameter::StateCookie(b"a cookie")];
    let own = peer.clone();
    parameters.extend(own.parameters());
    bench.deliver(&peer.init_ack(&parameters));
    bench.take();
    let stale = [whimbrel_wire::Cause::StaleCookie { microseconds: 1 }];
    bench.deliver(&peer.packet(&[&whimbrel_wire::ErrorBuilder { causes: &stale }]));
    let sent = bench.take_only();
    let mut again = peer.clone();
    again.learn_init(&sent);
    assert_ne!(again.node_tag, peer.node_tag);
    let Chunk::Init(init) = sent.only() else { panic!("{sent:?}") };
    assert!(!peer.node_vector.windows(32).any(|window| window == random(init.parameters)));
    bench.deliver(&again.init_ack(&parameters));
    bench.deliver(&again.signed(&[&CookieAck]));
    assert_keys(&mut bench, &mut again);
}
