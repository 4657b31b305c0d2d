use core::net::SocketAddr;

use super::*;

fn address(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, n, 1], 9899))
}

#[test]
fn only_a_member_that_is_up_is_a_source() {
    let mut locals = Locals::new([address(1), address(2)], &[address(1), address(3)]);
    assert!(locals.is_source(address(1).ip()));
    assert!(!locals.is_source(address(2).ip()), "down");
    assert!(!locals.is_source(address(3).ip()), "the peer does not know it");
    locals.set(address(3), Standing::Adding);
    assert!(!locals.is_source(address(3).ip()));
    assert!(locals.accepts(address(3).ip()));
    locals.set(address(3), Standing::Member);
    locals.set(address(1), Standing::Deleting);
    assert_eq!(locals.sources(), [address(3)]);
    assert!(locals.accepts(address(1).ip()) && locals.is_leaving(address(1).ip()));
    locals.remove(address(1).ip());
    assert!(!locals.accepts(address(1).ip()));
}

#[test]
fn an_address_may_come_back_with_another_port() {
    let mut locals = Locals::new([address(1)], &[address(1)]);
    locals.handle_down(address(1).ip());
    assert!(locals.sources().is_empty());
    let moved = SocketAddr::new(address(1).ip(), 4000);
    locals.handle_up(moved);
    assert_eq!(locals.sources(), [moved]);
    locals.handle_up(moved);
    assert_eq!(locals.all_up().count(), 1);
}

#[test]
fn a_driver_bound_to_any_address_sends_from_whatever_was_hit() {
    let any = SocketAddr::from(([0, 0, 0, 0], 9899));
    let locals = Locals::new([any], &[any]);
    assert!(locals.is_source(address(7).ip()) && locals.accepts(address(7).ip()));
}
