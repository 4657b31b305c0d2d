use core::time::Duration;

use whimbrel_wire::GapAckBlock;

use super::*;
use crate::config::{Config, LossDetection, RetransmissionPath};
use crate::send::testing::Rig;
use crate::send::turn::Permit;

const A: PathId = PathId(0);
const WINDOW: u32 = 1 << 20;
const MS: Duration = Duration::from_millis(1);
const CWND: usize = 50_000;

/// Twenty chunks in packets of their own, a millisecond apart, of which two have been acknowledged after 100 ms.
fn sent(spurious: SpuriousLoss) -> Rig {
    let mut config = Config::rfc();
    config.retransmission.loss = LossDetection::Rack(3);
    config.retransmission.spurious = spurious;
    // A timeout would send everything elsewhere.
    config.retransmission.path = RetransmissionPath::Primary;
    let mut rig = Rig::new(config, Tsn(1), WINDOW);
    rig.sender.install(A, Some(CWND), Some(CWND));
    for _ in 0..20 {
        assert!(rig.send(0, 1000, usize::MAX));
        while rig.turn(Permit::Everything, 1).is_some() {}
        rig.pass(MS);
    }
    rig.pass(80 * MS);
    sack(&mut rig, 2, &[]);
    rig
}

fn sack(rig: &mut Rig, cumulative: u32, gaps: &[(u16, u16)]) {
    let gaps: Vec<GapAckBlock> = gaps.iter().map(|&(start, end)| GapAckBlock { start, end }).collect();
    rig.sack(Tsn(cumulative), &gaps, WINDOW).unwrap();
    while rig.turn(Permit::Retransmissions, 1).is_some() {}
}

fn cwnd(rig: &Rig) -> usize {
    rig.sender.flow(A).unwrap().congestion.cwnd()
}

fn resent(rig: &Rig) -> u64 {
    rig.sender.flow(A).unwrap().counters.data_retransmitted
}

/// Chunk 3 is called lost and sent again; then both have arrived, as the SACK says of the later one.
#[test]
fn what_has_come_twice_is_told_to_have_been_late() {
    let mut rig = sent(SpuriousLoss::Undone);
    sack(&mut rig, 2, &[(2, 4)]);
    assert_eq!((rig.sender.take_lost(A), rig.sender.take_late(A)), (1, 0));
    rig.pass(120 * MS);
    rig.duplicates = vec![Tsn(3)];
    sack(&mut rig, 8, &[]);
    assert_eq!(rig.sender.take_late(A), 1);
    sack(&mut rig, 9, &[]);
    assert_eq!(rig.sender.take_late(A), 0);
}

/// Chunk 3 was late behind three others, and its SACK comes sooner after the retransmission than any answer.
#[test]
fn the_window_comes_back_where_packets_were_late() {
    for (spurious, back) in [(SpuriousLoss::Ignored, false), (SpuriousLoss::Undone, true)] {
        let mut rig = sent(spurious);
        sack(&mut rig, 2, &[(2, 4)]);
        assert!(cwnd(&rig) < CWND && resent(&rig) == 1);
        rig.pass(20 * MS);
        sack(&mut rig, 8, &[]);
        assert_eq!(cwnd(&rig) >= CWND, back, "{spurious:?}");
    }
}

/// The first SACKs were kept back. A HEARTBEAT that was answered in less time shows that what was sent again may be answered already.
#[test]
fn a_quick_heartbeat_says_how_soon_an_answer_may_come() {
    for (heartbeat, back) in [(50 * MS, true), (15 * MS, false)] {
        let mut rig = sent(SpuriousLoss::Undone);
        rig.sender.note_answer(A, heartbeat);
        sack(&mut rig, 2, &[(2, 4)]);
        rig.pass(20 * MS);
        sack(&mut rig, 8, &[]);
        assert_eq!(cwnd(&rig) >= CWND, back, "{heartbeat:?}");
    }
}

/// It was lost, and is repaired a round trip later.
#[test]
fn the_window_stays_where_something_was_lost() {
    let mut rig = sent(SpuriousLoss::Undone);
    sack(&mut rig, 2, &[(2, 4)]);
    rig.pass(120 * MS);
    sack(&mut rig, 8, &[]);
    assert!(cwnd(&rig) < CWND);
}

/// Of two chunks one was lost.
#[test]
fn one_that_was_lost_is_enough() {
    let mut rig = sent(SpuriousLoss::Undone);
    sack(&mut rig, 2, &[(3, 5)]);
    rig.pass(20 * MS);
    sack(&mut rig, 3, &[(2, 5)]);
    assert!(cwnd(&rig) < CWND && resent(&rig) == 2);
}

/// All SACKs are late, by more than an RTO: the second one of them tells, and what has not been sent again is not.
#[test]
fn a_timeout_is_undone_when_answers_were_late() {
    for (spurious, back) in [(SpuriousLoss::Ignored, false), (SpuriousLoss::Undone, true)] {
        let mut rig = sent(spurious);
        rig.pass(1000 * MS);
        rig.expire(A);
        while rig.turn(Permit::Retransmissions, 1).is_some() {}
        assert_eq!(resent(&rig), 1);
        rig.pass(300 * MS);
        sack(&mut rig, 4, &[]);
        assert!(cwnd(&rig) < CWND, "one answer may be to the retransmission");
        rig.pass(MS);
        sack(&mut rig, 6, &[]);
        assert_eq!(cwnd(&rig) >= CWND, back, "{spurious:?}");
        let before = resent(&rig);
        rig.pass(MS);
        sack(&mut rig, 8, &[]);
        assert_eq!(resent(&rig) == before, back, "{spurious:?}");
    }
}

/// All were lost: what is sent again is answered after a round trip each time.
#[test]
fn a_timeout_stays_where_all_was_lost() {
    let mut rig = sent(SpuriousLoss::Undone);
    rig.pass(1000 * MS);
    rig.expire(A);
    while rig.turn(Permit::Retransmissions, 1).is_some() {}
    for cumulative in [3, 5, 9] {
        rig.pass(100 * MS);
        sack(&mut rig, cumulative, &[]);
    }
    assert!(cwnd(&rig) < CWND / 2);
}

/// The network has become quicker than the least round trip that is known, and every answer to what is sent again comes too soon for one.
/// A second timeout does not go by that round trip any more: all is sent again behind it, instead of one chunk for each timeout.
#[test]
fn a_round_trip_of_old_takes_no_two_timeouts_back() {
    let mut rig = sent(SpuriousLoss::Undone);
    for (cumulative, again) in [(3, 1), (7, 4)] {
        rig.pass(1000 * MS);
        rig.expire(A);
        let before = resent(&rig);
        while rig.turn(Permit::Retransmissions, 1).is_some() {}
        rig.pass(20 * MS);
        sack(&mut rig, cumulative, &[]);
        rig.pass(20 * MS);
        assert!(resent(&rig) - before >= again, "{cumulative}: {}", resent(&rig) - before);
    }
    assert!(cwnd(&rig) < CWND / 2);
}

/// A copy by another path may be what has come twice: the loss stands.
#[test]
fn a_duplicate_of_what_was_copied_refutes_no_loss() {
    for has_copy in [false, true] {
        let tsn = Tsn(7);
        let mut verdicts = Verdicts::default();
        verdicts.note_reduction((10_000, 10_000));
        let lost = LostChunk { path: PathId(0), tsn, sent_at: Instant::ZERO, is_counted: true, has_copy };
        assert!(verdicts.reduced.as_mut().unwrap().note_lost(lost));
        verdicts.note_arrived(tsn);
        assert_eq!(verdicts.is_refuted(), !has_copy);
    }
}
