//! Addresses that somebody vouches for until they have answered (paper d10, section V.A; RFC 9260 §5.4).

use std::time::Duration;

use whimbrel_proto::{AgreedChange, Command, Config, PathState};
use whimbrel_testbed::peer::{Bench, Peer, Sent, peer_address};

const BYTES: usize = 10_000;

fn up() -> (Bench, Peer) {
    let mut bench = Bench::new(Config::mobile());
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[]);
    bench.take();
    (bench, peer)
}

/// The peer goes from its first address to that one.
fn move_to(bench: &mut Bench, to: u8, bytes: usize) {
    let association = bench.association();
    let address = peer_address(to);
    let gone = bench.paths().iter().map(|path| path.route.remote.ip()).collect::<Vec<_>>();
    bench.command(Command::AgreeAddresses {
        association,
        changes: vec![AgreedChange::AddVouchedPeer { address, bytes }],
    });
    let way = bench.paths().iter().find(|path| path.route.remote == address).map(|path| path.id);
    bench.command(Command::SetPrimary { association, path: way.expect("there is room") });
    let changes = gone.into_iter().map(AgreedChange::DeletePeer).collect();
    bench.command(Command::AgreeAddresses { association, changes });
}

fn state(bench: &Bench, of: u8) -> Option<PathState> {
    bench.paths().iter().find(|path| path.route.remote == peer_address(of)).map(|path| path.state)
}

/// Bytes of packets with data that went there.
fn data_to(sent: &[Sent], to: u8) -> usize {
    let there = sent.iter().filter(|packet| packet.route.remote == peer_address(to));
    there.filter(|packet| !packet.data().is_empty()).map(|packet| packet.bytes.len()).sum()
}

/// Much to say, and two minutes in which nobody answers.
fn talk_in_vain(bench: &mut Bench) -> Vec<Sent> {
    for _ in 0..40 {
        bench.send(0, &[1; 1000]);
    }
    let mut sent = bench.take();
    for _ in 0..240 {
        bench.pass(Duration::from_millis(500));
        sent.extend(bench.take());
    }
    sent
}

#[test]
fn data_goes_there_at_once_and_no_more_than_that() {
    let (mut bench, _) = up();
    move_to(&mut bench, 2, BYTES);
    assert_eq!(state(&bench, 2), Some(PathState::Active));
    let sent = bench.take();
    assert!(!sent[0].heartbeats().is_empty(), "it is asked before anything else goes there");
    let bytes = data_to(&talk_in_vain(&mut bench), 2);
    assert!((4_000..=BYTES).contains(&bytes), "{bytes} bytes went to an address that has never answered");
    assert_eq!(state(&bench, 2), Some(PathState::Unconfirmed));
}

#[test]
fn an_address_that_answers_needs_nobody_to_vouch_for_it() {
    let (mut bench, peer) = up();
    move_to(&mut bench, 2, BYTES);
    for sent in bench.take() {
        peer.answer_heartbeats(&mut bench, &sent);
    }
    let bytes = data_to(&talk_in_vain(&mut bench), 2);
    assert!(bytes > 2 * BYTES, "{bytes}");
    // And the next one can be vouched for.
    move_to(&mut bench, 3, BYTES);
    assert!(data_to(&bench.take(), 3) > 0);
}

/// Whoever can have us send there cannot do so again and again.
#[test]
fn nobody_vouches_for_another_address_until_one_has_answered() {
    let (mut bench, peer) = up();
    move_to(&mut bench, 2, BYTES);
    move_to(&mut bench, 3, BYTES);
    assert_eq!(state(&bench, 3), Some(PathState::Unconfirmed), "the first one has not been used up");
    let sent = talk_in_vain(&mut bench);
    assert_eq!(data_to(&sent, 3), 0);
    assert!(data_to(&sent, 2) <= BYTES);
    move_to(&mut bench, 4, BYTES);
    assert_eq!(state(&bench, 4), Some(PathState::Unconfirmed), "it has");
    assert_eq!(data_to(&talk_in_vain(&mut bench), 4), 0);
    // It is the peer who is there, and not somebody who is flooded.
    for _ in 0..20 {
        bench.pass(Duration::from_secs(1));
        for sent in bench.take() {
            if sent.route.remote == peer_address(2) || sent.route.remote == peer_address(4) {
                peer.answer_heartbeats(&mut bench, &sent);
            }
        }
    }
    assert_eq!(state(&bench, 4), Some(PathState::Active));
    assert!(data_to(&talk_in_vain(&mut bench), 4) > 0, "what was held is sent");
}

/// A gateway that names no bandwidth-delay product vouches for nothing.
#[test]
fn no_bytes_are_no_voucher() {
    let (mut bench, _) = up();
    move_to(&mut bench, 2, 100);
    assert_eq!(state(&bench, 2), Some(PathState::Unconfirmed));
    assert_eq!(data_to(&talk_in_vain(&mut bench), 2), 0);
}
