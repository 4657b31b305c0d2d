use super::*;
use crate::Chunk;
use crate::testing::{check, error_of};

/// RFC 9260 §3.3.12.
#[test]
fn reads_and_writes_what_linux_and_usrsctp_sent() {
    check("linux_cookie_ack", 0, Chunk::CookieAck);
    check("usrsctp_cookie_ack_sack", 0, Chunk::CookieAck);
}

#[test]
fn any_other_length_is_malformed() {
    assert_eq!(error_of("0b000008 00000000"), ChunkErrorKind::WrongLength);
}
