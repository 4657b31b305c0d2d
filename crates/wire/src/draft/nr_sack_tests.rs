use super::*;
use crate::testing::{hex, raw_chunks};
use crate::{ChecksumMode, CommonHeader, PacketWriter, Unknown};

fn packet_of(chunk: &impl EmitChunk) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, CommonHeader::default(), 1000);
    assert!(writer.push(chunk));
    writer.finish(ChecksumMode::Crc32c);
    out
}

fn read(chunk_type: u8, value: &[u8], check: impl Fn(Option<NrSack<'_>>)) {
    let mut raw = vec![chunk_type, 0, 0, 4 + value.len() as u8];
    raw.extend_from_slice(value);
    let packet = packet_of(&Unknown { chunk_type, flags: 0, raw: &raw });
    check(NrSack::read(&raw_chunks(&packet)[0]));
}

const BLOCK: fn(u16, u16) -> GapAckBlock = |start, end| GapAckBlock { start, end };

// The bytes follow the figure.
#[test]
fn the_lists_are_where_the_figure_has_them() {
    let (renegable, kept) = ([BLOCK(2, 3)], [BLOCK(4, 4), BLOCK(7, 9)]);
    let sack = SackBuilder {
        cumulative_tsn_ack: Tsn(0x0102_0304),
        a_rwnd: 5000,
        gap_ack_blocks: &renegable,
        duplicate_tsns: &[Tsn(9)],
    };
    let built = NrSackBuilder { sack, non_renegable_blocks: &kept, packets: 2 };
    let mut out = Vec::new();
    built.emit(&mut out);
    let expected = "10 80 0024 01020304 00001388 0001 0002 0001 0000 0002 0003 0004 0004 0007 0009 00000009";
    assert_eq!(out, hex(expected));
    assert_eq!(out.len(), built.wire_len());
    let packet = packet_of(&built);
    let read = NrSack::read(&raw_chunks(&packet)[0]).expect("an NR-SACK");
    assert_eq!(
        (read.sack.cumulative_tsn_ack, read.sack.a_rwnd, read.sack.packets),
        (Tsn(0x0102_0304), 5000, 2)
    );
    assert_eq!(read.sack.gap_ack_blocks().collect::<Vec<_>>(), renegable);
    assert_eq!(read.non_renegable_blocks().collect::<Vec<_>>(), kept);
    assert_eq!(read.sack.duplicate_tsns().collect::<Vec<_>>(), [Tsn(9)]);
}

// One of usrsctp 0.9.5, over UDP, with DAC: what is in one list is not in the other.
#[test]
fn what_usrsctp_sends_is_read() {
    let value = hex("801f86d2 003ff148 0001 0002 0000 0000 000b 000b 0002 000a 000c 000c");
    let raw = [&[CHUNK_NR_SACK, 0x40, 0, 4 + value.len() as u8], value.as_slice()].concat();
    let packet = packet_of(&Unknown { chunk_type: CHUNK_NR_SACK, flags: 0x40, raw: &raw });
    let read = NrSack::read(&raw_chunks(&packet)[0]).expect("an NR-SACK");
    assert_eq!(
        (read.sack.cumulative_tsn_ack, read.sack.a_rwnd, read.sack.packets),
        (Tsn(0x801f_86d2), 0x003f_f148, 1)
    );
    assert_eq!(read.sack.gap_ack_blocks().collect::<Vec<_>>(), [BLOCK(11, 11)]);
    assert_eq!(read.non_renegable_blocks().collect::<Vec<_>>(), [BLOCK(2, 10), BLOCK(12, 12)]);
    assert_eq!(read.sack.duplicate_tsns().len(), 0);
}

#[test]
fn lists_that_do_not_fill_the_chunk_are_refused() {
    let fixed = "01020304 00001388";
    for counts in ["0001 0000 0000 0000", "0000 0001 0000 0000", "0000 0000 0001 0000", "ffff ffff ffff 0000"]
    {
        read(CHUNK_NR_SACK, &hex(&format!("{fixed} {counts}")), |read| assert_eq!(read, None, "{counts}"));
    }
    let none = hex(&format!("{fixed} 0000 0000 0000 ffff"));
    read(CHUNK_NR_SACK, &none, |read| assert!(read.is_some(), "what is reserved does not count"));
    read(CHUNK_NR_SACK, &none[..15], |read| assert_eq!(read, None));
    read(3, &none, |read| assert_eq!(read, None));
    let longer = hex(&format!("{fixed} 0001 0000 0000 0000 0002 0003 00"));
    read(CHUNK_NR_SACK, &longer, |read| assert_eq!(read, None));
}

#[test]
fn as_many_entries_fit_as_are_said_to() {
    assert_eq!(NrSackBuilder::max_entries(19), 0);
    assert_eq!(NrSackBuilder::max_entries(20), 0);
    assert_eq!(NrSackBuilder::max_entries(24), 1);
    let blocks = [BLOCK(2, 2); 5];
    let sack =
        SackBuilder { cumulative_tsn_ack: Tsn(1), a_rwnd: 0, gap_ack_blocks: &blocks, duplicate_tsns: &[] };
    let built = NrSackBuilder { sack, non_renegable_blocks: &blocks[..3], packets: 0 };
    assert_eq!(NrSackBuilder::max_entries(built.wire_len()), 8);
}

#[test]
fn a_sack_promises_nothing() {
    let blocks = [BLOCK(2, 2)];
    let sack =
        SackBuilder { cumulative_tsn_ack: Tsn(1), a_rwnd: 0, gap_ack_blocks: &blocks, duplicate_tsns: &[] };
    let packet = packet_of(&sack);
    let parsed = crate::Packet::parse(&packet).expect("a packet");
    let Some(Ok(crate::Chunk::Sack(sack))) = parsed.chunks().next() else { panic!("a SACK") };
    let all = NrSack::from(sack);
    assert_eq!((all.sack.gap_ack_blocks().len(), all.non_renegable_blocks().len()), (1, 0));
}
