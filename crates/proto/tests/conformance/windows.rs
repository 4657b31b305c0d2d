//! Closed, lost and silly windows (RFC 9260 §6.1 A, §6.2, §6.2.1).

use core::time::Duration;

use whimbrel_proto::{CloseReason, Command, Config};
use whimbrel_wire::{Chunk, Shutdown, Tsn};

use whimbrel_testbed::peer::{self, Bench, Peer, Sent, quiet};

fn up(config: Config, a_rwnd: u32) -> (Bench, Peer) {
    let mut bench = Bench::new(config);
    let mut peer = Peer { a_rwnd, ..Peer::new() };
    peer.connect(&mut bench);
    bench.take();
    (bench, peer)
}

/// A peer that answers everything with "no room", as long as it lasts: (time, DATA chunks) of each packet.
fn refuse_everything(bench: &mut Bench, peer: &Peer, cumulative: Tsn, seconds: u64) -> Vec<Sent> {
    let end = bench.now + Duration::from_secs(seconds);
    let mut all = Vec::new();
    loop {
        let sent = bench.take();
        for sent in &sent {
            if !sent.data().is_empty() {
                bench.deliver(&peer.sack(cumulative, 0));
            }
            peer.answer_heartbeats(bench, sent);
        }
        all.extend(sent);
        if bench.now >= end || !bench.pass_to_deadline() {
            return all;
        }
    }
}

/// RFC 9260 §6.1 A: a closed window is probed after one RTO and then ever less often, one chunk at a time, and never given
/// up as long as the peer answers: it may keep its window closed for ever.
#[test]
fn a_closed_window_is_probed_for_ever_while_the_peer_answers() {
    let (mut bench, peer) = up(quiet(), 2000);
    bench.send(0, &[1; 1000]);
    bench.send(0, &[2; 1000]);
    bench.send(0, &[3; 1000]);
    bench.take();
    bench.deliver(&peer.sack(peer.node_tsn.next(), 0));
    let start = bench.now;
    let sent = refuse_everything(&mut bench, &peer, peer.node_tsn.next(), 3 * 3600);
    assert_eq!(bench.closed(), None);
    let probes: Vec<&Sent> = sent.iter().filter(|sent| !sent.data().is_empty()).collect();
    assert!(probes.iter().all(|probe| probe.data().len() == 1 && probe.data()[0].payload == [3; 1000]));
    let times: Vec<Duration> = probes.iter().map(|probe| probe.at.saturating_since(start)).collect();
    assert_eq!(times[0], Duration::from_secs(1));
    assert!(times.len() > 100 && times.len() < 400, "{}", times.len());
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] <= Duration::from_secs(61)), "RTO.Max");
    assert_eq!(bench.paths()[0].error_count, 0);
    // The window opens: everything goes on.
    bench.deliver(&peer.sack(peer.node_tsn.plus(2), 5000));
    bench.take();
    bench.send(0, b"on");
    assert_eq!(bench.take_only().data()[0].payload, b"on");
}

/// RFC 9260 §8.1: a peer that does not answer the probes is as dead as any other.
#[test]
fn a_closed_window_of_a_silent_peer_is_given_up() {
    let mut config = quiet();
    config.heartbeat.interval = None;
    let (mut bench, peer) = up(config, 1500);
    bench.send(0, &[1; 1000]);
    bench.send(0, &[2; 1000]);
    bench.deliver(&peer.sack(peer.node_tsn, 0));
    bench.pass(Duration::from_secs(3600));
    assert_eq!(bench.closed(), Some(CloseReason::Unreachable));
}

/// RFC 9260 §6.1 A: the window update was lost; the probe finds the open window.
#[test]
fn a_lost_window_update_is_found_by_the_probe() {
    let (mut bench, peer) = up(quiet(), 1500);
    bench.send(0, &[1; 1000]);
    for n in 0..5 {
        bench.send(0, &[n; 1000]);
    }
    bench.deliver(&peer.sack(peer.node_tsn, 0));
    bench.take();
    bench.pass(Duration::from_secs(1));
    let probe = bench.take_only();
    assert_eq!(probe.data().len(), 1);
    bench.deliver(&peer.sack(probe.data()[0].tsn, 100_000));
    assert_eq!(bench.take().iter().map(|sent| sent.data().len()).sum::<usize>(), 4);
}

/// A window that is shut while data is in flight: what is dropped is retransmitted without end, and without counting
/// errors, as long as SACKs come (RFC 9260 §6.1 A).
#[test]
fn a_window_shut_on_data_in_flight_does_not_kill_the_association() {
    let (mut bench, peer) = up(quiet(), 100_000);
    for n in 0..4 {
        bench.send(0, &[n; 1000]);
    }
    refuse_everything(&mut bench, &peer, peer.node_tsn.prev(), 3600);
    assert_eq!(bench.closed(), None);
    assert_eq!(bench.paths()[0].error_count, 0);
    bench.take();
    bench.deliver(&peer.sack(peer.node_tsn.plus(3), 100_000));
    assert_eq!(bench.paths()[0].flight_size, 0);
}

/// RFC 9260 §6.1 A, RFC 1122 §4.2.3.4: a window that opens by a few bytes is not filled with crumbs: they go as probes, no
/// more often than once per RTO.
#[test]
fn a_silly_window_is_not_filled_with_crumbs() {
    let (mut bench, peer) = up(quiet(), 10_000);
    bench.send(0, &[1; 30_000]);
    let (mut received, mut crumbs) = (0, Vec::new());
    // The peer acknowledges everything and opens the window by 100 bytes each time.
    for _ in 0..100 {
        let sent = bench.take();
        let mut last = None;
        for sent in &sent {
            for data in sent.data() {
                last = Some(data.tsn);
                received += data.payload.len();
                if data.payload.len() <= 100 {
                    crumbs.push(sent.at);
                }
            }
        }
        match last {
            Some(last) => bench.deliver(&peer.sack(last, 100)),
            None => assert!(bench.pass_to_deadline()),
        }
    }
    assert!(received >= 4 * 1400 && crumbs.len() >= 10, "it goes on: {received} bytes, {crumbs:?}");
    let gaps = crumbs.windows(2).map(|pair| pair[1].saturating_since(pair[0]));
    assert!(gaps.min().unwrap() >= Duration::from_secs(1), "{crumbs:?}");
}

/// RFC 9260 §6.1 A: the rest of a message may be larger than a window that opens no further before all of it has come. Such a
/// window is filled.
#[test]
fn the_rest_of_a_message_is_cut_for_a_small_window() {
    let (mut bench, peer) = up(quiet(), 1500);
    bench.send(0, &[1; 2500]);
    let start = bench.now;
    let mut pieces = Vec::new();
    while let [sent] = bench.take().as_slice() {
        let data = sent.data();
        pieces.push(data[0].payload.len());
        bench.deliver(&peer.sack(data[0].tsn, 1000));
    }
    assert_eq!((pieces.iter().sum::<usize>(), pieces[1], bench.now), (2500, 1000, start), "{pieces:?}");
}

/// RFC 9260 §6.1 A: a window too small for what waits is probed, however often the peer repeats it meanwhile.
#[test]
fn repeated_sacks_do_not_put_the_probe_off() {
    let (mut bench, peer) = up(quiet(), 1500);
    bench.send(0, &[1; 1000]);
    bench.send(0, &[2; 1000]);
    bench.take();
    for _ in 0..12 {
        bench.deliver(&peer.sack(peer.node_tsn, 500));
        assert_eq!(bench.take().len(), 0, "at {}", bench.now);
        bench.pass(Duration::from_millis(100));
        if let [probe] = bench.take().as_slice() {
            assert_eq!(probe.data()[0].payload, [2; 1000]);
            return;
        }
    }
    panic!("no probe within 1.2 s");
}

/// RFC 9260 §6.2, RFC 1122 §4.2.3.3: a user who reads byte by byte makes neither a SACK per byte nor a window of crumbs.
#[test]
fn the_receiver_does_not_offer_a_silly_window() {
    let mut config = quiet();
    config.limits.receive_buffer = 8192;
    let (mut bench, mut peer) = up(config, 10_000);
    let payload = [7; 1000];
    for n in 0..8 {
        let chunk = peer.data(0, n, &payload);
        bench.deliver(&peer.packet(&[&chunk]));
    }
    bench.pass(Duration::from_secs(1));
    bench.take();
    let association = bench.association();
    let mut offers = Vec::new();
    for _ in 0..8000 {
        bench.command(Command::Release { association, bytes: 1 });
        for sent in bench.take() {
            for chunk in sent.chunks() {
                if let Chunk::Sack(sack) = chunk {
                    offers.push(sack.a_rwnd);
                }
            }
        }
    }
    assert!(!offers.is_empty() && offers.len() <= 8, "{offers:?}");
    assert!(offers.windows(2).all(|pair| pair[1] >= pair[0] + 1452), "{offers:?}");
    // Each tells of a quarter of the buffer more, so a quarter at most is not yet told.
    assert!(*offers.last().unwrap() > 6000, "{offers:?}");
}

/// RFC 9260 §6.2: a user who never reads. Nothing is lost, the window closes, the association lives, and all is there
/// when the user comes back.
#[test]
fn a_user_who_never_reads_closes_the_window() {
    let mut config = quiet();
    config.limits.receive_buffer = 8192;
    let (mut bench, mut peer) = up(config, 10_000);
    let payload = [7; 1000];
    let mut offered = u32::MAX;
    for n in 0..8 {
        let chunk = peer.data(0, n, &payload);
        bench.deliver(&peer.packet(&[&chunk]));
        bench.pass(Duration::from_millis(250));
        for sent in bench.take() {
            for chunk in sent.chunks() {
                if let Chunk::Sack(sack) = chunk {
                    offered = sack.a_rwnd;
                }
            }
        }
    }
    assert!(offered <= 192, "{offered}");
    peer::assert_alive(&mut bench, &peer);
    let association = bench.association();
    bench.take();
    bench.command(Command::Release { association, bytes: 8000 });
    let update = bench.take_only();
    assert!(matches!(update.only(), Chunk::Sack(sack) if sack.a_rwnd == 8192), "{update:?}");
}

/// One-byte messages cost more than a byte: a window that shrinks faster than the bytes sent must not make the sender
/// lose its peer (two real endpoints agree on that in the simulation; here the receiver is driven).
#[test]
fn one_byte_messages_nobody_reads_are_bounded_and_survived() {
    let mut config = quiet();
    config.limits.receive_buffer = 4096;
    let (mut bench, mut peer) = up(config, 10_000);
    for n in 0..1000 {
        let chunk = peer.data(0, n, b"x");
        bench.deliver(&peer.packet(&[&chunk]));
    }
    assert!(bench.received().len() <= 4096 / 64, "{}", bench.received().len());
    peer::assert_alive(&mut bench, &peer);
}

/// A SHUTDOWN acknowledges data and says nothing of the window: a timeout after it is no sign that the window is too small.
#[test]
fn a_timeout_after_a_shutdown_is_an_error() {
    let (mut bench, peer) = up(quiet(), 100_000);
    (1..=3).for_each(|n| bench.send(0, &[n; 1400]));
    bench.take();
    let first = peer.node_tsn;
    bench.deliver(&peer.sack(first.prev(), 3000));
    bench.deliver(&peer.packet(&[&Shutdown { cumulative_tsn_ack: first.next() }]));
    bench.pass(Duration::from_millis(3500));
    let path = &bench.paths()[0];
    assert!(path.counters.timeouts > 0);
    assert_eq!(path.counters.timeouts, u64::from(path.error_count));
}
