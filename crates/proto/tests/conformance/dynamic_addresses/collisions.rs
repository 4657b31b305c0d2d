//! Both sides begin at once, and the handshake that counts in the end offers something else than the one that came first (RFC 9260
//! §5.2.4 B): whether addresses can change follows it.

use core::time::Duration;

use whimbrel_proto::AddressChange::Add;
use whimbrel_proto::{AddressChangeError as Error, Mobility, StaticReason};
use whimbrel_wire::{Chunk, CookieAck, CookieEcho, Parameter, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

const STATIC: Mobility = Mobility::Static(StaticReason::PeerLacksAsconf);

/// The parameters of the peer, with or without the announcement of ASCONF.
fn offer(mobile: &Mobile, announced: bool) -> Vec<Parameter<'_>> {
    let mut parameters = mobile.parameters();
    if announced {
        parameters.push(Parameter::SupportedExtensions(&EXTENSIONS));
    }
    parameters
}

/// The node has begun, and so has the peer: its cookie, and the association that its INIT ACK has set up. `[earlier, later]` says which
/// of the two handshakes announces ASCONF: that of the INIT ACK, or that of the cookie.
fn collision([earlier, later]: [bool; 2]) -> (Bench, Mobile, Vec<u8>) {
    let mut bench = Bench::with_addresses(mesh(), 1);
    let mut mobile = Mobile::new();
    bench.connect(&[peer_address(1)]);
    let init = bench.take_only();
    mobile.auth.learn_init(&init);
    // Another attempt of the peer has another tag.
    let mut again = mobile.clone();
    again.auth.peer.tag = 0x9999;
    let colliding = again.init(&offer(&again, later));
    bench.deliver(&colliding);
    again.auth.peer.learn_init_ack(&bench.take_only());
    let cookie_echo = again.packet(&[&CookieEcho { cookie: &again.cookie }]);
    let mut parameters = offer(&mobile, earlier);
    parameters.push(Parameter::StateCookie(b"a cookie"));
    bench.deliver(&mobile.init_ack(&parameters));
    assert!(matches!(bench.take_only().chunks()[0], Chunk::CookieEcho(_)));
    bench.deliver(&mobile.packet(&[&CookieAck]));
    assert_eq!(bench.ups(), 1);
    mobile.settle(&mut bench);
    (bench, mobile, cookie_echo)
}

#[test]
fn what_was_asked_for_is_given_up_when_mobility_ends() {
    let (mut bench, mobile, cookie_echo) = collision([true, false]);
    assert_eq!(mobility(&bench), Mobility::Dynamic);
    for n in [2, 3] {
        gain(&mut bench, node_address(n));
    }
    let sent = bench.take();
    assert!(holds(&sent, chunk_type::ASCONF));
    bench.deliver(&cookie_echo);
    assert_eq!(mobility(&bench), STATIC);
    let refused = |n| (Add(node_address(n)), Err(Error::Static(StaticReason::PeerLacksAsconf)));
    assert_eq!(outcomes(&bench), [refused(2), refused(3)]);
    // Neither the chunk nor the address is used any more; the association goes on.
    let mut again = mobile.clone();
    again.auth.peer.tag = 0x9999;
    for _ in 0..20 {
        bench.pass(Duration::from_millis(500));
        let sent = again.settle(&mut bench);
        assert!(!holds(&sent, chunk_type::ASCONF), "{sent:?}");
    }
    bench.deliver(&again.ack(again.first_serial(), &[]));
    assert!(bench.paths().iter().all(|path| path.route.local == node_address(1)));
    change(&mut bench, &[Add(node_address(2))]);
    assert_eq!(outcomes(&bench)[2..], [refused(2)]);
    assert_alive(&mut bench, &again);
}

#[test]
fn what_could_not_be_asked_for_can_be_once_mobility_begins() {
    let (mut bench, mobile, cookie_echo) = collision([false, true]);
    assert_eq!(mobility(&bench), STATIC);
    bench.deliver(&cookie_echo);
    assert_eq!(mobility(&bench), Mobility::Dynamic);
    mobile.settle(&mut bench);
    gain(&mut bench, node_address(2));
    let sent = bench.take_only();
    assert_eq!(sent.tag(), 0x9999);
    mobile.grant(&mut bench, &sent);
    mobile.settle(&mut bench);
    assert_eq!(outcomes(&bench), [(Add(node_address(2)), Ok(()))]);
}
