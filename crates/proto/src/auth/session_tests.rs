use smallvec::smallvec;
use whimbrel_machine::Seed;
use whimbrel_wire::{ChecksumMode, CommonHeader, EmitChunk, Heartbeat, Packet, PacketWriter, chunk_type};

use super::*;
use crate::auth::chunk_writer::ChunkWriter;
use crate::auth::offer::Randoms;
use crate::auth::shared_keys::SharedSecret;
use crate::auth::{AuthConfig, AuthKeyChange};

fn config(required: &[u8]) -> Config {
    let mut config = Config { auth: AuthConfig::offered(), ..Config::rfc() };
    config.auth.required = required.to_vec();
    config
}

fn keys() -> Arc<SharedKeys> {
    let mut keys = SharedKeys::new(1, SharedSecret::new(*b"one"));
    keys.set(2, SharedSecret::new(*b"two")).unwrap();
    Arc::new(keys)
}

/// Both ends of an association: the first requires HEARTBEAT, the second nothing.
fn pair() -> (Auth, Auth) {
    let (one, other) = (config(&[chunk_type::HEARTBEAT]), config(&[]));
    let (of_one, of_other) = (Offer::own(&one, [1; 32]).unwrap(), Offer::own(&other, [2; 32]).unwrap());
    (Auth::new(&one, &keys(), [1; 32], Some(&of_other)), Auth::new(&other, &keys(), [2; 32], Some(&of_one)))
}

/// A packet with AUTH, made with `key` and `algorithm`, and a HEARTBEAT.
fn packet(auth: &Auth, key: u16, algorithm: HmacAlgorithm) -> Vec<u8> {
    let vectors = &auth.session.as_ref().unwrap().vectors;
    let mac = Mac::new(algorithm, &vectors.association_key(keys().get(key).unwrap_or(&SharedSecret::null())));
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, CommonHeader::default(), 1000);
    let hmac = vec![0; algorithm.mac_len()];
    assert!(writer.push(&wire::Auth { shared_key_id: key, hmac_id: algorithm.id(), hmac: &hmac }));
    assert!(writer.push(&Heartbeat { info: b"abc" }));
    mac.sign(&mut writer.bytes_mut()[12..], 8..8 + algorithm.mac_len());
    writer.finish(ChecksumMode::Crc32c);
    out
}

fn verify(auth: &mut Auth, bytes: &[u8]) -> Verdict {
    let packet = Packet::parse(bytes).unwrap();
    let raw = packet.chunks().next_raw().unwrap().unwrap();
    auth.verify(packet.bytes(), &raw)
}

/// RFC 4895 §6.3.
#[test]
fn what_the_peer_signs_is_genuine_with_any_key_and_algorithm_agreed_on() {
    let (mut one, other) = pair();
    for key in [1, 2] {
        for algorithm in [HmacAlgorithm::Sha1, HmacAlgorithm::Sha256] {
            let mut bytes = packet(&other, key, algorithm);
            assert_eq!(verify(&mut one, &bytes), Verdict::Genuine);
            let last = bytes.len() - 1;
            // Padding is covered, too.
            bytes[last] ^= 1;
            assert_eq!(verify(&mut one, &bytes), Verdict::Discard);
        }
    }
}

/// RFC 4895 §6.3: an algorithm that was not in our HMAC-ALGO.
#[test]
fn algorithms_not_asked_for_are_reported() {
    let (mut one, other) = pair();
    one.session.as_mut().unwrap().accepted = smallvec![HmacAlgorithm::Sha256];
    let bytes = packet(&other, 1, HmacAlgorithm::Sha1);
    assert_eq!(verify(&mut one, &bytes), Verdict::UnsupportedHmac(1));
    for id in [0_u16, 2, 4, 65_535] {
        let mut bytes = packet(&other, 1, HmacAlgorithm::Sha256);
        bytes[18..20].copy_from_slice(&id.to_be_bytes());
        assert_eq!(verify(&mut one, &bytes), Verdict::UnsupportedHmac(id));
    }
}

/// RFC 4895 §6.3: unknown keys; the user is told, but not without end.
#[test]
fn unknown_keys_are_reported_a_limited_number_of_times() {
    let (mut one, other) = pair();
    let bytes = packet(&other, 3, HmacAlgorithm::Sha256);
    let mut news = 0;
    for _ in 0..100 {
        assert_eq!(verify(&mut one, &bytes), Verdict::Discard);
        news += u32::from(one.take_news() == Some((3, AuthKeyNews::Unknown)));
    }
    assert_eq!(news, MAX_UNKNOWN_REPORTS);
    one.set_keys(&keys());
    verify(&mut one, &bytes);
    assert_eq!(one.take_news(), Some((3, AuthKeyNews::Unknown)));
}

/// RFC 6458 §6.1.8: SCTP_AUTH_NEW_KEY, when the peer begins to use a key.
#[test]
fn the_peers_change_of_key_is_news_once() {
    let (mut one, other) = pair();
    for (key, expected) in [(1, true), (1, false), (2, true), (2, false), (1, true)] {
        assert_eq!(verify(&mut one, &packet(&other, key, HmacAlgorithm::Sha256)), Verdict::Genuine);
        assert_eq!(one.take_news(), expected.then_some((key, AuthKeyNews::InUse)));
    }
}

#[test]
fn keys_kept_ready_are_bounded_and_follow_changes() {
    let (mut one, other) = pair();
    let mut keys = SharedKeys::clone(&keys());
    for id in 10..40 {
        keys.set(id, SharedSecret::null()).unwrap();
    }
    one.set_keys(&Arc::new(keys.clone()));
    for id in 10..40 {
        assert_eq!(verify(&mut one, &packet(&other, id, HmacAlgorithm::Sha256)), Verdict::Genuine);
        assert!(one.session.as_ref().unwrap().ready.len() <= MAX_READY);
    }
    keys.apply(&AuthKeyChange::Delete(39)).unwrap();
    one.set_keys(&Arc::new(keys));
    assert_eq!(verify(&mut one, &packet(&other, 39, HmacAlgorithm::Sha256)), Verdict::Discard);
}

/// RFC 4895 §6.2: the peer's CHUNKS decide what is authenticated.
#[test]
fn each_side_asks_for_its_own() {
    let (one, other) = pair();
    assert!(one.we_require(chunk_type::HEARTBEAT) && !one.we_require(chunk_type::DATA));
    assert_eq!((one.overhead(chunk_type::HEARTBEAT), one.overhead(chunk_type::DATA)), (0, 0));
    let auth = wire::Auth { shared_key_id: 1, hmac_id: 3, hmac: &[0; 32] };
    assert_eq!(other.overhead(chunk_type::HEARTBEAT), auth.wire_len());
    assert!(!other.we_require(chunk_type::HEARTBEAT));
}

/// RFC 5061 §4.1.1: ASCONF is never sent without AUTH, whatever the peer's CHUNKS say.
#[test]
fn changes_of_addresses_are_always_authenticated() {
    let (one, other) = pair();
    for auth in [&one, &other] {
        assert!(auth.overhead(chunk_type::ASCONF) > 0 && auth.overhead(chunk_type::ASCONF_ACK) > 0);
    }
}

#[test]
fn nothing_is_required_of_a_peer_that_cannot() {
    let random = Randoms::new(Seed::from_u64(1)).of(1, whimbrel_wire::Tsn(1));
    let mut auth = Auth::new(&config(&[chunk_type::HEARTBEAT]), &keys(), random, None);
    assert!(!auth.we_require(chunk_type::HEARTBEAT));
    let (_, other) = pair();
    assert_eq!(verify(&mut auth, &packet(&other, 1, HmacAlgorithm::Sha256)), Verdict::Discard);
}

/// Most associations never send a chunk that must be authenticated, so no key is made for them until they do; and a change of
/// keys is not missed for that.
#[test]
fn the_sending_key_is_made_when_it_is_needed() {
    let (one, mut other) = pair();
    let made = |auth: &Auth| auth.session.as_ref().unwrap().sending.mac.get().is_some();
    let write = |auth: &Auth| {
        let mut out = Vec::new();
        let mut writer = ChunkWriter::new(auth, &mut out, CommonHeader::default(), 1000);
        assert!(writer.push(auth, &Heartbeat { info: b"abc" }));
        writer.finish(auth, ChecksumMode::Crc32c);
        out
    };
    write(&one);
    assert!(!made(&one) && !made(&other));
    let (with_first, mut keys) = (write(&other), SharedKeys::clone(&keys()));
    assert!(!made(&one) && made(&other));
    keys.activate(2).unwrap();
    other.set_keys(&Arc::new(keys));
    assert!(!made(&other));
    let (with_second, mut one) = (write(&other), one);
    for (packet, key) in [(with_first, 1), (with_second, 2)] {
        assert_eq!(verify(&mut one, &packet), Verdict::Genuine);
        assert_eq!(one.take_news(), Some((key, AuthKeyNews::InUse)));
    }
}
