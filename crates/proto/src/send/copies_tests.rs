use core::time::Duration;

use whimbrel_wire::{GapAckBlock, Tsn};

use crate::config::{BurstLimit, Config, PathScheduler};
use crate::interface::{PathId, Urgency};
use crate::send::report::PathProof;
use crate::send::testing::{Rig, Written};
use crate::send::turn::{Content, Permit};

/// The quick one.
const A: PathId = PathId(0);
const D: PathId = PathId(3);
const WINDOW: u32 = 1 << 20;
const MS: Duration = Duration::from_millis(1);

fn rig(window_of_d: usize) -> Rig {
    rig_with(PathScheduler::Redundant, window_of_d)
}

fn rig_with(scheduler: PathScheduler, window_of_d: usize) -> Rig {
    let mut config = Config::rfc().combining_paths();
    config.multipath.scheduler = scheduler;
    config.congestion.burst = BurstLimit::Packets(1000);
    let mut rig = Rig::new(config, Tsn(1), WINDOW);
    rig.measure(A, 20 * MS);
    rig.measure(D, 40 * MS);
    rig.sender.install(A, Some(1 << 20), None);
    rig.sender.install(D, Some(window_of_d), None);
    rig
}

/// Everything that leaves.
fn all(rig: &mut Rig) -> Vec<Written> {
    rig.sender.opportunity();
    core::iter::from_fn(|| rig.turn(Permit::Everything, 1)).collect()
}

fn copied(written: &[Written]) -> Vec<u32> {
    let copies = written.iter().filter(|written| written.train.content == Content::Copy);
    copies.flat_map(|written| written.packets.iter().flatten()).map(|chunk| chunk.tsn.0).collect()
}

#[test]
fn what_is_new_goes_by_both_paths() {
    let mut rig = rig(1 << 20);
    (0..3).for_each(|_| assert!(rig.send(0, 1000, usize::MAX)));
    let written = all(&mut rig);
    assert!(written.iter().all(|one| (one.train.path == A) == (one.train.content != Content::Copy)));
    assert_eq!(copied(&written), [1, 2, 3]);
    assert!(all(&mut rig).is_empty(), "once");
    // The flight of path D is its own.
    assert_eq!(rig.sender.outstanding.flight_size(D), 0);
}

/// A window that is full of copies has room again after a round trip.
#[test]
fn copies_keep_to_the_window() {
    let mut rig = rig(2000);
    (0..5).for_each(|_| assert!(rig.send(0, 1000, usize::MAX)));
    assert_eq!(copied(&all(&mut rig)), [1, 2]);
    rig.pass(39 * MS);
    assert_eq!(copied(&all(&mut rig)), [0_u32; 0]);
    rig.pass(MS);
    // What was sent within the last round trip, and nothing that is older.
    assert_eq!(copied(&all(&mut rig)), [3, 4]);
    rig.pass(41 * MS);
    assert_eq!(copied(&all(&mut rig)), [0_u32; 0]);
}

/// Which of two has arrived nobody knows: it proves neither path, and measures neither.
#[test]
fn an_acknowledged_copy_proves_nothing() {
    let mut rig = rig(1 << 20);
    assert!(rig.send(0, 1000, usize::MAX));
    all(&mut rig);
    rig.pass(20 * MS);
    rig.sack_by = Some(A);
    let report = rig.report(Tsn(0), &[], WINDOW);
    assert!(report.paths.is_empty());
    let report = rig.report(Tsn(1), &[] as &[GapAckBlock], WINDOW);
    let change = &report.paths[0];
    assert_eq!(
        (change.path, change.proof, change.measured, change.round_trip),
        (A, PathProof::None, None, None)
    );
}

/// Of what other schedulers send, urgent messages alone are copied, by the path that they did not take, and once.
#[test]
fn what_is_urgent_goes_by_both_paths() {
    for scheduler in [PathScheduler::LowestRoundTrip, PathScheduler::EarliestCompletion] {
        let mut rig = rig_with(scheduler, 1 << 20);
        for urgency in [Urgency::Usual, Urgency::Urgent, Urgency::Usual, Urgency::Urgent] {
            assert!(rig.send_with(urgency, 0, 1000, usize::MAX));
        }
        let written = all(&mut rig);
        let of_copies = written.iter().filter(|one| one.train.content == Content::Copy);
        assert!(of_copies.clone().all(|one| one.train.path == D), "{scheduler:?}");
        assert_eq!(copied(&written), [2, 4], "{scheduler:?}");
        assert!(all(&mut rig).is_empty(), "{scheduler:?}");
        // Acknowledged, and forgotten.
        rig.pass(20 * MS);
        rig.report(Tsn(4), &[], WINDOW);
        assert!(all(&mut rig).is_empty() && !rig.sender.outstanding.has_urgent(), "{scheduler:?}");
    }
}

/// A round trip is measured by what went one way alone.
#[test]
fn urgent_messages_measure_nothing() {
    for (urgency, measured) in [(Urgency::Urgent, None), (Urgency::Usual, Some(20 * MS))] {
        let mut rig = rig_with(PathScheduler::LowestRoundTrip, 1 << 20);
        assert!(rig.send_with(urgency, 0, 1000, usize::MAX));
        let timed = all(&mut rig).iter().any(|one| one.train.timed);
        assert_eq!(timed, measured.is_some(), "it counts as asking the path: {urgency:?}");
        rig.pass(20 * MS);
        rig.sack_by = Some(A);
        let report = rig.report(Tsn(1), &[] as &[GapAckBlock], WINDOW);
        assert_eq!(report.paths[0].measured, measured, "{urgency:?}");
    }
}

/// Where one path at a time carries data there are no copies.
#[test]
fn one_path_at_a_time_carries_no_copies() {
    let mut rig = rig_with(PathScheduler::PrimaryPath, 1 << 20);
    assert!(rig.send_with(Urgency::Urgent, 0, 1000, usize::MAX));
    assert_eq!(copied(&all(&mut rig)), [0_u32; 0]);
    assert!(!rig.sender.outstanding.has_urgent(), "not even when another path becomes the primary one");
}

/// New data does not wait for them, so that they are a quarter of the window at most, and a packet.
#[test]
fn copies_of_what_is_urgent_are_a_part_of_the_window() {
    let mut rig = rig_with(PathScheduler::LowestRoundTrip, 8000);
    (0..10).for_each(|_| assert!(rig.send_with(Urgency::Urgent, 0, 1000, usize::MAX)));
    assert_eq!(copied(&all(&mut rig)), [1, 2]);
    rig.pass(40 * MS);
    assert_eq!(copied(&all(&mut rig)), [3, 4]);
}
