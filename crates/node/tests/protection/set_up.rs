use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_proto::{
    AssociationFailure, CloseReason, Config, Delivery, Event, KeyExchangeError, Message, PeerKey,
};
use whimbrel_testbed::{CLIENT, SERVER, SeededExchanges, User, address, link, millis};
use whimbrel_wire::{Chunk, chunk_type, draft};

use super::*;

/// Nothing but the handshake and what the ends say about keys is in clear, and of that nothing afterwards.
#[test]
fn everything_behind_the_keys_is_sealed() {
    let mut pair = pair(1, configs(), &[link(10, 10), link(10, 20)]);
    let heard = listen(&mut pair);
    pair.run(20);
    assert_all_arrived(&pair);
    let mut sealed = 0;
    for (at, packet) in heard.lock().unwrap().iter() {
        let chunks = chunks(packet);
        if chunks[0].chunk_type() == draft::CHUNK_DTLS {
            assert_eq!(chunks.len(), 1, "at {at:?}");
            sealed += 1;
            continue;
        }
        for chunk in &chunks {
            let allowed = match chunk.decode() {
                Ok(
                    Chunk::Init(_)
                    | Chunk::InitAck(_)
                    | Chunk::CookieEcho(_)
                    | Chunk::CookieAck
                    | Chunk::Sack(_),
                ) => true,
                Ok(Chunk::Data(data)) => {
                    data.ppid == draft::PPID_TLS_RECORDS || data.ppid == draft::PPID_KEY_CONTROL
                }
                _ => false,
            };
            assert!(allowed, "{chunk:?} at {at:?}");
            assert!(*at < Instant::ZERO + millis(200), "{chunk:?} at {at:?}");
        }
    }
    assert!(sealed > 2 * COUNT / 2, "{sealed}");
}

/// The client is up after four round trips: cookie, keys, and what each end has installed.
#[test]
fn both_are_up_after_four_round_trips() {
    let mut pair = pair(1, configs(), &[link(100, 10)]);
    pair.run(5);
    let up = |user: &User| user.record.came_up().expect("up").saturating_since(Instant::ZERO);
    assert!(up(pair.client()) < millis(82), "{:?}", up(pair.client()));
    assert!(up(pair.server()) < millis(92), "{:?}", up(pair.server()));
    let peer = |user: &User| {
        user.record.events.iter().find_map(|(_, event)| match event {
            Event::Up { peer_key, .. } => Some(peer_key.clone()),
            _ => None,
        })
    };
    assert_eq!(peer(pair.client()), Some(Some(PeerKey(b"server"[..].into()))));
    assert_eq!(peer(pair.server()), Some(Some(PeerKey(b"client"[..].into()))));
}

#[test]
fn a_peer_that_cannot_is_refused_in_one_round_trip() {
    let [client, server] = configs();
    let clear = Config::mobile();
    let mut refused = pair(1, [client, clear.clone()], &[link(100, 10)]);
    refused.run(5);
    let (at, reason) = refusal(&refused).expect("refused");
    assert_eq!(reason, CloseReason::PeerUnprotected);
    assert!(at < Instant::ZERO + millis(25), "{at:?}");
    let mut refused = pair(1, [clear, server], &[link(100, 10)]);
    refused.run(5);
    let (at, reason) = refusal(&refused).expect("refused");
    assert!(
        matches!(&reason, CloseReason::AbortedByPeer { causes, .. } if causes[..] == [100]),
        "{reason:?}"
    );
    assert!(reason.to_string().contains("encryption"), "{reason}");
    assert!(at < Instant::ZERO + millis(25), "{at:?}");
    assert!(refused.server().record.events.is_empty(), "nobody hears of what never was");
}

/// Until the peer's Hello is here nobody reads. Its user's messages have used up what there is for messages of any
/// size, and the Hello was lost.
#[test]
fn a_hello_that_comes_late_finds_room() {
    let [client, mut server] = configs();
    server.limits.receive_buffer = 5000;
    let say = |number: u32, bytes: usize| Message {
        delivery: Delivery::Unordered,
        ..whimbrel_testbed::message(number as u16 % 8 + 1, number as usize, bytes)
    };
    let mut user = User::client(&remotes(1)).saying(say);
    user.tick(Duration::from_micros(100), 10, COUNT);
    let mut pair = Pair::with_configs(1, [client, server], &[[link(100, 10); 2]], user, User::server());
    let mut lost = false;
    tap(&mut pair, move |_, route, bytes, _| {
        // Its first sealed packet.
        let spoilt = route.remote == address(SERVER, 0) && bytes[12] == draft::CHUNK_DTLS && !lost;
        if spoilt {
            lost = true;
            bytes[20] ^= 1;
        }
    });
    pair.run(20);
    assert_eq!(pair.server().record.received.len(), COUNT);
}

/// Other secrets are other keys: nobody is up, both give up in time, and only who has asked is told. Who has accepted waits as long as for
/// any silent peer.
#[test]
fn other_keys_lead_to_nothing() {
    let client = SeededExchanges::new(7, b"client").protect(Config::mobile());
    let mut server = SeededExchanges::new(8, b"server").protect(Config::mobile());
    server.failure.association = AssociationFailure::Silence(Duration::from_secs(60));
    let mut pair = pair(1, [client, server], &[link(100, 10)]);
    pair.run(400);
    let (at, reason) = refusal(&pair).expect("refused");
    let in_time = reason == CloseReason::KeyExchange(KeyExchangeError::Late);
    assert!(in_time, "{reason:?}");
    assert!(at < Instant::ZERO + Duration::from_secs(16), "{at:?}");
    assert!(pair.server().record.events.is_empty(), "{:?}", pair.server().record.events);
    assert_eq!(pair.world.machine(pair.server).association_count(), 0);
}

/// Both connect at the same instant from ports that they listen on.
#[test]
fn a_simultaneous_opening_has_one_client() {
    for seed in 1..20 {
        let [client, server] = configs();
        let users = [
            User::client(&[address(SERVER, 0)]).from_its_port().queueing(COUNT, 700),
            User::client(&[address(CLIENT, 0)]).from_its_port().queueing(COUNT, 700),
        ];
        let [first, second] = users;
        let mut pair = Pair::with_configs(seed, [client, server], &[[link(100, 10); 2]], first, second);
        pair.run(20);
        assert_all_arrived(&pair);
    }
}

/// What was said in clear is compared once packets are protected.
#[test]
fn a_handshake_that_is_changed_on_the_way_is_noticed() {
    // Outbound streams of INIT; of INIT ACK; a method that the peer knows as well.
    for (chunk, offset) in [(chunk_type::INIT, 8), (chunk_type::INIT_ACK, 8), (chunk_type::INIT, 10)] {
        let mut pair = pair(1, configs(), &[link(100, 10)]);
        tap(&mut pair, move |_, _, bytes, _| {
            if bytes.get(12) == Some(&chunk) {
                bytes[16 + offset + 1] ^= 1;
                correct_checksum(bytes);
            }
        });
        pair.run(30);
        let (_, reason) = refusal(&pair).expect("refused");
        assert!(
            matches!(&reason, CloseReason::Tampered | CloseReason::AbortedByPeer { .. }),
            "{chunk} {offset}: {reason:?}"
        );
        assert!(pair.client().record.came_up().is_none() && pair.server().record.came_up().is_none());
    }
}

/// Without the parameter there is no association at all, in neither direction.
#[test]
fn protection_cannot_be_taken_out() {
    for chunk in [chunk_type::INIT, chunk_type::INIT_ACK] {
        let mut pair = pair(1, configs(), &[link(100, 10)]);
        tap(&mut pair, move |_, _, bytes, _| {
            if bytes.get(12) == Some(&chunk) {
                let at = position_of_parameter(bytes);
                // Another one that is ignored by who does not know it.
                bytes[at + 1] = 0x7f;
                correct_checksum(bytes);
            }
        });
        pair.run(60);
        let (_, reason) = refusal(&pair).expect("refused");
        let expected = match chunk {
            chunk_type::INIT => {
                matches!(&reason, CloseReason::AbortedByPeer { causes, .. } if causes[..] == [100])
            }
            _ => reason == CloseReason::PeerUnprotected,
        };
        assert!(expected, "{reason:?}");
    }
}

/// With another tie breaker or other roles the two ends have different keys.
#[test]
fn what_is_said_of_keys_cannot_be_bent() {
    for chunk in [chunk_type::INIT, chunk_type::INIT_ACK] {
        for offset in [4, 7, 8, 9] {
            let mut pair = pair(1, configs(), &[link(100, 10)]);
            tap(&mut pair, move |_, _, bytes, _| {
                if bytes.get(12) == Some(&chunk) {
                    let at = position_of_parameter(bytes);
                    bytes[at + offset] ^= 4;
                    correct_checksum(bytes);
                }
            });
            pair.run(60);
            assert!(refusal(&pair).is_some(), "{chunk} {offset}");
            assert!(pair.client().record.came_up().is_none() && pair.server().record.came_up().is_none());
        }
    }
}

fn position_of_parameter(packet: &[u8]) -> usize {
    let [high, low] = draft::PARAMETER_KEY_MANAGEMENT.to_be_bytes();
    packet.windows(4).rposition(|bytes| bytes == [high, low, 0, 10]).expect("it is there")
}
