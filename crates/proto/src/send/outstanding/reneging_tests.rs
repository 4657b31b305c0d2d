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
    nr_sack_as(outstanding, cumulative, gaps, kept, OvertakenSacks::Reneging)
}

fn nr_sack_as(
    outstanding: &mut Outstanding,
    cumulative: u32,
    gaps: &[(u16, u16)],
    kept: &[(u16, u16)],
    overtaken: OvertakenSacks,
) -> Result<Report, SackError> {
    let recovery = RecoveryOfAssociation::default();
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
    for kept in [&[(0, 0)][..], &[(1, 1)], &[(5, 3)], &[(1, 6)]] {
        let mut outstanding = sent(6);
        let report = nr_sack(&mut outstanding, 0, &[(2, 2)], kept).unwrap();
        assert_eq!((report.released, outstanding.held_payload()), (0, 6 * PAYLOAD), "{kept:?}");
    }
    let mut outstanding = sent(6);
    assert_eq!(nr_sack(&mut outstanding, 0, &[], &[(6, 7)]).err(), Some(SackError::NeverSent));
    assert_eq!(outstanding.held_payload(), 6 * PAYLOAD);
    // Both lists have the same chunk, and what is out of order is left out.
    nr_sack(&mut outstanding, 0, &[(2, 4)], &[(3, 3), (2, 2)]).unwrap();
    assert_eq!(outstanding.held_payload(), 5 * PAYLOAD);
}

/// What it leaves out is not dropped but told of by a later one: nothing that it says is taken from it, and so nothing is lost of it.
#[test]
fn one_that_another_has_overtaken_releases_nothing() {
    let mut outstanding = sent(6);
    nr_sack_as(&mut outstanding, 0, &[(2, 3)], &[], OvertakenSacks::Ignored).unwrap();
    let old = nr_sack_as(&mut outstanding, 0, &[], &[(2, 2)], OvertakenSacks::Ignored);
    assert_eq!((old.err(), outstanding.held_payload()), (Some(SackError::Old), 6 * PAYLOAD));
    let report = nr_sack_as(&mut outstanding, 0, &[(3, 3)], &[(2, 2)], OvertakenSacks::Ignored).unwrap();
    assert_eq!(report.released, PAYLOAD);
}

/// What has been released counts for nothing when it is listed as what may be dropped.
#[test]
fn what_is_released_does_not_hide_what_is_dropped() {
    let mut outstanding = sent(6);
    nr_sack(&mut outstanding, 0, &[(2, 3)], &[(4, 5)]).unwrap();
    nr_sack(&mut outstanding, 0, &[(4, 5)], &[]).unwrap();
    assert_eq!([2, 3].map(|tsn| state(&outstanding, tsn)), [ChunkState::InFlight; 2]);
}

/// Nothing would ever acknowledge it, nor send it again.
#[test]
fn a_released_chunk_does_not_become_the_next_one() {
    let mut outstanding = sent(6);
    nr_sack(&mut outstanding, 0, &[], &[(4, 5)]).unwrap();
    assert_eq!(nr_sack(&mut outstanding, 3, &[], &[]).err(), Some(SackError::Withdrawn));
    assert_eq!(outstanding.acknowledge_up_to(Tsn(4), 0).err(), Some(SackError::Withdrawn));
    nr_sack(&mut outstanding, 5, &[], &[]).unwrap();
    assert_eq!(outstanding.held_payload(), PAYLOAD);
}

/// Whatever comes in whatever order, as often as it likes: what is released is released once, and nothing of it is ever lost.
#[test]
fn whatever_comes_is_counted_once() {
    for seed in 0..200 {
        let mut rng = whimbrel_machine::Seed::from_u64(seed).stream("nr-sack", 0);
        let mut outstanding = sent(40);
        let mut released = 0;
        for _ in 0..60 {
            let blocks = |rng: &mut whimbrel_machine::Rng| {
                let (mut at, mut all) = (0, Vec::new());
                for _ in 0..rng.below(5) {
                    let start = at + 1 + rng.below(6) as u16;
                    at = start + rng.below(5) as u16;
                    all.push((start, at));
                }
                all
            };
            let (gaps, kept) = (blocks(&mut rng), blocks(&mut rng));
            let cumulative = outstanding.cumulative_ack_point().plus(rng.below(4) as u32 / 3);
            let overtaken = [OvertakenSacks::Ignored, OvertakenSacks::Reneging][rng.below(2) as usize];
            let before = outstanding.held_payload();
            match nr_sack_as(&mut outstanding, cumulative.0, &gaps, &kept, overtaken) {
                Ok(report) => released += report.released,
                Err(_) => assert_eq!(outstanding.held_payload(), before, "seed {seed}"),
            }
            if rng.below(4) == 0 {
                outstanding.lose_all(PATH);
            }
            assert_eq!(released + outstanding.held_payload(), 40 * PAYLOAD, "seed {seed}");
            assert!(outstanding.lost().all(|(_, chunk, _)| !chunk.is_released()), "seed {seed}");
        }
    }
}

/// A receiver whose SACK has no room for all gaps reports the lowest (RFC 9260 §6.2.1): more of them there do not mean that it has dropped what is
/// behind. One that has room for it says so.
#[test]
fn what_a_full_sack_leaves_out_is_not_dropped() {
    for (overtaken, kept) in [(OvertakenSacks::Ignored, true), (OvertakenSacks::Reneging, false)] {
        let mut outstanding = sent(60);
        let sack = |outstanding: &mut Outstanding, gaps: &[(u16, u16)]| {
            nr_sack_as(outstanding, 0, gaps, &[], overtaken).unwrap();
        };
        let every_other = |last: u16| (2..=last).step_by(2).map(|offset| (offset, offset));
        let is_held = |outstanding: &Outstanding, tsn| state(outstanding, tsn) == ChunkState::GapAcknowledged;
        sack(&mut outstanding, &every_other(20).chain([(40, 60)]).collect::<Vec<_>>());
        assert!(is_held(&outstanding, 51));
        // Sixteen, as Linux has it at most; they pass over 2, which is dropped.
        sack(&mut outstanding, &every_other(34).skip(1).collect::<Vec<_>>());
        assert_eq!((is_held(&outstanding, 2), is_held(&outstanding, 51)), (false, kept));
        sack(&mut outstanding, &every_other(20).chain([(36, 36)]).collect::<Vec<_>>());
        assert!(!is_held(&outstanding, 51));
    }
}
