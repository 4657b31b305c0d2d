use core::time::Duration;

use whimbrel_wire::{GapAckBlock, Tsn};

use super::*;
use crate::config::{Config, LossDetection, OvertakenSacks};
use crate::send::chunk::ChunkState;
use crate::send::recovery::RecoveryOfAssociation;
use crate::send::testing::Rig;
use crate::send::turn::Permit;

const A: PathId = PathId(0);
const WINDOW: u32 = 1 << 20;
const MS: Duration = Duration::from_millis(1);

/// So many chunks, each in a packet of its own and a millisecond after the one before, on a path with a round trip of 100 ms.
fn sent(chunks: usize, loss: LossDetection) -> Rig {
    let mut config = Config::rfc();
    config.retransmission.loss = loss;
    let mut rig = Rig::new(config, Tsn(1), WINDOW);
    rig.sender.install(A, Some(WINDOW as usize), None);
    for _ in 0..chunks {
        assert!(rig.send(0, 1000, usize::MAX));
        while rig.turn(Permit::Everything, 1).is_some() {}
        rig.pass(MS);
    }
    rig.pass(100 * MS - chunks as u32 * MS);
    rig
}

/// SACKs for the even TSNs from 2 to `highest`, as if they came one by one, but no more than `room` blocks in each.
fn even(rig: &mut Rig, highest: u32, room: usize) {
    for last in (2..=highest).step_by(2) {
        sack(rig, 0, (2..=last).step_by(2), room);
        rig.pass(2 * MS);
    }
}

fn sack(rig: &mut Rig, cumulative: u32, held: impl Iterator<Item = u32>, room: usize) {
    let block = |tsn: u32| GapAckBlock { start: (tsn - cumulative) as u16, end: (tsn - cumulative) as u16 };
    let blocks: Vec<GapAckBlock> = held.map(block).take(room).collect();
    rig.sack(Tsn(cumulative), &blocks, WINDOW).unwrap();
}

/// What leaves now, by its TSN.
fn leaves(rig: &mut Rig) -> Vec<u32> {
    let mut tsns = Vec::new();
    while let Some(written) = rig.turn(Permit::Retransmissions, 1) {
        tsns.extend(written.packets.iter().flatten().map(|chunk| chunk.tsn.0));
    }
    tsns
}

fn state(rig: &Rig, tsn: u32) -> ChunkState {
    rig.sender.outstanding.get(Tsn(tsn)).unwrap().state
}

/// Sixty chunks of which every other is lost, and SACKs that have room for 20 gaps: TSNs 41 to 60 are never told of. The window is as
/// large as what is left, so that nothing but the first retransmission leaves.
fn truncated(loss: LossDetection) -> Rig {
    let mut rig = sent(60, loss);
    even(&mut rig, 60, 20);
    rig.sender.install(A, Some(20_000), Some(20_000));
    assert_eq!(leaves(&mut rig), [1]);
    rig.pass(100 * MS);
    rig
}

#[test]
fn what_has_left_the_path_does_not_fill_the_window() {
    for (loss, expected) in [(LossDetection::MissIndications(3), false), (LossDetection::Rack(3), true)] {
        let mut rig = truncated(loss);
        // The first gap is filled, which is why the SACK has room for one more.
        sack(&mut rig, 2, (4..=60).step_by(2), 20);
        assert_eq!(!leaves(&mut rig).is_empty(), expected, "{loss:?}");
        assert!(rig.timers.contains(&A), "it is guarded as before");
        // Nothing is sent again that may have arrived.
        assert!((45..=60).all(|tsn| state(&rig, tsn) == ChunkState::InFlight));
    }
}

/// A SACK with few gap ack blocks has room for more: what it does not report is not there.
#[test]
fn what_a_sack_has_room_for_and_does_not_report_is_lost() {
    let mut rig = truncated(LossDetection::Rack(3));
    sack(&mut rig, 50, core::iter::once(52), 20);
    // What fills the gaps up to 50 was 100 ms late, and so may the rest be.
    rig.pass(100 * MS);
    sack(&mut rig, 50, core::iter::once(52), 20);
    let lost = |tsn| matches!(state(&rig, tsn), ChunkState::Lost(_) | ChunkState::GapAcknowledged);
    assert!((51..=60).all(lost));
}

/// A gap that a SACK has room for at last says nothing against what was sent again after the gap was.
#[test]
fn what_was_sent_again_is_not_missed_for_old_news() {
    for (loss, lost) in [(LossDetection::MissIndications(3), true), (LossDetection::Rack(3), false)] {
        let mut rig = sent(60, loss);
        even(&mut rig, 10, 5);
        rig.expire(A);
        rig.sender.install(A, Some(WINDOW as usize), Some(WINDOW as usize));
        let mut again = leaves(&mut rig);
        rig.pass(10 * MS);
        // An answer, so that more than one packet may be out, which came too soon to be one to what was sent again.
        sack(&mut rig, 2, (4..=12).step_by(2), 6);
        again.extend(leaves(&mut rig));
        assert!(again.len() >= 8, "{again:?}");
        let reductions =
            |rig: &Rig| rig.sender.flows.iter().map(|flow| flow.counters.fast_retransmits).sum::<u64>();
        let before = reductions(&rig);
        for last in [14, 16, 18, 20] {
            sack(&mut rig, 2, (4..=last).step_by(2), 20);
        }
        assert_eq!(reductions(&rig) > before, lost, "{loss:?}");
    }
}

/// RFC 9260 §7.2.4 leaves a lost retransmission to T3-rtx.
#[test]
fn a_lost_retransmission_is_sent_again_once_a_later_one_has_arrived() {
    for (loss, expected) in [(LossDetection::MissIndications(3), vec![]), (LossDetection::Rack(3), vec![1])] {
        let mut rig = sent(20, loss);
        even(&mut rig, 20, 20);
        assert_eq!(leaves(&mut rig)[0], 1);
        // Those that leave a while later arrive: new data, or other retransmissions.
        assert!(rig.send(0, 1000, usize::MAX));
        for _ in 0..3 {
            rig.pass(20 * MS);
            while rig.turn(Permit::Everything, 1).is_some() {}
        }
        rig.pass(100 * MS);
        sack(&mut rig, 0, (2..=20).step_by(2).chain([21]), 20);
        let again: Vec<u32> = leaves(&mut rig).into_iter().filter(|&tsn| tsn == 1).collect();
        assert_eq!(again, expected, "{loss:?}");
    }
}

/// RFC 9260 §6.3.1: the last measurement may be from before the queue was full.
#[test]
fn fast_recovery_begins_with_a_measurement() {
    let mut rig = sent(20, LossDetection::Rack(3));
    rig.pass(300 * MS);
    for last in [2, 4] {
        sack(&mut rig, 0, (2..=last).step_by(2), 20);
    }
    let block = [
        GapAckBlock { start: 2, end: 2 },
        GapAckBlock { start: 4, end: 4 },
        GapAckBlock { start: 6, end: 6 },
    ];
    let report = rig.report(Tsn(0), &block, WINDOW);
    assert_eq!(report.paths[0].measured, Some(395 * MS));
}

/// Chunk 1 is late behind one that was sent a millisecond later: it is waited for, for a quarter of the round trip, and lost when the timer says
/// so, unless a SACK has come that has it.
#[test]
fn what_may_be_late_is_waited_for() {
    for comes in [false, true] {
        let mut rig = sent(2, LossDetection::Rack(3));
        rig.pass(MS);
        let report = rig.report(Tsn(0), &[GapAckBlock { start: 2, end: 2 }], WINDOW);
        // It took 100 ms, and so chunk 1 was due a millisecond ago.
        let due = rig.now - MS + 25 * MS;
        assert_eq!(report.paths[0].reordering, Some(due));
        rig.pass(due.saturating_since(rig.now) - MS);
        rig.look(A);
        assert_eq!(state(&rig, 1), ChunkState::InFlight, "not before its time");
        rig.pass(MS);
        if comes {
            let report = rig.report(Tsn(2), &[], WINDOW);
            assert_eq!(report.paths[0].reordering, None);
            rig.look(A);
            assert!(leaves(&mut rig).is_empty());
        } else {
            rig.look(A);
            assert_eq!(leaves(&mut rig), [1]);
        }
    }
}

/// DupThresh: three packets that were sent later are proof enough where nothing has ever come out of order, and are not where something has.
#[test]
fn three_packets_are_enough_in_a_network_that_keeps_the_order() {
    for reorders in [false, true] {
        let mut rig = sent(10, LossDetection::Rack(3));
        if reorders {
            sack(&mut rig, 0, [2].into_iter(), 20);
        }
        sack(&mut rig, 2, [].into_iter(), 20);
        sack(&mut rig, 2, [4, 5].into_iter(), 20);
        assert_eq!(state(&rig, 3), ChunkState::InFlight);
        sack(&mut rig, 2, [4, 5, 6].into_iter(), 20);
        assert_eq!(state(&rig, 3) == ChunkState::InFlight, reorders);
    }
}

/// What is sent again for nothing comes twice: from then on that much longer is waited for.
#[test]
fn a_duplicate_makes_it_wait_longer() {
    let [before, after] = [false, true].map(|twice| {
        let mut rig = sent(10, LossDetection::Rack(3));
        sack(&mut rig, 0, [2, 3, 4].into_iter(), 20);
        assert_eq!(leaves(&mut rig), [1]);
        rig.pass(10 * MS);
        // Too soon for an answer to what was sent again.
        sack(&mut rig, 10, [].into_iter(), 20);
        if twice {
            rig.sender.loss.on_duplicate(Tsn(1), Tsn(10), Tsn(11));
        } else {
            rig.sender.loss.on_duplicate(Tsn(2), Tsn(10), Tsn(11));
        }
        for _ in 0..2 {
            assert!(rig.send(0, 1000, usize::MAX));
            while rig.turn(Permit::Everything, 1).is_some() {}
            rig.pass(MS);
        }
        rig.pass(100 * MS);
        let report = rig.report(Tsn(10), &[GapAckBlock { start: 2, end: 2 }], WINDOW);
        report.paths[0].reordering.unwrap()
    });
    assert_eq!(after.saturating_since(before), MS * 97 / 4);
}

/// What arrives while SACKs have no room to tell of it is not late when one has: that is no reordering, and no reason to wait longer from then on.
#[test]
fn what_there_was_no_room_for_is_not_late() {
    let recovery = RecoveryOfAssociation::default();
    let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
    let overtaken = OvertakenSacks::Ignored;
    for (before, all, late) in [(35, false, 0), (61, false, 300), (35, true, 300)] {
        let mut of = OfPath::new(A);
        let mut learn = |now, tsn, told| {
            let mut report = Report::default();
            let change = report.path(A);
            (change.once, change.acked) = (Some((Tsn(tsn), Tsn(tsn))), 1000);
            (change.oldest, change.youngest) = (Some(at(0)), Some(at(0)));
            let met = Circumstances { now, recovery: &recovery, flows: &[], overtaken, packets: 1 };
            of.learn(change, told, met);
        };
        learn(at(100), 60, Told { before: Tsn(1), all: true });
        learn(at(400), 50, Told { before: Tsn(before), all });
        assert_eq!(of.window.late(), late * MS, "told before {before}, all: {all}");
    }
}

/// The SACK before another one comes after it.
#[test]
fn a_sack_that_was_overtaken_drops_nothing() {
    let mut rig = sent(10, LossDetection::Rack(3));
    sack(&mut rig, 0, [2, 3].into_iter(), 20);
    // The one before comes now: what it does not report is in flight again, and is not called lost for that.
    sack(&mut rig, 0, [2].into_iter(), 20);
    assert_eq!(state(&rig, 3), ChunkState::InFlight);
    rig.look(A);
    assert_eq!(state(&rig, 3), ChunkState::InFlight);
    sack(&mut rig, 0, [2, 3].into_iter(), 20);
    assert_eq!(state(&rig, 3), ChunkState::GapAcknowledged);
}
