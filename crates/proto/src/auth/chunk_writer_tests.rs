use std::sync::Arc;

use whimbrel_wire::{Chunk, CookieAck, Heartbeat, HeartbeatAck, Packet, PadBuilder};

use super::*;
use crate::association::Encoded;
use crate::auth::offer::Offer;
use crate::auth::{AuthConfig, SharedKeys, SharedSecret};
use crate::config::Config;

const HEADER: CommonHeader = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };

/// A side that must authenticate `required`, with "secret" as key 7.
fn auth(required: &[u8]) -> Auth {
    let config = Config { auth: AuthConfig::offered(), ..Config::rfc() };
    let mut peer = Offer::own(&config, [2; 32]).unwrap();
    peer.chunks = Some(required.into());
    let keys = Arc::new(SharedKeys::new(7, SharedSecret::new(*b"secret")));
    Auth::new(&config, &keys, [1; 32], Some(&peer))
}

fn written(auth: &Auth, limit: usize, chunks: &[&dyn EmitChunk]) -> (Vec<u8>, Vec<bool>) {
    let mut out = vec![0xee; 3];
    let mut writer = ChunkWriter::new(auth, &mut out, HEADER, limit);
    let fits = chunks.iter().map(|chunk| writer.push(auth, chunk)).collect();
    writer.finish(auth, ChecksumMode::Crc32c);
    assert_eq!(out[..3], [0xee; 3]);
    (out.split_off(3), fits)
}

fn types(bytes: &[u8]) -> Vec<u8> {
    let packet = Packet::parse(bytes).unwrap();
    assert!(packet.checksum_is_valid());
    packet.chunks().map(|chunk| chunk.unwrap().chunk_type()).collect()
}

const HEARTBEAT: Heartbeat<'static> = Heartbeat { info: b"abc" };
const ANSWER: HeartbeatAck<'static> = HeartbeatAck { info: b"abc" };

/// RFC 4895 §6.2: AUTH before the first chunk that needs it, once; others stay where they are.
#[test]
fn auth_goes_before_the_first_chunk_that_needs_it() {
    let auth = auth(&[chunk_type::HEARTBEAT]);
    let of = |chunks: &[&dyn EmitChunk]| types(&written(&auth, 1000, chunks).0);
    assert_eq!(of(&[&ANSWER, &CookieAck]), [5, 11]);
    assert_eq!(of(&[&HEARTBEAT]), [15, 4]);
    assert_eq!(of(&[&ANSWER, &HEARTBEAT, &ANSWER, &HEARTBEAT]), [5, 15, 4, 5, 4]);
    let mut several = Vec::new();
    for chunk in [&ANSWER as &dyn EmitChunk, &HEARTBEAT, &HEARTBEAT] {
        chunk.emit(&mut several);
    }
    assert_eq!(of(&[&CookieAck, &Encoded(&several)]), [11, 5, 15, 4, 4]);
}

#[test]
fn without_a_session_nothing_is_added() {
    let (bytes, fits) = written(&Auth::default(), 1000, &[&HEARTBEAT]);
    assert_eq!((types(&bytes), fits), (vec![4], vec![true]));
}

/// The HMAC covers everything from AUTH to the end, and not what comes before it.
#[test]
fn the_peer_finds_it_genuine() {
    use crate::auth::session::Verdict;
    let own = auth(&[chunk_type::HEARTBEAT]);
    let mut peer = auth(&[chunk_type::HEARTBEAT]);
    let (bytes, _) = written(&own, 1000, &[&ANSWER, &HEARTBEAT, &ANSWER]);
    let mut verdict = |bytes: &[u8]| {
        let mut chunks = Packet::parse(bytes).unwrap().chunks();
        let raws = core::iter::from_fn(|| chunks.next_raw()?.ok());
        let auth = { raws }.find(|raw| raw.chunk_type() == chunk_type::AUTH);
        auth.map(|auth| (auth.offset(), peer.verify(bytes, &auth)))
    };
    let genuine = Some((24, Verdict::Genuine));
    assert_eq!(verdict(&bytes), genuine);
    // Ports and tag are not covered, nor is the content of the chunk before AUTH.
    for at in (0..12).chain(20..bytes.len()) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        assert_eq!(verdict(&changed) == genuine, at < 24, "byte {at}");
    }
}

/// A chunk that would fit without its AUTH chunk does not fit.
#[test]
fn room_for_auth_is_counted() {
    let auth = auth(&[chunk_type::HEARTBEAT]);
    let heartbeat = HEARTBEAT.wire_len();
    for limit in 12..120 {
        let (bytes, fits) = written(&auth, limit, &[&HEARTBEAT, &HEARTBEAT]);
        assert!(bytes.len() <= limit);
        let once = limit >= 12 + 40 + heartbeat;
        let twice = limit >= 12 + 40 + 2 * heartbeat;
        assert_eq!(fits, [once, twice], "limit {limit}");
        assert_eq!(
            types(&bytes).len(),
            if twice {
                3
            } else if once {
                2
            } else {
                0
            }
        );
    }
    let mut out = Vec::new();
    let mut writer = ChunkWriter::new(&auth, &mut out, HEADER, 112);
    assert_eq!(writer.room_for(&auth, chunk_type::HEARTBEAT), 60);
    assert_eq!(writer.room_for(&auth, chunk_type::PAD), 100);
    assert!(writer.push(&auth, &HEARTBEAT));
    assert_eq!(writer.room_for(&auth, chunk_type::HEARTBEAT), 60 - heartbeat);
    assert!(writer.push(&auth, &PadBuilder::filling(60 - heartbeat).unwrap()));
}

/// An AUTH chunk computed with another program, from the text of RFC 4895 §6.1 and §6.2 alone.
#[test]
fn an_auth_chunk_agrees_with_an_independent_computation() {
    let config = Config { auth: AuthConfig::offered(), ..Config::rfc() };
    let random = |first: u8| core::array::from_fn(|n| first.wrapping_add(n as u8));
    let offer = |first| Offer {
        chunks: Some((&[0xc1, 0x80][..]).into()),
        ..Offer::own(&config, random(first)).unwrap()
    };
    let vectors = crate::auth::key::KeyVectors::new(&offer(0).key_vector(), &offer(32).key_vector());
    let key = vectors.association_key(&SharedSecret::new(*b"secret"));
    let mut auth = auth(&[chunk_type::HEARTBEAT]);
    let expected = [
        (crate::HmacAlgorithm::Sha256, "1c798c7b8de34de272c8d07635dc915e967b3975048a958154e5b6c3d1743bc7"),
        (crate::HmacAlgorithm::Sha1, "ea24fbe8d224e28bdd76e742063d37016745f885"),
    ];
    for (algorithm, hmac) in expected {
        let sending = &mut auth.session.as_mut().unwrap().sending;
        sending.algorithm = algorithm;
        sending.mac = Box::new(crate::auth::key::Mac::new(algorithm, &key)).into();
        let (bytes, _) = written(&auth, 1000, &[&HEARTBEAT]);
        let packet = Packet::parse(&bytes).unwrap();
        let Some(Ok(Chunk::Auth(chunk))) = packet.chunks().next() else { panic!() };
        assert_eq!((chunk.shared_key_id, chunk.hmac_id), (7, algorithm.id()));
        let written: String = chunk.hmac.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(written, hmac, "{algorithm:?}");
    }
}
