//! What tests of several modules share.

use crate::{ChecksumMode, Chunk, ChunkErrorKind, CommonHeader, EmitChunk, Packet, PacketWriter, RawChunk};

/// The bytes written in `text` as hexadecimal digits; white space is ignored.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digit = |c: char| u8::try_from(c.to_digit(16).expect("a hexadecimal digit")).expect("a digit");
    let digits: Vec<u8> = text.chars().filter(|c| !c.is_whitespace()).map(digit).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Every packet of `testdata/captured.txt` and its name.
pub(crate) fn all_captured() -> Vec<(&'static str, Vec<u8>)> {
    let mut packets: Vec<(&str, String)> = Vec::new();
    for line in include_str!("../testdata/captured.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            Some(digits) => packets.last_mut().expect("a name before the bytes").1.push_str(digits),
            None if line.is_empty() => {}
            None => packets.push((line, String::new())),
        }
    }
    packets.into_iter().map(|(name, digits)| (name, hex(&digits))).collect()
}

/// One packet of `testdata/captured.txt`.
pub(crate) fn captured(name: &str) -> Vec<u8> {
    let (_, packet) =
        all_captured().into_iter().find(|(other, _)| *other == name).expect("a captured packet");
    packet
}

/// The chunks of a packet, not looked into.
pub(crate) fn raw_chunks(packet: &[u8]) -> Vec<RawChunk<'_>> {
    let mut chunks = Packet::parse(packet).expect("a packet").chunks();
    core::iter::from_fn(|| chunks.next_raw()).map(|raw| raw.expect("a usable length")).collect()
}

/// The bytes a chunk of a packet takes, padding included.
pub(crate) fn bytes_of(packet: &[u8], index: usize) -> &[u8] {
    let raw = raw_chunks(packet)[index];
    &packet[raw.offset()..raw.end()]
}

/// A chunk of a packet, read.
pub(crate) fn chunk_of(packet: &[u8], index: usize) -> Chunk<'_> {
    raw_chunks(packet)[index].decode().expect("a well-formed chunk")
}

/// The chunk as it is sent, padding included.
pub(crate) fn emitted(chunk: &impl EmitChunk) -> Vec<u8> {
    let mut out = Vec::new();
    chunk.emit(&mut out);
    assert_eq!(out.len(), chunk.wire_len(), "wire_len must say what emit does");
    assert_eq!(out.len() % 4, 0, "a chunk is a whole number of words");
    out
}

/// Checks that chunk `index` of a captured packet reads as `expected` and that `expected` is sent as it was captured.
#[track_caller]
pub(crate) fn check(name: &str, index: usize, expected: Chunk<'_>) {
    let packet = captured(name);
    assert_eq!(chunk_of(&packet, index), expected);
    assert_eq!(emitted(&expected), bytes_of(&packet, index));
}

/// A packet around `chunks`, which are bytes already; its checksum is zero.
pub(crate) fn packet_of(chunks: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
    PacketWriter::new(&mut out, header, usize::MAX).finish(ChecksumMode::Zero);
    out.extend_from_slice(chunks);
    out
}

/// What is wrong with the only chunk there is in these hexadecimal digits.
#[track_caller]
pub(crate) fn error_of(digits: &str) -> ChunkErrorKind {
    let packet = packet_of(&hex(digits));
    let mut chunks = Packet::parse(&packet).expect("a packet").chunks();
    let error = chunks.next().expect("a chunk").expect_err("a malformed chunk");
    assert!(chunks.next().is_none(), "more than one chunk");
    error.kind
}

/// Sends a chunk in a packet of its own, reads it back and hands it over.
#[track_caller]
pub(crate) fn round_trip<R>(chunk: &impl EmitChunk, check: impl FnOnce(Chunk<'_>) -> R) -> R {
    let bytes = emitted(chunk);
    let packet = packet_of(&bytes);
    let read = chunk_of(&packet, 0);
    assert_eq!(emitted(&read), bytes, "what was read is sent as it came");
    check(read)
}
