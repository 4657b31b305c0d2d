//! Who gets the memory of an endpoint for what peers have sent, and who has to give it back (RFC 9260 §6.2).

use core::time::Duration;

use whimbrel_proto::{CloseReason, Event};
use whimbrel_wire::{Chunk, cause_code};

use whimbrel_testbed::peer::crowd::{connected, crumbs, from, with_memory};
use whimbrel_testbed::peer::{Bench, Peer, Sent, cause_codes, data};

/// Three quarters are in use: what silent peers have sent is given up, the longest silent first, and those that are heard keep what they
/// have.
#[test]
fn silent_peers_are_given_up_first() {
    let mut bench = with_memory(16 << 20);
    let fill = |bench: &mut Bench, n: usize, peer: &Peer, packets: u32| {
        (0..packets).for_each(|packet| bench.deliver_on(from(n), &crumbs(peer, 1 + packet * 70, 1)));
        bench.take();
    };
    let silent: Vec<Peer> = (0..8).map(|n| connected(&mut bench, n)).collect();
    for (n, peer) in silent.iter().enumerate() {
        fill(&mut bench, n, peer, 100);
        bench.now += Duration::from_secs(1);
    }
    bench.now += Duration::from_secs(60);
    let heard: Vec<Peer> = (8..10).map(|n| connected(&mut bench, n)).collect();
    for (n, peer) in heard.iter().enumerate() {
        fill(&mut bench, n + 8, peer, 200);
    }
    let gaps = |bench: &mut Bench, n: usize, peer: &Peer| {
        bench.take();
        bench.deliver_on(from(n), &peer.packet(&[&data(peer.initial_tsn.plus(1), 0, 1, b"x")]));
        let reported = |chunk: &Chunk<'_>| match chunk {
            Chunk::Sack(sack) => sack.gap_ack_blocks().map(|block| u32::from(block.end)).max().unwrap_or(0),
            _ => 0,
        };
        bench.take().iter().flat_map(|sent| sent.chunks().iter().map(reported).collect::<Vec<_>>()).max()
    };
    for (n, peer) in heard.iter().enumerate() {
        assert!(gaps(&mut bench, n + 8, peer) > Some(1000), "peer {n} was heard");
    }
    assert!(gaps(&mut bench, 0, &silent[0]) <= Some(2), "dropped, and acknowledged no more");
    assert_eq!(bench.closed(), None, "no association had to end");
}

/// What has been acknowledged for good cannot be dropped: then associations end, and the peer is told why.
#[test]
fn the_longest_silent_associations_end_when_nothing_else_is_left() {
    let mut bench = with_memory(16 << 20);
    let half = |bench: &mut Bench, n: usize, peer: &mut Peer| {
        // A message before its turn in each chunk.
        for ssn in 1..=1200_u16 {
            let payload = [7; 1300];
            let message = peer.data(0, ssn, &payload);
            bench.deliver_on(from(n), &peer.packet(&[&message]));
        }
        bench.take();
    };
    let mut heard = connected(&mut bench, 20);
    let mut silent: Vec<Peer> = (0..9).map(|n| connected(&mut bench, n)).collect();
    for (n, peer) in silent.iter_mut().enumerate() {
        half(&mut bench, n, peer);
        bench.now += Duration::from_secs(1);
    }
    assert_eq!(bench.closed(), None, "nobody has been silent for long");
    bench.now += Duration::from_secs(60);
    bench.take();
    let message = heard.data(0, 1, b"early");
    bench.deliver_on(from(20), &heard.packet(&[&message]));
    let ended: Vec<CloseReason> = bench
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Closed { reason, .. } => Some(reason.clone()),
            _ => None,
        })
        .collect();
    assert!((2..8).contains(&ended.len()), "{ended:?}");
    assert!(ended.iter().all(|reason| *reason == CloseReason::OutOfResource));
    let aborts: Vec<Sent> =
        bench.take().into_iter().filter(|sent| matches!(sent.chunks()[0], Chunk::Abort(_))).collect();
    assert_eq!(
        aborts.iter().map(|sent| sent.tag()).collect::<Vec<_>>(),
        (1..=ended.len() as u32).collect::<Vec<_>>()
    );
    assert!(cause_codes(&aborts).iter().all(|&code| code == cause_code::OUT_OF_RESOURCE));
}
