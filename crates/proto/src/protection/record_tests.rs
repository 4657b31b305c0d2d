use whimbrel_wire::{ChecksumMode, CommonHeader, Packet, Shutdown, Tsn};

use super::*;
use crate::protection::testing::Toy;

const HEADER: CommonHeader =
    CommonHeader { source_port: 5000, destination_port: 7, verification_tag: 0x0102_0304 };

fn sealed(number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, HEADER, 1000);
    writer.append(&[0; BEFORE]);
    assert!(writer.push(&Shutdown { cumulative_tsn_ack: Tsn(17) }));
    seal(&mut writer, &Toy(7), 3, number);
    writer.finish(ChecksumMode::Crc32c);
    out
}

fn opened(packet: &[u8], number: u64) -> Option<Vec<u8>> {
    let packet = Packet::parse(packet).ok()?;
    let raw = packet.chunks().next_raw()?.ok()?;
    open(&Dtls::read(&raw)?, &Toy(7), number)
}

#[test]
fn a_packet_is_as_the_figure_has_it() {
    let packet = sealed(0x1_2345);
    assert_eq!(packet.len(), COMMON_HEADER_LEN + 8 + OVERHEAD, "a SHUTDOWN chunk is 8 bytes long");
    let read = Packet::parse(&packet).expect("a packet");
    assert!(read.checksum_is_valid());
    let mut chunks = read.chunks();
    let raw = chunks.next_raw().expect("a chunk").expect("of usable length");
    assert!(chunks.next_raw().is_none(), "post-padding is padding");
    let record = Dtls::read(&raw).expect("a record");
    assert_eq!((record.epoch, record.restart, raw.flags()), (3, false, 0));
    assert_eq!(low_number(&record, &Toy(7)), Some(0x2345));
    assert_eq!(packet[packet.len() - 3..], [0; 3]);
    let chunks = open(&record, &Toy(7), 0x1_2345).expect("genuine");
    assert_eq!(chunks, [7, 0, 0, 8, 0, 0, 0, 17]);
}

#[test]
fn another_number_does_not_open_it() {
    let packet = sealed(5);
    assert!(opened(&packet, 5).is_some());
    assert_eq!(opened(&packet, 5 + (1 << 16)), None, "the low bits are the same");
    assert_eq!(opened(&packet, 6), None);
}

#[test]
fn every_bit_of_the_record_counts() {
    let packet = sealed(5);
    for byte in COMMON_HEADER_LEN + 5..packet.len() - POST_PADDING {
        for bit in 0..8 {
            let mut bent = packet.clone();
            bent[byte] ^= 1 << bit;
            let read = Packet::parse(&bent).expect("a packet");
            let raw = read.chunks().next_raw().expect("a chunk").expect("of usable length");
            // With a bent number or sample the receiver computes another number, which fails as well.
            let opens = Dtls::read(&raw)
                .and_then(|record| Some((record, low_number(&record, &Toy(7))?)))
                .and_then(|(record, low)| open(&record, &Toy(7), u64::from(low)));
            assert_eq!(opens, None, "byte {byte} bit {bit}");
        }
    }
}

#[test]
fn padding_is_removed_and_other_content_refused() {
    let wrapped = |content: &[u8]| {
        let mut out = Vec::new();
        let mut writer = PacketWriter::new(&mut out, HEADER, 1000);
        let mut bytes = content.to_vec();
        let tag = Toy(7).seal(1, &Dtls::record_header(3, 1), &mut bytes);
        bytes.extend_from_slice(&tag);
        let [m0, m1] = Toy(7).mask(bytes.first_chunk().expect("long enough"));
        let mut header = Dtls::header(3, 1, bytes.len());
        header[6] ^= m0;
        header[7] ^= m1;
        writer.append(&header);
        writer.append(&bytes);
        let padding = out.len().next_multiple_of(4);
        out.resize(padding, 0);
        opened(&out, 1)
    };
    assert_eq!(wrapped(&[1, 2, 3, 4, 23, 0, 0]), Some(vec![1, 2, 3, 4]));
    assert_eq!(wrapped(&[23]), Some(vec![]));
    assert_eq!(wrapped(&[1, 2, 3, 4, 22]), None, "a handshake record");
    assert_eq!(wrapped(&[0, 0, 0, 0]), None, "nothing but padding");
}
