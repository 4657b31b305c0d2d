use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aes::Aes128;
use aes_gcm::aes::cipher::BlockCipherEncrypt;
use aes_gcm::{AeadInOut, Aes128Gcm, KeyInit};
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

/// AES-128-GCM by a library that only tests use.
#[derive(Debug)]
struct Aes([u8; 16], [u8; 16], [u8; 12]);

impl Aes {
    fn nonce(&self, number: u64) -> [u8; 12] {
        let mut nonce = self.2;
        nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(byte, of_number)| *byte ^= of_number);
        nonce
    }
}

impl RecordCipher for Aes {
    fn seal(&self, number: u64, header: &[u8], content: &mut [u8]) -> [u8; 16] {
        let aead = Aes128Gcm::new(&self.0.into());
        let tag = aead.encrypt_inout_detached(&self.nonce(number).into(), header, InOutBuf::from(content));
        tag.expect("short enough").into()
    }

    fn open(&self, number: u64, header: &[u8], sealed: &mut [u8]) -> bool {
        let (content, tag) = sealed.split_last_chunk_mut::<16>().expect("a tag");
        let (aead, tag) = (Aes128Gcm::new(&self.0.into()), (*tag).into());
        let opened =
            aead.decrypt_inout_detached(&self.nonce(number).into(), header, InOutBuf::from(content), &tag);
        opened.is_ok()
    }

    fn mask(&self, sample: &[u8; 16]) -> [u8; 2] {
        let mut block = (*sample).into();
        Aes128::new(&self.1.into()).encrypt_block(&mut block);
        [block[0], block[1]]
    }
}

/// Whole packets as interop/records/known_answers.py makes them, with a library that has nothing to do with this one. Their checksum is left out.
#[test]
fn packets_are_those_of_an_independent_implementation() {
    let bytes = |from: u8| core::array::from_fn(|n| from + n as u8);
    let aes = Aes(bytes(0), bytes(64), core::array::from_fn(|n| 128 + n as u8));
    for (epoch, number, answer) in [
        (
            3,
            0x0,
            "13880007010203040000000041000021002b493ad8237bb1a5c23a16114df13351d1bc1b4d4e5c8431b7d654a7000000",
        ),
        (
            3,
            0x12345,
            "13880007010203040000000041000021002bf9466b6e1be93a16db571da2174069d6f2bc7b1e435b83962e068c000000",
        ),
        (
            4,
            0x123456789abc,
            "138800070102030400000000410000210028fc1391e5217b93e49f912eef58576e018a7db79be4f9cb5db0f712000000",
        ),
    ] {
        let mut out = Vec::new();
        let mut writer = PacketWriter::new(&mut out, HEADER, 1000);
        writer.append(&[0; BEFORE]);
        assert!(writer.push(&Shutdown { cumulative_tsn_ack: Tsn(17) }));
        seal(&mut writer, &aes, epoch, number);
        writer.finish(ChecksumMode::Zero);
        let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, answer);
        let packet = Packet::parse(&out).expect("a packet");
        let raw = packet.chunks().next_raw().expect("a chunk").expect("of usable length");
        let record = Dtls::read(&raw).expect("a record");
        assert_eq!(low_number(&record, &aes), Some(number as u16));
        assert_eq!(open(&record, &aes, number).as_deref(), Some(&[7, 0, 0, 8, 0, 0, 0, 17][..]));
    }
}
