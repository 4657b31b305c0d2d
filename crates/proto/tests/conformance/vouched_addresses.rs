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

/// The address is vouched for and new data's, and the old one stays.
fn prefer(bench: &mut Bench, to: u8, bytes: usize) {
    let association = bench.association();
    let address = peer_address(to);
    let changes = vec![AgreedChange::AddVouchedPeer { address, bytes }];
    bench.command(Command::AgreeAddresses { association, changes });
    let way = bench.paths().iter().find(|path| path.route.remote == address).map(|path| path.id);
    bench.command(Command::SetPrimary { association, path: way.expect("there is room") });
}

/// The peer goes from the addresses it has to that one.
fn move_to(bench: &mut Bench, to: u8, bytes: usize) {
    let association = bench.association();
    let gone = bench.paths().iter().map(|path| path.route.remote.ip()).collect::<Vec<_>>();
    prefer(bench, to, bytes);
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

/// Bytes of all packets that went there while the address was vouched for.
fn bytes_while_vouched(bench: &mut Bench, to: u8) -> usize {
    let mut bytes = 0;
    for _ in 0..2_000 {
        let vouched = state(bench, to) == Some(PathState::Active);
        let sent = bench.take();
        bytes += sent
            .iter()
            .filter(|sent| sent.route.remote == peer_address(to))
            .map(|sent| sent.bytes.len())
            .sum::<usize>();
        if !vouched {
            break;
        }
        bench.pass(Duration::from_millis(10));
    }
    bytes
}

/// A path MTU probe would be a packet more than that.
#[test]
fn all_that_goes_there_counts() {
    for bytes in (1_300..20_000).step_by(370) {
        let (mut bench, _) = up();
        move_to(&mut bench, 2, bytes);
        (0..40).for_each(|_| bench.send(0, &[1; 1000]));
        let sent = bytes_while_vouched(&mut bench, 2);
        assert!((500..=bytes).contains(&sent), "{sent} of {bytes}");
    }
}

/// The old address works, and the new one never answers: what is said meanwhile arrives by the old one.
#[test]
fn a_voucher_does_not_outlive_a_heartbeat_without_an_answer() {
    let mut bench = Bench::new(Config::rfc());
    let mut peer = Peer::new();
    peer.connect_with(&mut bench, &[]);
    bench.take();
    prefer(&mut bench, 2, 1 << 20);
    let (mut by_old, mut by_new) = (0, 0);
    for _ in 0..300 {
        bench.send(0, &[1; 500]);
        bench.pass(Duration::from_millis(100));
        for sent in bench.take() {
            let by = if sent.route.remote == peer_address(2) { &mut by_new } else { &mut by_old };
            *by += sent.data().len();
            if sent.route.remote != peer_address(2) {
                peer.answer_heartbeats(&mut bench, &sent);
            }
        }
    }
    assert_eq!(state(&bench, 2), Some(PathState::Unconfirmed));
    // Nobody acknowledges anything, so that a window is all.
    assert!(by_old > 3 && by_new < 10, "{by_old}, {by_new}");
}

/// A peer that begins anew is the same peer.
#[test]
fn a_restart_is_no_new_voucher() {
    let (mut bench, _) = up();
    let mut bytes = Vec::new();
    for round in 1..4 {
        prefer(&mut bench, 2, BYTES);
        (0..40).for_each(|_| bench.send(0, &[1; 1000]));
        bench.pass(Duration::from_millis(300));
        bytes.push(data_to(&bench.take(), 2));
        let mut again = Peer { tag: 0x7777 + round, ..Peer::new() };
        bench.deliver(&again.init(&[]));
        again.learn_init_ack(&bench.take_only());
        bench.deliver(&again.cookie_echo());
        bench.take();
        assert_eq!(bench.restarts(), round as usize);
    }
    assert!(bytes[0] > 4_000 && bytes[1..] == [0, 0], "{bytes:?}");
}
