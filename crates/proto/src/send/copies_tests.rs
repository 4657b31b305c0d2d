use core::time::Duration;

use whimbrel_wire::{GapAckBlock, Tsn};

use crate::config::{BurstLimit, Config, PathScheduler};
use crate::interface::PathId;
use crate::send::report::PathProof;
use crate::send::testing::{Rig, Written};
use crate::send::turn::{Content, Permit};

/// The quick one.
const A: PathId = PathId(0);
const D: PathId = PathId(3);
const WINDOW: u32 = 1 << 20;
const MS: Duration = Duration::from_millis(1);

fn rig(window_of_d: usize) -> Rig {
    let mut config = Config::rfc().combining_paths();
    config.multipath.scheduler = PathScheduler::Redundant;
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
