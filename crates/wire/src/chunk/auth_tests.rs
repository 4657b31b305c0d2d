use super::*;
use crate::testing::{captured, check, chunk_of, error_of, hex, raw_chunks};
use crate::{Chunk, Packet};

/// RFC 4895 §5.1.
#[test]
fn reads_and_writes_what_linux_and_usrsctp_sent() {
    let hmac = hex("2c08091654fe52edd144c5a51d791f2bf884d5e8");
    check("linux_auth_asconf_add", 0, Chunk::Auth(Auth { shared_key_id: 0, hmac_id: 1, hmac: &hmac }));
    let packet = captured("usrsctp_auth_asconf_ack");
    assert!(
        matches!(chunk_of(&packet, 0), Chunk::Auth(Auth { shared_key_id: 0, hmac_id: 1, hmac }) if hmac.len() == 20)
    );
}

/// What the HMAC covers can be cut out of the packet (RFC 4895 §6.2).
#[test]
fn the_authenticated_bytes_are_known() {
    let packet = captured("linux_auth_asconf_add");
    let auth = raw_chunks(&packet)[0];
    let mut chunks = Packet::parse(&packet).expect("a packet").chunks();
    assert_eq!(chunks.offset(), 12);
    let Some(Ok(Chunk::Auth(read))) = chunks.next() else { panic!("an AUTH") };
    assert_eq!((auth.offset(), auth.end(), chunks.offset()), (12, 40, 40));
    assert_eq!(chunks.rest(), &packet[40..]);
    let hmac_at = auth.offset() + Auth::HMAC_OFFSET;
    assert_eq!(packet[hmac_at..][..read.hmac.len()], *read.hmac);
}

#[test]
fn less_than_the_fixed_fields_is_malformed() {
    assert_eq!(error_of("0f000006 00000000"), ChunkErrorKind::TooShort);
}
