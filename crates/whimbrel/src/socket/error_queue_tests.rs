use core::net::SocketAddr;

use whimbrel_machine::Unreachable;

use super::linux::by_whom;

/// Only the host itself can say that nobody listens there; how large packets may be is a router's to say.
#[test]
fn a_network_cannot_speak_for_the_peer() {
    let peer: SocketAddr = "192.0.2.7:9899".parse().unwrap();
    let gateway = "192.0.2.1".parse().unwrap();
    let too_big = Unreachable::PacketTooBig { mtu: 1400 };
    assert_eq!(by_whom(Unreachable::Protocol, Some(peer.ip()), Some(peer)), Unreachable::Protocol);
    assert_eq!(by_whom(Unreachable::Protocol, Some(gateway), Some(peer)), Unreachable::Destination);
    assert_eq!(by_whom(Unreachable::Protocol, None, Some(peer)), Unreachable::Destination);
    assert_eq!(by_whom(too_big, Some(gateway), Some(peer)), too_big);
}
