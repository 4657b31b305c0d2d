use core::time::Duration;

use whimbrel_wire::GapAckBlock;

use super::*;
use crate::config::{BurstLimit, Config, LossDetection, PathScheduler, TailLoss};
use crate::send::report::{PathChange, Report};
use crate::send::testing::Rig;
use crate::send::turn::Permit;

const A: PathId = PathId(0);
/// The slow one.
const D: PathId = PathId(3);
const WINDOW: u32 = 1 << 20;
const MS: Duration = Duration::from_millis(1);

/// Chunk 1 has left by path A, chunk 2 by path D.
fn rig() -> Rig {
    let mut config = Config::rfc().combining_paths();
    config.multipath.scheduler = PathScheduler::RoundRobin;
    config.congestion.burst = BurstLimit::Packets(1000);
    let mut rig = Rig::new(config, Tsn(1), WINDOW);
    assert_eq!((rig.send_one(1000), rig.send_one(1000)), (Some(A), Some(D)));
    rig
}

fn measured(report: &Report, path: PathId) -> Option<Duration> {
    report.paths.iter().find(|change| change.path == path).and_then(|change: &PathChange| change.measured)
}

/// What the quick path tells of the slow one after 90 ms is no round trip; the SACK that was sent for the chunk comes after 160 ms, and tells nothing new.
#[test]
fn a_round_trip_ends_with_a_sack_by_the_same_path() {
    for overtaken in [false, true] {
        let mut rig = rig();
        rig.pass(20 * MS);
        rig.sack_by = Some(A);
        assert_eq!(measured(&rig.report(Tsn(1), &[], WINDOW), A), Some(20 * MS));
        rig.pass(70 * MS);
        assert_eq!(measured(&rig.report(Tsn(2), &[], WINDOW), D), None);
        if overtaken {
            rig.send_one(1000);
            rig.report(Tsn(3), &[], WINDOW);
        }
        rig.pass(70 * MS);
        rig.sack_by = Some(D);
        assert_eq!(measured(&rig.report(Tsn(2), &[], WINDOW), D), Some(160 * MS), "overtaken: {overtaken}");
    }
}

/// A SACK that left before the chunk arrived is none for it.
#[test]
fn an_older_sack_of_the_path_measures_nothing() {
    let mut rig = rig();
    rig.pass(90 * MS);
    rig.sack_by = Some(A);
    let gap = [GapAckBlock { start: 2, end: 2 }];
    rig.report(Tsn(0), &gap, WINDOW);
    rig.sack_by = Some(D);
    let flow = rig.sender.flow_mut(D).unwrap();
    assert!(flow.beside().told_elsewhere.is_some());
    assert!(rig.sack(Tsn(0), &[], WINDOW).is_err(), "it tells less than is known");
    rig.pass(70 * MS);
    assert_eq!(measured(&rig.report(Tsn(0), &gap, WINDOW), D), Some(160 * MS));
}

/// A peer that sends its SACKs another way leaves nothing else to measure.
#[test]
fn without_sacks_by_the_path_what_there_is_counts() {
    let mut rig = rig();
    rig.pass(90 * MS);
    rig.sack_by = Some(A);
    assert_eq!(measured(&rig.report(Tsn(2), &[], WINDOW), D), None);
    rig.pass(300 * MS);
    rig.send_one(1000);
    assert_eq!(measured(&rig.report(Tsn(3), &[], WINDOW), D), Some(90 * MS));
}

/// What SACKs had no room for may have arrived long before the retransmission that fills the gap: how long it took is not known.
#[test]
fn what_a_retransmission_brings_acknowledgement_for_measures_nothing() {
    for (gaps, expected) in [(15, Some(120 * MS)), (16, None)] {
        let mut config = Config::rfc();
        config.retransmission.loss = LossDetection::Rack(3);
        config.congestion.burst = BurstLimit::Packets(1000);
        let mut rig = Rig::new(config, Tsn(1), WINDOW);
        rig.sender.install(A, Some(WINDOW as usize), None);
        assert!((0..40).all(|_| rig.send(0, 1000, usize::MAX)));
        while rig.turn(Permit::Everything, 1).is_some() {}
        rig.pass(50 * MS);
        let gaps: Vec<_> = (1..=gaps).map(|n| GapAckBlock { start: 2 * n, end: 2 * n }).collect();
        assert_eq!(rig.report(Tsn(0), &gaps, WINDOW).paths[0].round_trip, Some(50 * MS));
        rig.pass(20 * MS);
        rig.look(A);
        rig.turn(Permit::Retransmissions, 1).expect("a retransmission");
        rig.pass(50 * MS);
        assert_eq!(rig.report(Tsn(40), &[], WINDOW).paths[0].round_trip, expected);
    }
}

/// The first SACKs for a chunk were lost, together with another chunk that goes out again and again: when the next one comes, no round trip is measured.
#[test]
fn what_took_minutes_is_no_round_trip() {
    let mut config = Config::mobile();
    config.retransmission.tail = TailLoss::Probe;
    for (took, expected) in [(8_000, Some(8_000 * MS)), (11_000, None)] {
        let mut rig = Rig::new(config.clone(), Tsn(1), WINDOW);
        assert!(rig.send(0, 1000, usize::MAX) && rig.send(1, 1000, usize::MAX));
        rig.turn(Permit::Everything, 2).expect("two packets");
        rig.pass(took * MS);
        rig.sender.flow_mut(A).expect("a path").timed = None;
        let report = rig.report(Tsn(2), &[], WINDOW);
        assert_eq!(measured(&report, A), expected);
        assert_eq!(report.paths[0].round_trip, expected);
    }
}
