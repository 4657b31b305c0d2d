use super::*;
use crate::Chunk;
use crate::testing::{emitted, error_of, hex, round_trip};

// No stack at hand sends these; the bytes follow the figure in RFC 4960 appendix A.
#[test]
fn reads_and_writes_the_figure() {
    let chunk = Ecne { lowest_tsn: Tsn(0x0102_0304) };
    assert_eq!(emitted(&chunk), hex("0c000008 01020304"));
    round_trip(&chunk, |read| assert_eq!(read, Chunk::Ecne(chunk)));
}

#[test]
fn any_other_length_is_malformed() {
    assert_eq!(error_of("0c000004"), ChunkErrorKind::WrongLength);
    assert_eq!(error_of("0c00000c 00000001 00000002"), ChunkErrorKind::WrongLength);
}
