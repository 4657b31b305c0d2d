use std::net::UdpSocket;

use whimbrel_wire::{ChecksumMode, Chunk, CommonHeader, InitBuilder, Packet, PacketWriter, Tsn};

use crate::support::*;

/// An INIT that is in the socket before the endpoint's task has seen the call to `listen` is answered, not refused.
#[test]
fn an_init_in_the_same_instant_is_not_refused() {
    // One thread, which looks for packets after each task it runs: the endpoint's task sees both at once.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().event_interval(1).build().unwrap();
    runtime.block_on(async {
        let server = endpoint().await;
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        peer.send_to(&init(), server.local_addresses()[0]).unwrap();
        // The runtime looks for packets, and wakes the endpoint's task, whose turn comes after ours.
        tokio::task::yield_now().await;
        let _listener = server.listen(PORT).unwrap();
        peer.set_nonblocking(true).unwrap();
        let peer = tokio::net::UdpSocket::from_std(peer).unwrap();
        let mut answer = [0; 2048];
        let length = soon(peer.recv(&mut answer)).await.unwrap();
        let packet = Packet::parse(&answer[..length]).unwrap();
        let first = packet.chunks().next().unwrap().unwrap();
        assert!(matches!(first, Chunk::InitAck(_)), "{first:?}");
    });
}

fn init() -> Vec<u8> {
    let mut out = Vec::new();
    let header = CommonHeader { source_port: 7000, destination_port: PORT, verification_tag: 0 };
    let mut writer = PacketWriter::new(&mut out, header, 1200);
    let init = InitBuilder {
        initiate_tag: 1,
        a_rwnd: 100_000,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        parameters: &[],
    };
    assert!(writer.push(&init));
    writer.finish(ChecksumMode::Crc32c);
    out
}
