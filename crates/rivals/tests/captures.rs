//! Captures of TCP: what others read there is TCP, and as long as it was in the world.
#[path = "common/capture.rs"]
mod capture;
mod common;

use capture::{open_ipv4, tcp_is_right};
use common::pair;
use whimbrel_netsim::{LinkConfig, Side};
use whimbrel_rivals::tcp::{File, TcpConfig};
use whimbrel_testbed::Memory;

#[test]
fn a_connection_is_tcp_with_right_checksums() {
    let mut pair = pair(1, TcpConfig::default(), [LinkConfig::default(); 2], vec![Box::new(File(100_001))]);
    let file = Memory::default();
    pair.world.capture(&[(pair.link, "link")], file.clone()).unwrap();
    pair.run_s(10);
    assert_eq!(pair.received(), 100_001);
    let packets = file.packets();
    for packet in &packets {
        let (protocol, addresses, segment) = open_ipv4(&packet.bytes);
        assert_eq!((protocol, packet.comments.len()), (6, 0));
        assert!(tcp_is_right(addresses, segment), "{segment:?}");
        let dynamic_port = segment[if packet.inbound { 2 } else { 0 }..][..2].to_vec();
        assert_eq!(dynamic_port, [0xc0, 0], "the connection's port");
    }
    for (side, inbound) in [(Side::AtoB, false), (Side::BtoA, true)] {
        let lengths =
            packets.iter().filter(|packet| packet.inbound == inbound).map(|packet| packet.bytes.len());
        let stats = pair.world.stats(pair.link, side);
        assert_eq!(lengths.clone().count() as u64, stats.delivered_packets);
        assert_eq!(lengths.sum::<usize>() as u64, stats.delivered_bytes, "as long as in the world");
    }
}

/// The capture makes nothing right that the link made wrong, and what it doubles (here, everything) is TCP, too.
#[test]
fn broken_segments_have_wrong_checksums() {
    let bad = LinkConfig { corrupt: 0.1, duplicate: 1.0, ..LinkConfig::default() };
    let mut pair = pair(3, TcpConfig::default(), [LinkConfig::default(), bad], vec![Box::new(File(400_000))]);
    let file = Memory::default();
    pair.world.capture(&[(pair.link, "link")], file.clone()).unwrap();
    pair.run_s(600);
    assert_eq!(pair.received(), 400_000);
    let wrong = file.packets().into_iter().filter(|packet| {
        let (protocol, addresses, segment) = open_ipv4(&packet.bytes);
        assert_eq!(protocol, 6);
        !tcp_is_right(addresses, segment)
    });
    let stats = pair.world.stats(pair.link, Side::BtoA);
    let (corrupted, duplicated) = (stats.corrupted, stats.duplicated);
    assert!(corrupted > 5 && duplicated > 5, "{corrupted}, {duplicated}");
    assert_eq!(wrong.count() as u64, corrupted);
}
