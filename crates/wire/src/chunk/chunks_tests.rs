use super::*;
use crate::Packet;
use crate::testing::{all_captured, captured, chunk_of, emitted, hex, packet_of, raw_chunks};

#[test]
fn every_captured_chunk_is_well_formed_and_sent_as_it_came() {
    for (name, packet) in all_captured() {
        let raw = raw_chunks(&packet);
        assert_eq!(raw.last().map(RawChunk::end), Some(packet.len()), "{name}");
        for (index, raw) in raw.iter().enumerate() {
            let chunk = chunk_of(&packet, index);
            assert_eq!(chunk.chunk_type(), raw.chunk_type(), "{name}");
            assert_eq!(emitted(&chunk), packet[raw.offset()..raw.end()], "{name}");
        }
    }
}

#[test]
fn bundled_chunks_come_in_order() {
    let packet = captured("linux_data_bundle");
    let tsns: Vec<u32> = Packet::parse(&packet)
        .expect("a packet")
        .chunks()
        .map(|chunk| match chunk {
            Ok(Chunk::Data(data)) => data.tsn.0,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(tsns.len(), 6);
    assert!(tsns.windows(2).all(|pair| pair[1] == pair[0] + 1));
}

#[test]
fn a_bad_body_is_reported_and_the_walk_goes_on() {
    let packet = packet_of(&hex("07000005 01000000 0b000004"));
    let mut chunks = Packet::parse(&packet).expect("a packet").chunks();
    let error = chunks.next().expect("a chunk").expect_err("a SHUTDOWN of five bytes");
    assert_eq!((error.kind, error.chunk_type), (ChunkErrorKind::WrongLength, 7));
    assert_eq!(error.raw, [7, 0, 0, 5, 1]);
    assert_eq!(chunks.next(), Some(Ok(Chunk::CookieAck)));
    assert_eq!(chunks.next(), None);
    assert_eq!(error.to_string(), "chunk of type 7: wrong length for its type");
}

#[test]
fn an_unusable_length_is_the_last_item() {
    for bad in ["08000003", "08000000", "08000009 00000000", "0800ffff 0b000004"] {
        let packet = packet_of(&hex(&format!("0b000004 {bad}")));
        let mut chunks = Packet::parse(&packet).expect("a packet").chunks();
        assert_eq!(chunks.next(), Some(Ok(Chunk::CookieAck)));
        let raw = &packet[16..];
        assert_eq!(
            chunks.next(),
            Some(Err(ChunkError { kind: ChunkErrorKind::BadLength, chunk_type: 8, raw }))
        );
        assert_eq!(chunks.next(), None, "{bad}");
        assert_eq!(chunks.next(), None, "{bad}");
    }
}

#[test]
fn a_thousand_tiny_chunks_are_a_thousand_items() {
    let packet = packet_of(&[0xbe, 0, 0, 4].repeat(16_000));
    assert_eq!(Packet::parse(&packet).expect("a packet").chunks().count(), 16_000);
}
