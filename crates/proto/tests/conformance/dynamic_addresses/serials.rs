//! Serial numbers and answers that are repeated (RFC 5061 §5.2 E1 to E7).

use whimbrel_wire::{AsconfBuilder, Parameter, chunk_type};

use super::mobile::*;
use whimbrel_testbed::peer::*;

/// E2: the answer was lost. It comes again as it was, and nothing is done twice.
#[test]
fn a_repeated_request_is_answered_as_before_and_done_once() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let packet = mobile.asconf(&[add(1, peer_address(2).ip()), delete(2, peer_address(1).ip())]);
    let first = bench.ask(&packet);
    let paths = bench.paths().len();
    for _ in 0..3 {
        let again = bench.ask(&packet);
        assert_eq!(acks(&mobile, &again), acks(&mobile, &first));
    }
    assert_eq!(bench.paths().len(), paths);
    assert_eq!(news(&bench).len(), 1);
}

/// E5: what is ahead of its turn is discarded; it may be a guess.
#[test]
fn a_request_out_of_turn_is_discarded() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let first = mobile.asconf(&[add(1, peer_address(2).ip())]);
    let second = mobile.asconf(&[add(1, peer_address(3).ip())]);
    assert!(bench.ask(&second).is_empty());
    assert_eq!(remotes(&bench).len(), 1);
    assert_eq!(acks(&mobile, &bench.ask(&first)).len(), 1);
    assert_eq!(acks(&mobile, &bench.ask(&second)).len(), 1);
    assert_eq!(remotes(&bench).len(), 3);
    for distance in [2, 1000, 1 << 30, (1 << 31) - 1] {
        let mut later = mobile.clone();
        later.serial = mobile.serial.wrapping_add(distance);
        assert!(bench.ask(&later.asconf(&[add(1, peer_address(4).ip())])).is_empty(), "{distance}");
    }
    assert_eq!(remotes(&bench).len(), 3);
}

/// E1, E2: once the peer goes on, its former requests are forgotten: a copy that comes late gets no answer and does
/// nothing.
#[test]
fn an_old_request_gets_no_answer() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let old = mobile.asconf(&[add(1, peer_address(2).ip())]);
    bench.ask(&old);
    bench.ask(&mobile.asconf(&[delete(1, peer_address(2).ip())]));
    bench.pass(core::time::Duration::from_millis(1));
    bench.take();
    assert!(acks(&mobile, &bench.ask(&old)).is_empty());
    assert_eq!(remotes(&bench), [peer_address(1).ip()]);
}

/// Serial numbers wrap (RFC 1982).
#[test]
fn serial_numbers_wrap() {
    let mut bench = Bench::new(mesh());
    let mut mobile = Mobile::with_initial_tsn(u32::MAX - 1);
    mobile.connect(&mut bench, &[]);
    let mut packets = Vec::new();
    for n in 2..6 {
        let packet = mobile.asconf(&[add(1, peer_address(n).ip())]);
        assert_eq!(acks(&mobile, &bench.ask(&packet)).len(), 1, "{n}");
        packets.push(packet);
    }
    assert_eq!(mobile.serial, 2);
    assert_eq!(remotes(&bench).len(), 5);
    assert!(acks(&mobile, &bench.ask(&packets[0])).is_empty());
    assert_eq!(acks(&mobile, &bench.ask(&packets[3])).len(), 1);
}

/// C2, C3, RFC 5061 §5.5, E1-ext: several chunks in one packet, old and new. Each is answered, in order, in one packet.
#[test]
fn several_chunks_in_one_packet_are_answered_in_one_packet() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let chunk = |sequence_number, requests| AsconfBuilder {
        sequence_number,
        address: peer_address(1).ip(),
        parameters: requests,
    };
    let serial = mobile.serial;
    let adds: Vec<[Parameter<'_>; 1]> = (2..6).map(|n| [add(n.into(), peer_address(n).ip())]).collect();
    bench.ask(&mobile.signed(&[&chunk(serial, &adds[0])]));
    let chunks: Vec<_> = (0..4).map(|n| chunk(serial + n as u32, &adds[n])).collect();
    let sent = bench.ask(&mobile.signed(&[&chunks[0], &chunks[1], &chunks[2], &chunks[3]]));
    let answers = acks(&mobile, &sent);
    let serials: Vec<u32> = answers.iter().map(|(_, serial, _)| *serial).collect();
    assert_eq!(serials, [serial, serial + 1, serial + 2, serial + 3]);
    let packets = sent.iter().filter(|sent| holds(&[(*sent).clone()], chunk_type::ASCONF_ACK)).count();
    assert_eq!(packets, 1);
    assert_eq!(remotes(&bench).len(), 5);
    // The cache holds all of them until the peer goes on.
    let sent = bench.ask(&mobile.signed(&[&chunks[2], &chunks[3]]));
    assert_eq!(acks(&mobile, &sent).len(), 2);
    mobile.serial = serial + 4;
}

/// The cache of answers is bounded: of a packet with more chunks than that the oldest answers are gone.
#[test]
fn the_cache_of_answers_is_bounded() {
    let mut config = mesh();
    config.dar.cached_acks = 3;
    let (mut bench, mut mobile) = Mobile::connected(config, 1);
    let serial = mobile.serial;
    let chunk =
        |n| AsconfBuilder { sequence_number: serial + n, address: peer_address(1).ip(), parameters: &[] };
    let chunks: Vec<_> = (0..10).map(chunk).collect();
    let all: Vec<&dyn whimbrel_wire::EmitChunk> = chunks.iter().map(|c| c as _).collect();
    assert_eq!(acks(&mobile, &bench.ask(&mobile.signed(&all))).len(), 10);
    let serials: Vec<u32> = acks(&mobile, &bench.ask(&mobile.signed(&all)))
        .iter()
        .map(|(_, serial, _)| serial - mobile.serial)
        .collect();
    assert_eq!(serials, [7, 8, 9]);
    mobile.serial += 10;
}

/// E6: the answer goes to the source of the packet, even one that stays foreign.
#[test]
fn the_answer_goes_where_the_request_came_from() {
    let (mut bench, mut mobile) = Mobile::connected_with(mesh(), 2, &[1, 2]);
    for (n, route) in [between(2, 2), between(1, 2), between(2, 1), between(1, 9)].into_iter().enumerate() {
        let packet = mobile.asconf(&[set_primary(n as u32, ip("10.8.8.8"))]);
        bench.deliver_on(route, &packet);
        let sent = bench.take();
        assert_eq!(acks(&mobile, &sent).iter().map(|(to, ..)| *to).collect::<Vec<_>>(), [route]);
    }
}

/// To an address that has not been confirmed goes no more than three times what came from there: whoever has the keys could
/// let a small request for a large old answer seem to come from a victim.
#[test]
fn an_old_answer_is_no_amplifier() {
    let (mut bench, mut mobile) = Mobile::connected(mesh(), 1);
    let refused: Vec<Parameter<'_>> = (0..30).map(|n| add(n, ip("224.0.0.1"))).collect();
    let serial = mobile.serial;
    let large = bench.ask(&mobile.asconf(&refused));
    assert!(large.iter().any(|sent| sent.bytes.len() > 600), "{large:?}");
    let small = AsconfBuilder { sequence_number: serial, address: peer_address(1).ip(), parameters: &[] };
    let small = mobile.signed(&[&small]);
    bench.deliver_on(between(1, 7), &small);
    let out: usize = bench.take().iter().map(|sent| sent.bytes.len()).sum();
    assert!(out <= 3 * small.len(), "{out} bytes for {}", small.len());
    // A confirmed address may have it.
    assert_eq!(acks(&mobile, &bench.ask(&small)).len(), 1);
}
