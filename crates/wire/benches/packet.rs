//! Reading and writing one packet with a DATA chunk, 1,452 bytes of SCTP in all: what fits an Ethernet frame with
//! IPv6 and UDP headers. And a SACK, the packet that travels the other way.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use whimbrel_wire::{
    ChecksumMode, Chunk, CommonHeader, Data, EmitChunk, GapAckBlock, Packet, PacketWriter, PayloadProtocolId,
    SackBuilder, Ssn, StreamId, Tsn,
};

const PACKET_LEN: usize = 1452;
const HEADER: CommonHeader =
    CommonHeader { source_port: 5000, destination_port: 5001, verification_tag: 0x1234_5678 };

fn data(payload: &[u8]) -> Data<'_> {
    Data {
        immediate: false,
        unordered: false,
        beginning: true,
        ending: true,
        tsn: Tsn(7),
        stream: StreamId(1),
        ssn: Ssn(2),
        ppid: PayloadProtocolId(3),
        payload,
    }
}

fn write(out: &mut Vec<u8>, chunk: &impl EmitChunk, checksum: ChecksumMode) {
    out.clear();
    let mut writer = PacketWriter::new(out, HEADER, PACKET_LEN);
    assert!(writer.push(chunk), "the chunk fits");
    writer.finish(checksum);
}

/// Reads every chunk the way an association does; the sum keeps the work from being optimised away.
fn read(bytes: &[u8]) -> usize {
    let packet = Packet::parse(bytes).expect("a packet");
    let tag = packet.header().verification_tag as usize;
    packet.chunks().fold(tag, |sum, chunk| match chunk {
        Ok(Chunk::Data(data)) => sum + data.payload.len() + data.tsn.0 as usize,
        Ok(Chunk::Sack(sack)) => sack.gap_ack_blocks().fold(sum, |sum, block| sum + usize::from(block.end)),
        _ => sum,
    })
}

fn bench(c: &mut Criterion) {
    let payload = vec![0x5a; PACKET_LEN - 12 - 16];
    let mut packet = Vec::new();
    write(&mut packet, &data(&payload), ChecksumMode::Crc32c);
    assert_eq!(packet.len(), PACKET_LEN);

    let mut group = c.benchmark_group("data_1452");
    group.throughput(Throughput::Bytes(PACKET_LEN as u64));
    group.bench_function("decode", |b| b.iter(|| read(black_box(&packet))));
    group.bench_function("decode_with_checksum", |b| {
        b.iter(|| {
            let bytes = black_box(&packet[..]);
            assert!(Packet::parse(bytes).is_ok_and(|packet| packet.checksum_is_valid()));
            read(bytes)
        })
    });
    let mut out = Vec::with_capacity(PACKET_LEN);
    group.bench_function("encode", |b| {
        b.iter(|| write(black_box(&mut out), &data(black_box(&payload)), ChecksumMode::Zero))
    });
    group.bench_function("encode_with_checksum", |b| {
        b.iter(|| write(black_box(&mut out), &data(black_box(&payload)), ChecksumMode::Crc32c))
    });
    group.finish();

    let blocks: Vec<_> = (0..16).map(|i| GapAckBlock { start: i * 10 + 2, end: i * 10 + 5 }).collect();
    let sack = SackBuilder {
        cumulative_tsn_ack: Tsn(9),
        a_rwnd: 1 << 20,
        gap_ack_blocks: &blocks,
        duplicate_tsns: &[],
    };
    write(&mut packet, &sack, ChecksumMode::Crc32c);
    let mut group = c.benchmark_group("sack_16_blocks");
    group.bench_function("decode", |b| b.iter(|| read(black_box(&packet))));
    group.bench_function("encode_with_checksum", |b| {
        b.iter(|| write(black_box(&mut out), black_box(&sack), ChecksumMode::Crc32c))
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
