//! Requests that are cut short or bent, before and behind their authentication.

use whimbrel_wire::{Asconf, AsconfBuilder, Chunk, Parameters, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// Requests cut short at every length, with length fields that say so and with such that lie.
#[test]
fn truncated_requests() {
    let mut requests = Vec::new();
    for request in [
        add(1, ip("10.0.2.2")),
        add(2, ip("2001:db8::1")),
        delete(3, ip("10.0.2.2")),
        set_primary(4, ip("::")),
    ] {
        request.emit(&mut requests);
    }
    for length in 0..requests.len() {
        let (mut bench, mobile) = Mobile::connected(mesh(), 1);
        let chunk = Asconf {
            sequence_number: mobile.serial,
            address: peer_address(1).ip(),
            parameters: Parameters::from_wire(&requests[..length]),
        };
        let sent = bench.ask(&mobile.signed(&[&chunk]));
        assert_eq!(acks(&mobile, &sent).len(), 1, "{length}");
        assert_alive(&mut bench, &mobile.auth.peer);
    }
    // Every 16-bit field of the chunk bent: lengths, types, addresses.
    let chunk = AsconfBuilder { sequence_number: 1000, address: peer_address(1).ip(), parameters: &[] };
    let whole = [encoded_chunk(&chunk), requests].concat();
    for at in (0..whole.len()).step_by(2) {
        for value in [0_u16, 1, 3, 4, 5, 7, 8, 12, 19, 0x7fff, 0xffff] {
            let (mut bench, mobile) = Mobile::connected(mesh(), 1);
            let mut bytes = whole.clone();
            let length = (bytes.len() as u16).to_be_bytes();
            bytes[2..4].copy_from_slice(&length);
            bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
            bench.deliver_on(between(1, 2), &mobile.signed(&[&Raw(bytes)]));
            bench.take();
            assert_alive(&mut bench, &mobile.auth.peer);
        }
    }
}

/// The address by which the association is looked up cut short or missing, before anything is authenticated, also
/// out of the blue.
#[test]
fn truncated_lookup_addresses() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    let head = [0, 0, 0x03, 0xe8, 0, 6, 0, 20, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    for length in 0..head.len() {
        let chunk = Raw::chunk(chunk_type::ASCONF, 0, &head[..length]);
        for tag in [mobile.node_tag, mobile.node_tag ^ 1] {
            for route in [between(1, 1), between(1, 2)] {
                bench.deliver_on(route, &packet(mobile.header(tag), &[&chunk]));
            }
        }
        bench.deliver_on(between(1, 2), &mobile.signed(&[&chunk]));
    }
    bench.take();
    assert_alive(&mut bench, &mobile.auth.peer);
}

/// D2, D4: a request with the wrong tag that names an address of an association is discarded; only where no association
/// is found is it out of the blue and answered with ABORT (D3).
#[test]
fn a_request_with_a_wrong_tag() {
    let (mut bench, mobile) = Mobile::connected(mesh(), 1);
    let with_tag = |address| {
        let chunk = AsconfBuilder { sequence_number: 1000, address, parameters: &[] };
        packet(mobile.header(mobile.node_tag ^ 1), &[&chunk])
    };
    bench.deliver_on(between(1, 2), &with_tag(peer_address(1).ip()));
    assert!(bench.take().is_empty());
    bench.deliver_on(between(1, 2), &with_tag(peer_address(3).ip()));
    assert!(matches!(bench.take_only().only(), Chunk::Abort(abort) if abort.tag_reflected));
}
