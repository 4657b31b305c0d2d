//! COOKIE ECHO that must be authenticated (RFC 4895 §6.3): with and without an association.

use whimbrel_proto::{AuthKeyNews, Event};
use whimbrel_wire::{Chunk, CookieEcho, chunk_type};

use crate::auth_peer::{AuthPeer, requiring, with_key};
use whimbrel_testbed::peer::{Bench, quiet, with_checksum};

const COOKIE: [u8; 1] = [chunk_type::COOKIE_ECHO];

fn server() -> Bench {
    Bench::new(with_key(&COOKIE, b"secret"))
}

fn client() -> AuthPeer {
    AuthPeer::with_key(&[], b"secret")
}

#[test]
fn only_who_has_the_key_gets_an_association() {
    let mut bench = server();
    let mut peer = client();
    peer.begin(&mut bench);
    let cookie = peer.cookie.clone();
    let echo = CookieEcho { cookie: &cookie };
    let data = peer.data(0, 0, b"first");
    let mut stranger = peer.clone();
    stranger.key.1 = b"guess".to_vec();
    let mut null = peer.clone();
    null.key = (0, Vec::new());
    for refused in [
        peer.packet(&[&echo]),
        peer.packet(&[&echo, &data]),
        peer.signed_behind(&[&echo], &[&data]),
        stranger.signed(&[&echo]),
        null.signed(&[&echo]),
        peer.signed(&[&data, &echo]),
    ] {
        let sent = bench.ask(&refused);
        assert!(!sent.iter().any(|sent| matches!(sent.chunks()[0], Chunk::CookieAck)), "{sent:?}");
        assert_eq!((bench.ups(), bench.node.association_count()), (0, 0));
    }
    let sent = bench.ask(&peer.signed(&[&echo, &data]));
    assert!(matches!(sent[0].chunks()[0], Chunk::CookieAck));
    assert_eq!((bench.ups(), bench.received()), (1, vec![b"first".to_vec()]));
}

/// RFC 4895 §6.3: AUTH between COOKIE ECHO and DATA.
#[test]
fn data_behind_cookie_echo_is_authenticated_with_the_new_keys() {
    let mut bench = Bench::new(requiring(&[chunk_type::DATA]));
    let mut peer = AuthPeer::new(&[]);
    peer.begin(&mut bench);
    let cookie = peer.cookie.clone();
    let data = peer.data(0, 0, b"first");
    bench.deliver(&peer.signed_behind(&[&CookieEcho { cookie: &cookie }], &[&data]));
    assert_eq!((bench.ups(), bench.received()), (1, vec![b"first".to_vec()]));
}

/// RFC 4895 §6.3: where the cookie need not be authenticated but is, it counts all the same.
#[test]
fn a_forged_auth_chunk_before_a_cookie_drops_it_even_where_none_is_needed() {
    let mut bench = Bench::new(with_key(&[], b"secret"));
    let mut peer = client();
    peer.begin(&mut bench);
    let cookie = peer.cookie.clone();
    let genuine = peer.signed(&[&CookieEcho { cookie: &cookie }]);
    let mut forged = genuine.clone();
    forged[30] ^= 1;
    assert!(bench.ask(&with_checksum(forged)).is_empty());
    assert_eq!(bench.ups(), 0);
    bench.deliver(&genuine);
    assert_eq!(bench.ups(), 1);
}

/// Where authentication is off, AUTH takes with it what follows.
#[test]
fn auth_before_a_cookie_without_authentication() {
    let mut bench = Bench::new(quiet());
    let mut peer = AuthPeer::new(&[]);
    peer.begin(&mut bench);
    let cookie = peer.cookie.clone();
    assert!(bench.ask(&peer.signed(&[&CookieEcho { cookie: &cookie }])).is_empty());
    bench.deliver(&peer.cookie_echo());
    assert_eq!(bench.ups(), 1);
}

/// RFC 4895 §6.3, §9: a restart needs the old key; then both sides use the new one.
#[test]
fn a_restart_is_authenticated_with_the_old_keys() {
    let mut bench = Bench::new(with_key(&[chunk_type::COOKIE_ECHO, chunk_type::DATA], b"secret"));
    let mut old = client();
    old.connect(&mut bench);
    let mut new = old.clone();
    (new.peer.tag, new.random) = (0x7777, [9; 32]);
    new.peer.tsn = new.initial_tsn;
    new.begin(&mut bench);
    let cookie = new.cookie.clone();
    let echo = CookieEcho { cookie: &cookie };
    let data = new.data(0, 0, b"again");
    bench.deliver(&new.packet(&[&echo]));
    bench.deliver(&new.signed(&[&echo]));
    assert_eq!(bench.restarts(), 0, "the key of the old association is needed");
    // The old key in a packet of the new handshake.
    let mut restarting = old.clone();
    restarting.peer = new.peer.clone();
    bench.deliver(&restarting.signed(&[&echo, &data]));
    assert_eq!((bench.restarts(), bench.received()), (1, vec![b"again".to_vec()]));
    let data = new.data(0, 1, b"more");
    bench.deliver(&restarting.signed(&[&data]));
    assert_eq!(bench.received().len(), 1, "the old key has had its day");
    bench.deliver(&new.signed(&[&data]));
    assert_eq!(bench.received().len(), 2);
}

/// A repeated COOKIE ECHO (its COOKIE ACK was lost) is authenticated by the association there is.
#[test]
fn a_repeated_cookie_echo_is_authenticated() {
    let mut bench = server();
    let mut peer = client();
    peer.connect(&mut bench);
    let cookie = peer.cookie.clone();
    let echo = CookieEcho { cookie: &cookie };
    assert!(bench.ask(&peer.packet(&[&echo])).is_empty());
    let sent = bench.ask(&peer.signed(&[&echo]));
    assert!(matches!(sent[0].chunks()[0], Chunk::CookieAck));
    assert_eq!((bench.ups(), bench.restarts()), (1, 0));
}

/// RFC 4895 §6.3: a cookie holds no shared key, and no more than it needs.
#[test]
fn a_cookie_is_small_and_holds_no_key() {
    let secret = b"correct horse battery staple";
    let mut bench = Bench::new(with_key(&COOKIE, secret));
    let mut peer = AuthPeer::with_key(&[chunk_type::DATA], secret);
    peer.begin(&mut bench);
    let with = peer.cookie.clone();
    assert!(!with.windows(8).any(|window| secret.windows(8).any(|part| part == window)));
    let mut bench = Bench::new(quiet());
    let mut plain = whimbrel_testbed::peer::Peer::new();
    plain.begin(&mut bench, &[]);
    assert!(with.len() <= plain.cookie.len() + 48, "{} {}", with.len(), plain.cookie.len());
}

/// RFC 9653 §5.2: a COOKIE ECHO needs its checksum, behind AUTH as well.
#[test]
fn a_cookie_echo_behind_auth_needs_its_checksum() {
    let mut config = with_key(&COOKIE, b"secret");
    config.checksum = whimbrel_proto::ChecksumPolicy::ZeroAcceptable { edmid: 1 };
    let mut bench = Bench::new(config);
    let mut peer = client();
    peer.begin(&mut bench);
    let cookie = peer.cookie.clone();
    let genuine = peer.signed(&[&CookieEcho { cookie: &cookie }]);
    let mut zero = genuine.clone();
    zero[8..12].fill(0);
    assert!(bench.ask(&zero).is_empty());
    bench.deliver(&genuine);
    assert_eq!(bench.ups(), 1);
}

/// Guesses at the cookie stage tell the user nothing: there is no association to speak of.
#[test]
fn guesses_without_an_association_make_no_events() {
    let mut bench = server();
    let mut peer = client();
    peer.begin(&mut bench);
    let cookie = peer.cookie.clone();
    let mut stranger = peer.clone();
    stranger.key.0 = 9;
    bench.deliver(&stranger.signed(&[&CookieEcho { cookie: &cookie }]));
    let news = |event: &Event| matches!(event, Event::AuthKey { news: AuthKeyNews::Unknown, .. });
    assert!(!bench.events.iter().any(news));
}
