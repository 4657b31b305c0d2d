use whimbrel_machine::Instant;
use whimbrel_wire::{PayloadProtocolId, Ssn, StreamId, Tsn};

use super::*;
use crate::config::OvertakenSacks;
use crate::interface::PathId;
use crate::send::loss::{Circumstances, MissIndications};
use crate::send::outstanding::SackError;
use crate::send::recovery::RecoveryOfAssociation;
use crate::send::streams::Piece;

const PATH: PathId = PathId(0);
const PAYLOAD: usize = 100;

/// TSNs 1 to `count`, sent.
fn sent(count: usize) -> Outstanding {
    let mut outstanding = Outstanding::new(Tsn(1));
    outstanding.add_path(PATH);
    for number in 0..count {
        let piece = Piece {
            payload: Bytes::from(vec![number as u8; PAYLOAD]),
            ppid: PayloadProtocolId(0),
            stream: StreamId(0),
            ssn: Ssn(0),
            unordered: true,
            beginning: true,
            ending: true,
            immediate: false,
            urgent: false,
        };
        outstanding.push(piece, PATH, Instant::ZERO, true);
    }
    outstanding
}

fn nr_sack(
    outstanding: &mut Outstanding,
    cumulative: u32,
    gaps: &[(u16, u16)],
    kept: &[(u16, u16)],
) -> Result<Report, SackError> {
    let recovery = RecoveryOfAssociation::default();
    let overtaken = OvertakenSacks::Reneging;
    let met = Circumstances { now: Instant::ZERO, recovery: &recovery, flows: &[], overtaken, packets: 1 };
    let (gaps, kept) = (gaps.iter().copied(), kept.iter().copied());
    let report = outstanding.on_sack(Tsn(cumulative), gaps, kept, &mut MissIndications::new(3), met);
    outstanding.invariants();
    report
}

fn state(outstanding: &Outstanding, tsn: u32) -> ChunkState {
    outstanding.get(Tsn(tsn)).expect("outstanding").state
}

#[test]
fn what_will_not_be_dropped_makes_room() {
    let mut outstanding = sent(6);
    let report = nr_sack(&mut outstanding, 0, &[(2, 3)], &[(4, 5)]).unwrap();
    assert_eq!((report.released, outstanding.held_payload()), (2 * PAYLOAD, 4 * PAYLOAD));
    assert_eq!(outstanding.flight_size(PATH), 2 * (PAYLOAD + 16));
    // What was to be dropped at need is no longer; what makes room does so once.
    let report = nr_sack(&mut outstanding, 0, &[], &[(2, 5)]).unwrap();
    assert_eq!((report.released, outstanding.held_payload()), (2 * PAYLOAD, 2 * PAYLOAD));
    let report = nr_sack(&mut outstanding, 5, &[], &[]).unwrap();
    assert_eq!((report.released, outstanding.held_payload()), (PAYLOAD, PAYLOAD));
}

/// As packetdrill's `invalid-withdrawal` scripts have it.
#[test]
fn what_will_not_be_dropped_is_never_in_flight_again() {
    let mut outstanding = sent(6);
    nr_sack(&mut outstanding, 0, &[(2, 2)], &[(4, 5)]).unwrap();
    nr_sack(&mut outstanding, 0, &[], &[]).unwrap();
    assert_eq!(state(&outstanding, 2), ChunkState::InFlight, "a receiver may drop it");
    assert_eq!(state(&outstanding, 4), ChunkState::GapAcknowledged);
    nr_sack(&mut outstanding, 0, &[(4, 5)], &[]).unwrap();
    assert_eq!(outstanding.held_payload(), 4 * PAYLOAD);
    outstanding.renege_next(&mut MissIndications::new(3), &mut Report::default());
    assert!(outstanding.lose_all(PATH));
    outstanding.invariants();
    let lost: Vec<u32> = outstanding.lost().map(|(tsn, ..)| tsn.0).collect();
    assert_eq!(lost, [1, 2, 3, 6]);
}

/// One that lists what may be dropped as fewer chunks, and what may not as more, has dropped some nevertheless.
#[test]
fn both_kinds_are_counted_apart() {
    let mut outstanding = sent(9);
    nr_sack(&mut outstanding, 0, &[(2, 4)], &[]).unwrap();
    nr_sack(&mut outstanding, 0, &[(2, 2)], &[(6, 9)]).unwrap();
    assert_eq!([2, 3, 4].map(|tsn| state(&outstanding, tsn) == ChunkState::InFlight), [false, true, true]);
}

#[test]
fn nonsense_changes_nothing() {
    for kept in [&[(0, 0)][..], &[(1, 1)], &[(5, 3)], &[(3, 4), (2, 2)], &[(4, 4), (4, 4)]] {
        let mut outstanding = sent(6);
        nr_sack(&mut outstanding, 0, &[(2, 2)], kept).unwrap();
    }
    let mut outstanding = sent(6);
    assert_eq!(nr_sack(&mut outstanding, 0, &[], &[(6, 7)]).err(), Some(SackError::NeverSent));
    assert_eq!(outstanding.held_payload(), 6 * PAYLOAD);
    // Both lists have the same chunk.
    nr_sack(&mut outstanding, 0, &[(2, 4)], &[(3, 3)]).unwrap();
    assert_eq!(outstanding.held_payload(), 5 * PAYLOAD);
}
