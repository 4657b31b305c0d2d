use bytes::Bytes;
use whimbrel_wire::{PayloadProtocolId, Ssn, StreamId};

use super::*;
use crate::send::loss::MissIndications;
use crate::send::recovery::{FastRecovery, RecoveryOfAssociation};
use crate::send::report::PathProof;

const A: PathId = PathId(0);
const B: PathId = PathId(1);
const NONE: core::iter::Empty<(u16, u16)> = core::iter::empty();

/// One hundred bytes of user data are 116 on the wire; these 97 are padded to as many.
const PAYLOAD: usize = 97;
const WIRE: usize = 116;

fn piece() -> Piece {
    Piece {
        payload: Bytes::from_static(&[7; PAYLOAD]),
        ppid: PayloadProtocolId(0),
        stream: StreamId(0),
        ssn: Ssn(0),
        unordered: false,
        beginning: true,
        ending: true,
        immediate: false,
        urgent: false,
    }
}

fn empty(initial: Tsn) -> Outstanding {
    let mut outstanding = Outstanding::new(initial);
    outstanding.add_path(A);
    outstanding.add_path(B);
    outstanding
}

/// TSNs 10, 11, … sent on path A.
fn sent(count: usize) -> Outstanding {
    let mut outstanding = empty(Tsn(10));
    (0..count).for_each(|_| _ = outstanding.push(piece(), A, Instant::ZERO, true));
    outstanding
}

fn met(recovery: &RecoveryOfAssociation) -> Circumstances<'_> {
    let overtaken = OvertakenSacks::Reneging;
    Circumstances { now: Instant::ZERO, recovery, flows: &[], overtaken, packets: 1 }
}

/// A SACK, with three miss indications.
fn try_sack(
    outstanding: &mut Outstanding,
    cumulative: u32,
    gaps: &[(u16, u16)],
) -> Result<Report, SackError> {
    let recovery = RecoveryOfAssociation::default();
    outstanding.on_sack(
        Tsn(cumulative),
        gaps.iter().copied(),
        core::iter::empty(),
        &mut MissIndications::new(3),
        met(&recovery),
    )
}

fn sack(outstanding: &mut Outstanding, cumulative: u32, gaps: &[(u16, u16)]) -> Report {
    let report = try_sack(outstanding, cumulative, gaps).unwrap();
    outstanding.invariants();
    report
}

fn shutdown(outstanding: &mut Outstanding, cumulative: u32) -> Result<Report, SackError> {
    let mut report = outstanding.acknowledge_up_to(Tsn(cumulative), 0)?;
    outstanding.renege_next(&mut MissIndications::new(3), &mut report);
    Ok(report)
}

fn lost(outstanding: &Outstanding) -> Vec<(u32, Loss)> {
    outstanding.lost().map(|(tsn, _, loss)| (tsn.0, loss)).collect()
}

fn state(outstanding: &Outstanding, tsn: u32) -> ChunkState {
    outstanding.get(Tsn(tsn)).unwrap().state
}

#[test]
fn tsns_are_consecutive_across_the_wrap() {
    let mut outstanding = empty(Tsn(u32::MAX));
    assert_eq!(outstanding.push(piece(), A, Instant::ZERO, true).0, Tsn(u32::MAX));
    assert_eq!(outstanding.push(piece(), A, Instant::ZERO, true).0, Tsn(0));
    assert_eq!((outstanding.highest_tsn(), outstanding.next_tsn()), (Tsn(0), Tsn(1)));
    assert!(sack(&mut outstanding, 0, &[]).cumulative_advanced);
    assert!(outstanding.is_empty());
}

/// RFC 9260 §6.2.1: gap ack blocks are advisory, only the Cumulative TSN Ack frees the buffer.
#[test]
fn only_the_cumulative_ack_releases() {
    let mut outstanding = sent(3);
    let report = sack(&mut outstanding, 9, &[(2, 3)]);
    assert_eq!((report.released, report.cumulative_advanced, report.paths[0].acked), (0, false, 2 * WIRE));
    assert_eq!((outstanding.held_payload(), outstanding.in_flight_payload()), (3 * PAYLOAD, PAYLOAD));
    let report = sack(&mut outstanding, 12, &[]);
    assert_eq!((report.released, report.paths.len()), (3 * PAYLOAD, 1));
    // The two chunks acknowledged before are not acknowledged again.
    assert_eq!(report.paths[0].acked, WIRE);
    assert!(outstanding.is_empty());
}

/// RFC 9260 §7.2: header and padding count, per path.
#[test]
fn acknowledged_bytes_are_wire_bytes_of_the_path() {
    let mut outstanding = sent(1);
    outstanding.push(piece(), B, Instant::ZERO, true);
    outstanding.push(piece(), B, Instant::ZERO, true);
    assert_eq!((outstanding.flight_size(A), outstanding.flight_size(B)), (WIRE, 2 * WIRE));
    let report = sack(&mut outstanding, 12, &[]);
    assert_eq!((outstanding.flight_size(A), outstanding.flight_size(B)), (0, 0));
    let bytes: Vec<_> = report.paths.iter().map(|p| (p.path, p.acked)).collect();
    assert_eq!(bytes, [(A, WIRE), (B, 2 * WIRE)]);
}

/// RFC 9260 §7.2.4: three consecutive miss indications.
#[test]
fn the_third_miss_indication_loses_a_chunk() {
    let mut outstanding = sent(5);
    for end in [2, 3] {
        assert!(sack(&mut outstanding, 9, &[(2, end)]).paths.iter().all(|p| !p.lost));
    }
    let report = sack(&mut outstanding, 9, &[(2, 4)]);
    assert!(report.paths[0].lost);
    assert_eq!(lost(&outstanding), [(10, Loss::Missing)]);
    assert_eq!(outstanding.flight_size(A), WIRE);
    assert_eq!(outstanding.in_flight_payload(), PAYLOAD, "only the last one still flies");
}

/// As RFC 2960 had it.
#[test]
fn with_a_threshold_of_four_the_fourth_miss_indication_loses_a_chunk() {
    let mut outstanding = sent(5);
    let (mut four, recovery) = (MissIndications::new(4), RecoveryOfAssociation::default());
    for end in 2..=5 {
        assert!(!outstanding.has_lost());
        outstanding.on_sack(Tsn(9), [(2, end)].into_iter(), NONE, &mut four, met(&recovery)).unwrap();
    }
    assert_eq!(lost(&outstanding), [(10, Loss::Missing)]);
}

/// RFC 9260 §7.2.4, HTNA: a SACK counts against what lies below the highest TSN that it newly acknowledges.
#[test]
fn a_sack_without_news_counts_no_miss() {
    let mut outstanding = sent(5);
    for _ in 0..5 {
        sack(&mut outstanding, 9, &[(3, 4)]);
    }
    assert!(!outstanding.has_lost());
    // TSN 11 is news, but tells nothing about 14; 10 is below it.
    sack(&mut outstanding, 9, &[(2, 4)]);
    assert_eq!(state(&outstanding, 14), ChunkState::InFlight);
    sack(&mut outstanding, 9, &[(2, 5)]);
    assert_eq!(lost(&outstanding), [(10, Loss::Missing)]);
}

/// RFC 9260 §7.2.4: in Fast Recovery, when the Cumulative TSN Ack Point advances, all that is reported missing counts.
#[test]
fn in_fast_recovery_an_advance_counts_for_all() {
    let mut outstanding = sent(8);
    sack(&mut outstanding, 9, &[(8, 8)]);
    let mut recovery = RecoveryOfAssociation::default();
    recovery.begin(&[A], Tsn(17));
    // 17 is old news by now.
    for cumulative in [10, 11] {
        let offset = 17 - cumulative as u16;
        let gaps = [(offset, offset)].into_iter();
        outstanding
            .on_sack(Tsn(cumulative), gaps, NONE, &mut MissIndications::new(3), met(&recovery))
            .unwrap();
    }
    let missing: Vec<u32> = lost(&outstanding).iter().map(|&(tsn, _)| tsn).collect();
    assert_eq!(missing, [12, 13, 14, 15, 16]);
}

/// RFC 9260 §7.2.4 step 5: fast retransmitted once; what is lost again waits for the timeout.
#[test]
fn a_chunk_is_fast_retransmitted_once() {
    let mut outstanding = sent(9);
    for end in 2..=4 {
        sack(&mut outstanding, 9, &[(2, end)]);
    }
    outstanding.retransmit(Tsn(10), A, Instant::ZERO, true);
    for end in 5..=9 {
        sack(&mut outstanding, 9, &[(2, end)]);
    }
    assert!(!outstanding.has_lost());
    assert!(outstanding.lose_all(A));
    assert_eq!(lost(&outstanding), [(10, Loss::Timeout)]);
}

/// RFC 9260 §6.2.1 D iii: what a gap ack block had reported and no longer does is missing, by one indication.
#[test]
fn reneged_data_is_in_flight_again() {
    let mut outstanding = sent(3);
    sack(&mut outstanding, 9, &[(2, 3)]);
    let report = sack(&mut outstanding, 9, &[(2, 2)]);
    assert_eq!(report.paths[0].acked, 0);
    assert_eq!(outstanding.flight_size(A), 2 * WIRE);
    assert_eq!(
        (state(&outstanding, 11), state(&outstanding, 12)),
        (ChunkState::GapAcknowledged, ChunkState::InFlight)
    );
    assert_eq!(outstanding.in_flight_payload(), 2 * PAYLOAD);
}

/// Where overtaken SACKs are ignored, one that reports less is believed as soon as the Cumulative TSN Ack Point advances.
#[test]
fn what_is_dropped_is_told_when_the_ack_point_advances() {
    let mut outstanding = sent(4);
    let recovery = RecoveryOfAssociation::default();
    let mut loss = MissIndications::new(3);
    let mut sack = |outstanding: &mut Outstanding, cumulative: u32, gaps: &[(u16, u16)]| {
        let met = Circumstances { overtaken: OvertakenSacks::Ignored, ..met(&recovery) };
        outstanding.on_sack(Tsn(cumulative), gaps.iter().copied(), NONE, &mut loss, met)
    };
    sack(&mut outstanding, 9, &[(2, 4)]).unwrap();
    assert!(matches!(sack(&mut outstanding, 9, &[(2, 2)]), Err(SackError::Old)));
    assert_eq!(outstanding.flight_size(A), WIRE, "11 to 13 have arrived");
    sack(&mut outstanding, 11, &[]).unwrap();
    assert_eq!(
        (state(&outstanding, 12), state(&outstanding, 13)),
        (ChunkState::InFlight, ChunkState::InFlight)
    );
}

/// RFC 9260 §6.2.1 D iii, §7.2.4: reneged, and below the HTNA too, is one indication all the same.
#[test]
fn one_sack_counts_one_miss_indication() {
    let mut outstanding = sent(6);
    sack(&mut outstanding, 9, &[(2, 2)]);
    sack(&mut outstanding, 9, &[(3, 3)]);
    sack(&mut outstanding, 9, &[(3, 4)]);
    assert_eq!(state(&outstanding, 11), ChunkState::InFlight, "two so far");
    sack(&mut outstanding, 9, &[(3, 5)]);
    assert_eq!(state(&outstanding, 11), ChunkState::Lost(Loss::Missing));
}

/// RFC 9260 §7.2.4: the indications must be consecutive.
#[test]
fn an_acknowledgement_in_between_resets_the_count() {
    let mut outstanding = sent(9);
    sack(&mut outstanding, 9, &[(3, 3)]);
    sack(&mut outstanding, 9, &[(3, 4)]);
    sack(&mut outstanding, 9, &[(2, 4)]);
    sack(&mut outstanding, 9, &[(3, 4)]);
    sack(&mut outstanding, 9, &[(3, 5)]);
    assert_eq!(state(&outstanding, 11), ChunkState::InFlight);
    sack(&mut outstanding, 9, &[(3, 6)]);
    assert_eq!(state(&outstanding, 11), ChunkState::Lost(Loss::Missing));
}

/// RFC 9260 §6.2.1 D i, RFC 5062 §5.
#[test]
fn what_cannot_be_true_changes_nothing() {
    let mut outstanding = sent(3);
    sack(&mut outstanding, 10, &[]);
    let mut refused =
        |cumulative, gaps: &[(u16, u16)]| try_sack(&mut outstanding, cumulative, gaps).unwrap_err();
    assert_eq!(refused(9, &[]), SackError::Old);
    assert_eq!(refused(13, &[]), SackError::NeverSent);
    assert_eq!(refused(10, &[(2, 3)]), SackError::NeverSent);
    assert_eq!(refused(12, &[(2, 2)]), SackError::NeverSent);
    assert_eq!(refused(10, &[(u16::MAX, u16::MAX)]), SackError::NeverSent);
    assert_eq!(shutdown(&mut outstanding, 9).unwrap_err(), SackError::Old);
    assert_eq!(shutdown(&mut outstanding, 13).unwrap_err(), SackError::NeverSent);
    assert_eq!((outstanding.len(), outstanding.in_flight_payload()), (2, 2 * PAYLOAD));
}

/// RFC 9260 §3.3.4: blocks ascend, are apart, and lie beyond the Cumulative TSN Ack.
#[test]
fn senseless_blocks_say_nothing() {
    for gaps in [&[(0, 3)][..], &[(1, 3)], &[(4, 2)], &[(0, 0)]] {
        let mut outstanding = sent(5);
        assert!(sack(&mut outstanding, 9, gaps).paths.is_empty(), "{gaps:?}");
        assert_eq!(outstanding.in_flight_payload(), 5 * PAYLOAD);
    }
    // The second overlaps the first, the third does not.
    let mut outstanding = sent(5);
    let report = sack(&mut outstanding, 9, &[(2, 3), (3, 4), (5, 5)]);
    assert_eq!(report.paths[0].acked, 3 * WIRE);
    assert_eq!(state(&outstanding, 13), ChunkState::InFlight);
}

/// RFC 9260 §6.3.3 E3: all that is in flight on that path, nothing else.
#[test]
fn a_timeout_loses_what_is_in_flight_on_its_path() {
    let mut outstanding = sent(3);
    outstanding.push(piece(), B, Instant::ZERO, true);
    sack(&mut outstanding, 9, &[(2, 2)]);
    assert!(outstanding.lose_all(A));
    assert_eq!((outstanding.flight_size(A), outstanding.flight_size(B)), (0, WIRE));
    assert_eq!(lost(&outstanding), [(10, Loss::Timeout), (12, Loss::Timeout)]);
    assert_eq!(outstanding.earliest_in_flight(A), None);
    assert_eq!(outstanding.earliest_in_flight(B), Some(Tsn(13)));
    assert!(!outstanding.lose_all(A));
}

/// RFC 7829 §3.2 rule 9: whichever transmission arrived, it does not prove the path.
#[test]
fn data_sent_on_two_paths_proves_none() {
    let mut outstanding = sent(2);
    outstanding.lose_all(A);
    outstanding.retransmit(Tsn(10), B, Instant::ZERO, true);
    outstanding.retransmit(Tsn(11), A, Instant::ZERO, true);
    let report = sack(&mut outstanding, 11, &[]);
    let proofs: Vec<_> = report.paths.iter().map(|p| (p.path, p.proof)).collect();
    assert_eq!(proofs, [(B, PathProof::None), (A, PathProof::InTime)]);
}

/// What was given up for lost is in no flight size, so its acknowledgement takes nothing out of one.
#[test]
fn late_acknowledgement_of_lost_data() {
    let mut outstanding = sent(2);
    outstanding.lose_all(A);
    let report = sack(&mut outstanding, 9, &[(2, 2)]);
    assert_eq!((report.paths[0].acked, outstanding.flight_size(A)), (WIRE, 0));
    assert_eq!(lost(&outstanding), [(10, Loss::Timeout)]);
    let report = sack(&mut outstanding, 11, &[]);
    assert_eq!((report.paths[0].acked, outstanding.flight_size(A)), (WIRE, 0));
    assert!(!outstanding.has_lost());
}

/// RFC 9260 §3.3.8: SHUTDOWN has no gap ack blocks; that is not reneging.
#[test]
fn the_ack_of_a_shutdown_says_nothing_about_gaps() {
    let mut outstanding = sent(4);
    sack(&mut outstanding, 9, &[(3, 3)]);
    let report = shutdown(&mut outstanding, 10).unwrap();
    assert_eq!((report.released, outstanding.flight_size(A)), (PAYLOAD, 2 * WIRE));
    assert_eq!(state(&outstanding, 12), ChunkState::GapAcknowledged);
}

/// A path may go while what was sent on it is still on its way, or acknowledged by a gap ack block only. If the receiver drops that
/// again, it is in flight nowhere: it goes out once more, as nothing else would ever send it.
#[test]
fn data_reneged_after_its_path_has_gone_is_lost() {
    let mut outstanding = sent(4);
    sack(&mut outstanding, 9, &[(4, 4)]);
    outstanding.lose_all(A);
    outstanding.remove_path(A);
    sack(&mut outstanding, 9, &[(2, 4)]);
    sack(&mut outstanding, 9, &[(2, 2)]);
    assert_eq!(lost(&outstanding), [(10, Loss::Timeout), (12, Loss::Timeout), (13, Loss::Timeout)]);
}

/// RFC 9260 §6.2.1 D iii: what is taken back is in flight again. Who takes it back and reports it again without end is not believed
/// any more, and all is in flight, until so much has been sent again.
#[test]
fn blocks_that_come_and_go_without_end_are_not_believed() {
    const CHUNKS: usize = 10_000;
    let mut outstanding = sent(CHUNKS);
    let recovery = RecoveryOfAssociation::default();
    // More indications than there are SACKs: nothing is lost for want of acknowledgement.
    let mut loss = MissIndications::new(u8::MAX);
    let mut sack = |outstanding: &mut Outstanding, cumulative: u32, gaps: &[(u16, u16)]| {
        outstanding.on_sack(Tsn(cumulative), gaps.iter().copied(), NONE, &mut loss, met(&recovery)).unwrap()
    };
    let all = [(2, CHUNKS as u16)];
    let acked = |report: &Report| report.paths.iter().map(|path| path.acked).sum::<usize>();
    let mut believed = 0;
    for _ in 0..100 {
        believed += acked(&sack(&mut outstanding, 9, &all)) / WIRE;
        sack(&mut outstanding, 9, &[]);
        assert_eq!(outstanding.in_flight_payload(), CHUNKS * PAYLOAD);
    }
    assert_eq!(believed, 7 * (CHUNKS - 1), "65,536 chunks may be taken back, and what the SACK at hand says");
    outstanding.invariants();
    // The Cumulative TSN Ack is believed, and so are blocks when more has been sent.
    assert_eq!(acked(&sack(&mut outstanding, 109, &all[..0])), 100 * WIRE);
    assert_eq!(acked(&sack(&mut outstanding, 109, &[(2, 5)])), 0);
    (0..1_200).for_each(|_| _ = outstanding.push(piece(), A, Instant::ZERO, true));
    assert_eq!(acked(&sack(&mut outstanding, 109, &[(2, 5)])), 4 * WIRE);
}
