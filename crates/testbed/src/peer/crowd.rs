//! Many peers of one node, each at an address of its own, and what they send to fill its memory.

use core::net::SocketAddr;

use whimbrel_machine::Route;
use whimbrel_wire::{Chunk, Data, EmitChunk};

use super::{Bench, Peer, UDP, data, node_address, quiet};

/// The way to peer number `n`.
pub fn from(n: usize) -> Route {
    let [.., high, low] = n.to_be_bytes();
    Route { local: node_address(1), remote: SocketAddr::from(([10, 77, high, low], UDP)) }
}

/// An association with peer number `n`.
pub fn connected(bench: &mut Bench, n: usize) -> Peer {
    let mut peer = Peer { tag: n as u32 + 1, ..Peer::new() };
    bench.take();
    bench.deliver_on(from(n), &peer.init(&[]));
    let sent = bench.take();
    let init_ack = sent.iter().find(|sent| matches!(sent.chunks()[0], Chunk::InitAck(_)));
    peer.learn_init_ack(init_ack.expect("an INIT is answered"));
    bench.deliver_on(from(n), &peer.cookie_echo());
    bench.take();
    peer
}

/// Chunks of one byte, the first `ahead` TSNs beyond the gap: a packet full of them.
pub fn crumbs(peer: &Peer, ahead: u32, every: u32) -> Vec<u8> {
    let chunk = |n| data(peer.initial_tsn.plus(ahead + n * every), 0, (ahead + n * every) as u16, b"x");
    let chunks: Vec<Data<'_>> = (0..70).map(chunk).collect();
    let chunks: Vec<&dyn EmitChunk> = chunks.iter().map(|chunk| chunk as &dyn EmitChunk).collect();
    peer.packet(&chunks)
}

/// A node with receive buffers of 4 MiB and so much memory for all.
pub fn with_memory(bytes: usize) -> Bench {
    let mut config = quiet();
    config.limits.receive_buffer = 4 << 20;
    config.limits.receive_memory = bytes;
    Bench::new(config)
}
