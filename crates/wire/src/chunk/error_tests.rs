use super::*;
use crate::testing::{bytes_of, captured, chunk_of, emitted};
use crate::{Chunk, StreamId};

/// RFC 9260 §3.3.10.
#[test]
fn reads_and_writes_what_linux_sent() {
    // Linux quotes the chunk with its padding.
    let quoted: &[u8] = &[0xd5, 0, 0, 9, 1, 2, 3, 4, 5, 0, 0, 0];
    for (name, cause) in [
        ("linux_error_unrecognized_chunk", Cause::UnrecognizedChunkType(quoted)),
        ("linux_error_invalid_stream_sack", Cause::InvalidStreamIdentifier(StreamId(9999))),
    ] {
        let packet = captured(name);
        let Chunk::Error(error) = chunk_of(&packet, 0) else { panic!("an ERROR") };
        assert_eq!(error.causes.collect::<Vec<_>>(), [Ok(cause)], "{name}");
        assert_eq!(emitted(&error), bytes_of(&packet, 0), "{name}");
        assert_eq!(emitted(&ErrorBuilder { causes: &[cause] }), bytes_of(&packet, 0), "{name}");
    }
}

#[test]
fn the_padding_of_the_last_cause_is_not_counted() {
    let causes = &[Cause::UserInitiatedAbort(b"a"), Cause::ProtocolViolation(b"bc")];
    assert_eq!(
        emitted(&ErrorBuilder { causes }),
        crate::testing::hex("09000012 000c0005 61000000 000d0006 62630000")
    );
}
