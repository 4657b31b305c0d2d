use whimbrel_machine::{Ecn, Fragmentation, IpProtocol, Route};

use super::*;

fn transmit() -> Transmit {
    let address = "127.0.0.1:9".parse().unwrap();
    Transmit {
        route: Route { local: address, remote: address },
        ecn: Ecn::NotCapable,
        fragmentation: Fragmentation::Forbidden,
        protocol: IpProtocol::Sctp,
        segment: 1000,
    }
}

#[test]
fn holds_a_bounded_number_of_bytes() {
    let mut outbox = Outbox::default();
    for _ in 0..CAPACITY / 1000 + 10 {
        outbox.push(transmit(), &[0; 1000]);
    }
    assert!(outbox.bytes <= CAPACITY);
    let mut count = 0;
    while outbox.pop().is_some() {
        count += 1;
    }
    assert_eq!(count, CAPACITY / 1000);
    assert_eq!(outbox.bytes, 0);
}

#[test]
fn the_rest_of_a_train_goes_first() {
    let mut outbox = Outbox::default();
    outbox.push(transmit(), b"abc");
    outbox.push(transmit(), b"def");
    let (first, bytes) = outbox.pop().unwrap();
    outbox.put_back(first, &bytes[1..]);
    assert_eq!(&*outbox.pop().unwrap().1, b"bc");
    assert_eq!(&*outbox.pop().unwrap().1, b"def");
    assert!(outbox.is_empty());
}
