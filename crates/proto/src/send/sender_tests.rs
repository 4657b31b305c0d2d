//! The sender on several paths: what one of them loses, and what becomes of the others.

use core::time::Duration;

use whimbrel_wire::{GapAckBlock, Tsn};

use super::*;
use crate::config::TailLoss;
use crate::interface::PathState;
use crate::path::control_path;
use crate::send::report::T3;
use crate::send::testing::Rig;
use crate::send::turn::{Content, Permit};

const A: PathId = PathId(0);
/// Shares neither address with path A.
const D: PathId = PathId(3);
const WINDOW: u32 = 1_000_000;

fn rig(change: impl FnOnce(&mut Config)) -> Rig {
    let mut config = Config::rfc();
    config.congestion.burst = BurstLimit::Packets(1000);
    change(&mut config);
    let mut rig = Rig::new(config, Tsn(1), WINDOW);
    rig.ids().into_iter().for_each(|id| rig.sender.install(id, Some(100_000), None));
    rig
}

/// Sends messages, each in a packet of its own.
fn send(rig: &mut Rig, messages: usize) {
    for _ in 0..messages {
        assert!(rig.send(0, 1000, usize::MAX));
        rig.pass(Duration::from_millis(1));
        while rig.turn(Permit::Everything, 1).is_some() {}
    }
}

fn gap(start: u16, end: u16) -> GapAckBlock {
    GapAckBlock { start, end }
}

fn cwnd(rig: &Rig, path: PathId) -> usize {
    rig.sender.flow(path).unwrap().congestion.cwnd()
}

/// The first chunk is lost on path A, by one miss indication; the next ones are in flight on path D.
fn lost_on_a(scope: RecoveryScope) -> Rig {
    let mut rig = rig(|config| {
        config.retransmission.recovery = scope;
        config.retransmission.loss = LossConfig::MissIndications(1);
    });
    send(&mut rig, 3);
    rig.paths.set_primary(D);
    send(&mut rig, 3);
    // Slow start grows by what is acknowledged.
    rig.sender.install(D, Some(2500), Some(1_000_000));
    rig.sack(Tsn(0), &[gap(2, 2)], WINDOW).unwrap();
    assert!(rig.sender.recovery.covers(A) && rig.sender.has_lost());
    rig
}

#[test]
fn while_one_path_recovers_the_window_of_another_grows_or_rests() {
    for (scope, grows) in [(RecoveryScope::Path, true), (RecoveryScope::Association, false)] {
        let mut rig = lost_on_a(scope);
        rig.pass(Duration::from_millis(1));
        while rig.turn(Permit::Everything, 1).is_some() {}
        let before = cwnd(&rig, D);
        // The Cumulative TSN Ack Point advances, but not to the exit point, the last one sent on path D.
        rig.sack(Tsn(4), &[], WINDOW).unwrap();
        assert_eq!(rig.sender.recovery.covers(D), !grows, "{scope:?}");
        assert_eq!(cwnd(&rig, D) > before, grows, "{scope:?}: {before} bytes before");
    }
}

/// Fast Recovery of one path is not ended by what another one loses.
#[test]
fn fast_recovery_of_a_path_is_its_own() {
    let mut rig = lost_on_a(RecoveryScope::Path);
    assert!(!rig.sender.recovery.covers(D));
    rig.expire(D);
    assert!(rig.sender.recovery.covers(A));
    rig.remove(A);
    assert!(!rig.sender.recovery.is_active());
}

/// RFC 9260 §7.2.4: in Fast Recovery a SACK that advances the Cumulative TSN Ack Point counts against all that it reports missing;
/// where Fast Recovery is of a path, against what is missing there.
#[test]
fn in_fast_recovery_of_a_path_only_its_own_chunks_are_missed_further_up() {
    for (scope, lost) in [(RecoveryScope::Path, false), (RecoveryScope::Association, true)] {
        let mut rig = rig(|config| {
            config.retransmission.recovery = scope;
            config.retransmission.loss = LossConfig::MissIndications(2);
        });
        send(&mut rig, 3);
        rig.paths.set_primary(D);
        send(&mut rig, 3);
        (2..=3).for_each(|end| rig.sack(Tsn(0), &[gap(2, end)], WINDOW).unwrap());
        while rig.turn(Permit::Everything, 1).is_some() {}
        // The last one on path D tells of a miss of the two before it; then the first chunk arrives.
        rig.sack(Tsn(0), &[gap(2, 3), gap(6, 6)], WINDOW).unwrap();
        rig.sack(Tsn(3), &[gap(3, 3)], WINDOW).unwrap();
        assert_eq!(rig.sender.has_lost(), lost, "{scope:?}");
    }
}

/// What is taken for lost because its link has gone is repaired in slow start.
#[test]
fn giving_a_path_up_ends_its_fast_recovery() {
    let mut rig = lost_on_a(RecoveryScope::Path);
    rig.give_up(A);
    assert!(!rig.sender.recovery.covers(A));
}

/// What was sent stays sent when its path goes.
#[test]
fn totals_have_what_was_sent_on_paths_that_are_gone() {
    let mut rig = rig(|_| {});
    send(&mut rig, 2);
    rig.expire(A);
    rig.paths.set_primary(D);
    while rig.turn(Permit::Everything, 1).is_some() {}
    rig.sack(Tsn(2), &[], WINDOW).unwrap();
    send(&mut rig, 1);
    let totals =
        |rig: &Rig| (rig.sender.totals().data.data_sent, rig.sender.totals().data.data_retransmitted);
    let before = totals(&rig);
    assert!(before.0 == 3 && before.1 > 0, "{before:?}");
    rig.remove(A);
    assert_eq!(totals(&rig), before);
    assert!(rig.sender.flows.iter().map(|flow| flow.counters.data_sent).sum::<u64>() < 3);
}

/// After T3-rtx one packet at a time leaves (RFC 9260 §7.2.3); a path whose link comes back begins without that.
#[test]
fn a_path_that_was_closed_is_not_held_to_one_packet() {
    let mut rig = rig(|_| {});
    send(&mut rig, 2);
    rig.expire(A);
    assert!(rig.sender.flow(A).unwrap().one_packet);
    rig.close(A);
    rig.open(A);
    assert!(!rig.sender.flow(A).unwrap().one_packet);
}

/// Karn's rule (RFC 9260 §6.3.1 C5): what is retransmitted on another path was timed on its first.
#[test]
fn a_retransmission_elsewhere_ends_the_measurement() {
    let mut rig = rig(|_| {});
    send(&mut rig, 2);
    assert_eq!(rig.sender.flow(A).unwrap().timed.map(|(tsn, _)| tsn), Some(Tsn(1)));
    for _ in 0..3 {
        assert!(rig.send(0, 1000, usize::MAX));
    }
    while rig.turn(Permit::Everything, 1).is_some() {}
    // It is missing, and the primary path is another one by now.
    rig.paths.set_primary(D);
    (3..=5).for_each(|end| rig.sack(Tsn(0), &[gap(2, end)], WINDOW).unwrap());
    let again = rig.turn(Permit::Everything, 1).unwrap().train;
    assert_eq!((again.path, again.content, again.first), (D, Content::Retransmission, Tsn(1)));
    assert_eq!(rig.sender.flow(A).unwrap().timed, None);
}

/// RFC 9260 §6.1: T3-rtx begins anew, and guards the earliest chunk, when that is retransmitted.
#[test]
fn t3_guards_an_earlier_chunk_that_is_sent_again() {
    let mut rig = rig(|_| {});
    send(&mut rig, 5);
    (3..=5).for_each(|end| rig.sack(Tsn(0), &[gap(2, end)], WINDOW).unwrap());
    send(&mut rig, 0);
    let again = rig.turn(Permit::Everything, 1).unwrap().train;
    assert_eq!((again.first, again.t3), (Tsn(1), Some(T3::Restart)));
    assert_eq!(rig.sender.flow(A).unwrap().guarded, Some(Tsn(1)));
    // An earlier one than that which is guarded already.
    let mut rig = self::rig(|config| config.retransmission.loss = LossConfig::MissIndications(1));
    send(&mut rig, 4);
    rig.sack(Tsn(0), &[gap(3, 3)], WINDOW).unwrap();
    assert_eq!(rig.sender.flow(A).unwrap().guarded, Some(Tsn(4)));
    let again = rig.turn(Permit::Everything, 1).unwrap().train;
    assert_eq!((again.first, again.t3), (Tsn(1), Some(T3::Restart)));
    assert_eq!(rig.sender.flow(A).unwrap().guarded, Some(Tsn(1)));
}

/// A chunk for which the window has become too small is a probe (RFC 9260 §6.1 A); one that just fits is not.
#[test]
fn a_timeout_is_an_error_unless_the_window_is_too_small() {
    for (window, error) in [(1000, true), (999, false)] {
        let mut rig = rig(|_| {});
        send(&mut rig, 2);
        rig.sack(Tsn(1), &[], window).unwrap();
        assert_eq!(rig.sender.on_timeout(A), error, "{window}");
    }
}

/// A probe of the primary path leaves on a path that works or not at all, and what it may do ends with it.
#[test]
fn leave_to_probe_does_not_linger() {
    let mut rig = rig(|_| {});
    rig.sack(Tsn(0), &[], 0).unwrap();
    assert!(rig.turn(Permit::Probe, 1).is_none());
    assert!(!rig.sender.window.probe_allowed);
    assert!(rig.send(0, 1000, usize::MAX));
    rig.set_state(A, PathState::Inactive);
    rig.close(A);
    assert!(rig.turn(Permit::Probe, 1).is_none());
    assert!(!rig.sender.window.probe_allowed);
    rig.open(A);
    assert!(rig.turn(Permit::Probe, 1).is_some());
    assert!(!rig.sender.window.probe_allowed);
}

/// What a timer has called lost may have been too large: it goes in the smallest packets that a network may carry, if chunks were cut for
/// those. What SACKs show to be missing was not alone.
#[test]
fn after_a_timeout_packets_are_small() {
    for (cut_for, most) in [(Some(732), 548), (None, 1200)] {
        let mut rig = rig(|config| config.pmtu.cut_for = cut_for);
        (0..12).for_each(|_| assert!(rig.send(0, 250, usize::MAX)));
        while rig.turn(Permit::Everything, 1).is_some() {}
        rig.expire(A);
        let mut packets = 0;
        while let Some(written) = rig.turn(Permit::Everything, 1) {
            assert!(written.train.segment <= most && written.train.segment > most / 2, "{cut_for:?}");
            packets += 1;
        }
        assert_eq!(packets, if cut_for.is_some() { 6 } else { 3 });
    }
}

/// What is left of a message that had to be cut is cut once more, so that packets are full; a message that fits a chunk stays whole.
#[test]
fn the_rest_of_a_message_fills_the_packet() {
    let packets = |bytes| {
        let mut rig = rig(|config| config.pmtu.cut_for = Some(732));
        (0..20).for_each(|_| assert!(rig.send(0, bytes, usize::MAX)));
        core::iter::from_fn(move || rig.turn(Permit::Everything, 1)).collect::<Vec<_>>()
    };
    let cut = packets(1000);
    // No less than 256 bytes of user data are cut off.
    assert!(cut[..cut.len() - 1].iter().all(|written| written.train.segment > 1200 - 272));
    for written in packets(500) {
        assert!(written.packets.concat().iter().all(|sent| sent.payload.len() == 500));
    }
}

/// RFC 9260 §6.1 C: what is lost comes first. Where no path works nothing is gained by new data on another one.
#[test]
fn new_data_does_not_pass_what_is_lost_where_no_path_works() {
    for (state, primary, passes) in [(PathState::Active, D, Some(D)), (PathState::Inactive, A, None)] {
        let mut rig = rig(|_| {});
        rig.paths.set_primary(D);
        send(&mut rig, 4);
        rig.paths.set_primary(primary);
        rig.sender.install(A, Some(1), None);
        for id in rig.ids() {
            rig.set_state(id, state);
        }
        assert_eq!(control_path(&rig.paths), Some(D));
        rig.expire(D);
        // As much as the window takes goes to the path that has nothing to do with the one where it was lost; the rest waits.
        while rig.sender.flow(A).unwrap().may_send(rig.sender.outstanding.flight_size(A)) {
            assert_eq!(rig.turn(Permit::Everything, 1).unwrap().train.path, A);
        }
        assert!(rig.sender.has_lost());
        rig.pass(Duration::from_millis(1));
        assert!(rig.send(0, 1000, usize::MAX));
        assert_eq!(rig.turn(Permit::Everything, 1).map(|sent| sent.train.path), passes, "{state:?}");
    }
}

/// The tail probe takes the first chunk of a packet, by which packets are counted: how large the packet was is known all the same.
#[test]
fn a_packet_whose_first_chunk_was_probed_with_keeps_its_size() {
    let mut rig = rig(|config| {
        config.pmtu.cut_for = Some(732);
        config.retransmission.tail = TailLoss::Probe;
    });
    assert!(rig.send(0, 1000, usize::MAX));
    while rig.turn(Permit::Everything, 1).is_some() {}
    rig.pass(Duration::from_millis(100));
    rig.probe_tail(A);
    while rig.turn(Permit::Everything, 1).is_some() {}
    rig.pass(Duration::from_millis(100));
    let lost = rig.report(Tsn(1), &[], WINDOW).tail_lost.expect("the rest is lost");
    assert!(lost.largest > 548, "{lost:?}");
}
