//! How much memory peers can make an endpoint use with what they send, and who gets it (RFC 9260 §6.2).
//!
//! It watches the resident memory of its process, which the kernel tells.

use std::sync::{Mutex, PoisonError};

use whimbrel_wire::Chunk;

use whimbrel_testbed::peer::crowd::{connected, crumbs, from, with_memory};
use whimbrel_testbed::peer::{Peer, Sent};

/// One test at a time watches the process.
static WATCHED: Mutex<()> = Mutex::new(());

/// Bytes of memory in use.
fn resident() -> usize {
    statm(1)
}

/// Bytes of memory asked for, used or not.
fn reserved() -> usize {
    statm(0)
}

fn statm(column: usize) -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("the tests run on Linux");
    let pages: usize =
        statm.split_whitespace().nth(column).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4096
}

fn last_window(sent: &[Sent]) -> Option<u32> {
    let window = |chunk: Chunk<'_>| if let Chunk::Sack(sack) = chunk { Some(sack.a_rwnd) } else { None };
    sent.iter().flat_map(|sent| sent.chunks().into_iter().filter_map(window).collect::<Vec<_>>()).last()
}

/// Whatever they send and in whatever order, a hundred peers make an endpoint hold no more than it has been allowed.
#[test]
fn chunks_of_one_byte_cost_their_senders_what_they_cost_us() {
    const MEMORY: usize = 64 << 20;
    let _alone = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut bench = with_memory(MEMORY);
    let peers: Vec<Peer> = (0..100).map(|n| connected(&mut bench, n)).collect();
    let before = resident();
    let mut windows = vec![u32::MAX; peers.len()];
    // Neighbours, which are joined, and chunks apart, which are not.
    for (every, from_tsn, packets) in [(1, 1, 100), (2, 8_001, 350)] {
        for packet in 0..packets {
            for (n, peer) in peers.iter().enumerate() {
                bench.deliver_on(from(n), &crumbs(peer, from_tsn + packet * 70 * every, every));
                windows[n] = last_window(&bench.take()).expect("what has gaps is acknowledged at once");
            }
        }
    }
    let used = resident() - before;
    assert!(used < MEMORY, "{used} bytes for what peers have sent");
    assert!(used > MEMORY / 4, "{used} bytes: this does not reach the limit");
    assert!(windows.iter().all(|&window| window < 1452), "{windows:?}");
    assert_eq!(bench.closed(), None);
    // Who comes now finds a share, and may send what the INIT ACK says.
    let mut late = connected(&mut bench, 200);
    let payload = [7; 1400];
    let message = late.data(0, 0, &payload);
    bench.deliver_on(from(200), &late.packet(&[&message]));
    assert_eq!(bench.received(), [payload]);
}

/// Buffers are limits: who has nothing in them needs no memory for them.
#[test]
fn idle_associations_cost_nothing_of_their_buffers() {
    const IDLE: usize = 200;
    let _alone = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    // Their receive buffers are 800 MiB together.
    let mut bench = with_memory(256 << 20);
    let before = reserved();
    let peers: Vec<Peer> = (0..IDLE).map(|n| connected(&mut bench, n)).collect();
    let asked_for = reserved().saturating_sub(before);
    // The C library reserves 64 MiB at once for a thread that is new to it.
    assert!(asked_for < peers.len() << 20, "{asked_for} bytes for {IDLE} idle associations");
}
