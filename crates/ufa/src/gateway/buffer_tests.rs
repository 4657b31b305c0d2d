use core::net::SocketAddr;

use super::*;

fn route(n: u8) -> Route {
    Route { local: SocketAddr::from(([10, 0, 0, n], 0)), remote: SocketAddr::from(([10, 2, 0, 2], 0)) }
}

#[test]
fn what_was_held_leaves_in_the_order_in_which_it_came() {
    let mut buffer = HoldingBuffer::new(10_000);
    for n in 0..5 {
        buffer.hold(route(n), Ecn::Ect0, &[n; 100]);
    }
    let released: Vec<_> = core::iter::from_fn(|| buffer.release())
        .map(|(held, size)| (held.route, held.ecn, held.bytes, size))
        .collect();
    let expected: Vec<_> = (0..5).map(|n| (route(n), Ecn::Ect0, vec![n; 100], 120)).collect();
    assert_eq!(released, expected);
    assert_eq!((buffer.bytes(), buffer.len()), (0, 0));
}

#[test]
fn it_holds_so_many_bytes_with_their_ip_headers() {
    let mut buffer = HoldingBuffer::new(240);
    for _ in 0..3 {
        buffer.hold(route(1), Ecn::NotCapable, &[0; 100]);
    }
    assert_eq!((buffer.bytes(), buffer.dropped), (240, 1));
}
