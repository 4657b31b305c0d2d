//! What the fuzz target does with arbitrary bytes, and the corpus test with stored ones.

use whimbrel_wire::{
    Cause, Causes, ChecksumMode, Chunk, ChunkErrorKind, EmitChunk, Packet, PacketWriter, Parameter,
    Parameters,
};

/// Reads `bytes` as a packet down to the last list entry, writes what was understood and reads that again.
///
/// # Panics
/// If the reader and the writer disagree about anything: that is the finding.
pub(crate) fn packet(bytes: &[u8]) {
    let Ok(packet) = Packet::parse(bytes) else { return };
    let _ = (packet.checksum_is_valid(), packet.checksum_is_acceptable(true));
    let mut chunks = packet.chunks();
    let mut walked = packet.chunks();
    while let Some(item) = chunks.next_raw() {
        let read = walked.next().expect("both walks are of the same length");
        let Ok(raw) = item else {
            assert!(read.is_err_and(|error| error.kind == ChunkErrorKind::BadLength));
            assert!(chunks.next_raw().is_none() && walked.next().is_none(), "the walk ends here");
            assert_eq!(chunks.offset(), bytes.len() & !3);
            return;
        };
        assert_eq!(bytes[raw.offset()..][..raw.bytes().len()], *raw.bytes());
        assert_eq!((raw.end(), chunks.rest()), (chunks.offset(), &bytes[chunks.offset()..bytes.len() & !3]));
        if let Ok(chunk) = read {
            assert_eq!(chunk.chunk_type(), raw.chunk_type());
            look_into(&chunk);
            read_again(&chunk, packet);
        }
    }
    assert_eq!(chunks.offset(), bytes.len() & !3, "whole words leave nothing over");
}

/// Walks every list a chunk has.
fn look_into(chunk: &Chunk<'_>) {
    match chunk {
        Chunk::Init(init) => walk_parameters(init.parameters),
        Chunk::InitAck(ack) => walk_parameters(ack.parameters),
        Chunk::Asconf(asconf) => walk_parameters(asconf.parameters),
        Chunk::AsconfAck(ack) => walk_parameters(ack.parameters),
        Chunk::ReConfig(re_config) => walk_parameters(re_config.parameters),
        Chunk::Abort(abort) => walk_causes(abort.causes),
        Chunk::Error(error) => walk_causes(error.causes),
        Chunk::Sack(sack) => {
            assert_eq!(sack.gap_ack_blocks().count(), sack.gap_ack_blocks().len());
            assert_eq!(sack.duplicate_tsns().count(), sack.duplicate_tsns().len());
        }
        Chunk::ForwardTsn(forward) => assert_eq!(forward.skipped.iter().count(), forward.skipped.len()),
        Chunk::IForwardTsn(forward) => assert_eq!(forward.skipped.iter().count(), forward.skipped.len()),
        Chunk::Unknown(unknown) => _ = unknown.action(),
        _ => {}
    }
    assert!(!format!("{chunk:?}").is_empty());
}

fn walk_parameters(parameters: Parameters<'_>) {
    for parameter in parameters.flatten() {
        let mut written = Vec::new();
        parameter.emit(&mut written);
        let mut again = Parameters::from_wire(&written);
        assert_eq!(again.next(), Some(Ok(parameter)));
        assert_eq!(again.next(), None);
        match parameter {
            Parameter::ErrorCauseIndication(indication) => walk_causes(indication.causes),
            Parameter::UnrecognizedParameter(quoted) => {
                assert!(Parameters::from_wire(quoted).count() <= quoted.len())
            }
            Parameter::Unknown(unknown) => _ = unknown.action(),
            _ => {}
        }
    }
}

fn walk_causes(causes: Causes<'_>) {
    for cause in causes.flatten() {
        let mut written = Vec::new();
        whimbrel_wire::cause::encode_causes(&[cause], &mut written);
        let mut again = Causes::from_wire(&written);
        assert_eq!(again.next(), Some(Ok(cause)));
        assert_eq!(again.next(), None);
        if let Cause::UnrecognizedParameters(quoted) | Cause::RestartWithNewAddresses(quoted) = cause {
            assert!(Parameters::from_wire(quoted).count() <= quoted.len());
        }
    }
}

/// A chunk that was read is written, and reads as the same chunk.
fn read_again(chunk: &Chunk<'_>, packet: Packet<'_>) {
    let mut written = vec![0xaa; 3];
    let mut writer = PacketWriter::new(&mut written, packet.header(), usize::MAX);
    if !writer.push(chunk) {
        // Only what was read from a datagram beyond the largest packet can be too long.
        assert!(packet.bytes().len() > writer.len() + writer.remaining() - 3);
        writer.discard();
        assert_eq!(written.len(), 3);
        return;
    }
    assert_eq!(writer.len(), 12 + chunk.wire_len());
    writer.finish(ChecksumMode::Crc32c);
    let again = Packet::parse(&written[3..]).expect("what was written is a packet");
    assert!(again.checksum_is_valid());
    assert_eq!(again.header(), packet.header());
    let mut chunks = again.chunks();
    assert_eq!(chunks.next(), Some(Ok(*chunk)));
    assert_eq!(chunks.next(), None);
}
