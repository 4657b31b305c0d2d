use super::*;
use crate::Chunk;
use crate::testing::{check, error_of};

#[test]
fn reads_and_writes_what_usrsctp_and_linux_sent() {
    let shutdown = |tsn| Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(tsn) });
    check("usrsctp_shutdown", 0, shutdown(0x7e3f_2a66));
    check("linux_i_forward_tsn_shutdown", 1, shutdown(0x2762_b905));
}

#[test]
fn any_other_length_is_malformed() {
    assert_eq!(error_of("07000004"), ChunkErrorKind::WrongLength);
    assert_eq!(error_of("0700000c 00000001 00000002"), ChunkErrorKind::WrongLength);
}
