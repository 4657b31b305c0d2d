use whimbrel_wire::{ChecksumMode, CommonHeader, Packet, Shutdown, Tsn};

use super::*;
use crate::protection::testing::Toy;

const CHUNKS: [u8; 8] = [7, 0, 0, 8, 0, 0, 0, 17];

struct Ends {
    from: KeyRing,
    to: KeyRing,
    now: Instant,
}

fn ends() -> Ends {
    let (mut from, mut to) = (KeyRing::default(), KeyRing::default());
    from.install_send(Box::new(Toy(7)));
    to.install_receive(Instant::ZERO, Box::new(Toy(7)));
    Ends { from, to, now: Instant::ZERO }
}

impl Ends {
    fn seal(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = PacketWriter::new(&mut out, CommonHeader::default(), 1000);
        writer.append(&[0; record::BEFORE]);
        assert!(writer.push(&Shutdown { cumulative_tsn_ack: Tsn(17) }));
        self.from.seal(&mut writer);
        writer.finish(ChecksumMode::Crc32c);
        out
    }

    fn open(&mut self, packet: &[u8]) -> Result<Vec<u8>, Rejected> {
        let packet = Packet::parse(packet).expect("a packet");
        let raw = packet.chunks().next_raw().expect("a chunk").expect("of usable length");
        self.to.open(self.now, &Dtls::read(&raw).expect("a record"))
    }

    /// So many packets are sealed and lost.
    fn lose(&self, count: u64) {
        let next = &self.from.send.as_ref().expect("keys").next;
        next.set(next.get() + count);
    }
}

#[test]
fn a_packet_is_taken_once() {
    let mut ends = ends();
    let packets: Vec<_> = (0..10).map(|_| ends.seal()).collect();
    for packet in packets.iter().rev() {
        assert_eq!(ends.open(packet).as_deref(), Ok(&CHUNKS[..]));
    }
    for packet in &packets {
        assert_eq!(ends.open(packet), Err(Rejected::Old));
    }
}

#[test]
fn other_keys_open_nothing() {
    let mut ends = ends();
    let packet = ends.seal();
    ends.to = KeyRing::default();
    assert_eq!(ends.open(&packet), Err(Rejected::Unknown));
    ends.to.install_receive(Instant::ZERO, Box::new(Toy(8)));
    assert_eq!(ends.open(&packet), Err(Rejected::Forged));
    // What was not genuine has not used up its number.
    ends.to = KeyRing::default();
    ends.to.install_receive(Instant::ZERO, Box::new(Toy(7)));
    assert!(ends.open(&packet).is_ok());
}

#[test]
fn a_forgery_does_not_move_the_window() {
    let mut ends = ends();
    let mut forged = ends.seal();
    let last = forged.len() - 5;
    forged[last] ^= 1;
    for _ in 0..100 {
        assert_eq!(ends.open(&forged), Err(Rejected::Forged));
    }
    let packet = ends.seal();
    assert!(ends.open(&packet).is_ok());
}

/// 16 bits of a number are ambiguous once half a turn has been lost. After a silence the next turns are tried, too.
#[test]
fn half_a_million_lost_packets_are_survived() {
    for lost in [32_000, 40_000, 65_536, 100_000, 500_000] {
        let mut ends = ends();
        let first = ends.seal();
        assert!(ends.open(&first).is_ok());
        ends.lose(lost);
        ends.now += Duration::from_secs(6);
        let packet = ends.seal();
        assert!(ends.open(&packet).is_ok(), "{lost} lost");
        let next = ends.seal();
        assert!(ends.open(&next).is_ok(), "{lost} lost, the next one");
        assert_eq!(ends.open(&packet), Err(Rejected::Old), "{lost} lost, again");
        assert!(ends.open(&first).is_err());
    }
}

#[test]
fn searching_is_rare() {
    let mut ends = ends();
    let first = ends.seal();
    assert!(ends.open(&first).is_ok());
    ends.lose(100_000);
    let packets: Vec<_> = (0..20).map(|_| ends.seal()).collect();
    // There was no silence.
    assert!(ends.open(&packets[0]).is_err());
    ends.now += Duration::from_secs(6);
    let mut forged = packets[1].clone();
    let last = forged.len() - 5;
    forged[last] ^= 1;
    for _ in 0..SEARCHES {
        assert!(ends.open(&forged).is_err());
    }
    assert!(ends.open(&packets[2]).is_err(), "the searches of this second are used up");
    ends.now += SECOND;
    assert!(ends.open(&packets[3]).is_ok());
    assert!(ends.open(&packets[4]).is_ok());
}

#[test]
fn new_keys_are_of_the_next_epoch_and_old_ones_go() {
    let mut ends = ends();
    let old = ends.seal();
    ends.to.install_receive(Instant::ZERO, Box::new(Toy(9)));
    ends.from.install_send(Box::new(Toy(9)));
    let new = ends.seal();
    assert!(ends.open(&new).is_ok());
    assert!(ends.open(&old).is_ok(), "late");
    let older = {
        ends.from = KeyRing::default();
        ends.from.install_send(Box::new(Toy(7)));
        ends.lose(1);
        ends.seal()
    };
    ends.to.forget_old();
    assert_eq!(ends.open(&older), Err(Rejected::Unknown));
}

#[test]
fn keys_wear_out() {
    let ends = ends();
    assert!(!ends.from.are_worn());
    ends.lose(RENEW_AFTER);
    assert!(ends.from.are_worn() && !ends.from.are_used_up());
    ends.lose(MOST_SEALED);
    assert!(ends.from.are_used_up());
}
