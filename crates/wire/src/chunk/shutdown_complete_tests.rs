use super::*;
use crate::Chunk;
use crate::testing::{check, emitted, error_of, round_trip};

/// RFC 9260 §3.3.13.
#[test]
fn reads_and_writes_what_usrsctp_sent() {
    check("usrsctp_shutdown_complete", 0, Chunk::ShutdownComplete(ShutdownComplete { tag_reflected: false }));
}

#[test]
fn the_t_bit_is_the_lowest() {
    let reflected = ShutdownComplete { tag_reflected: true };
    assert_eq!(emitted(&reflected), [14, 1, 0, 4]);
    round_trip(&reflected, |chunk| assert_eq!(chunk, Chunk::ShutdownComplete(reflected)));
}

#[test]
fn any_other_length_is_malformed() {
    assert_eq!(error_of("0e000005 00000000"), ChunkErrorKind::WrongLength);
}
