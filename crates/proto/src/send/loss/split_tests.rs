use whimbrel_wire::{GapAckBlock, Tsn};

use crate::config::{BurstLimit, Config, LossDetection, PathScheduler};
use crate::interface::PathId;
use crate::send::testing::Rig;

const A: PathId = PathId(0);
const D: PathId = PathId(3);
const WINDOW: u32 = 1 << 20;

/// Chunks 1, 3, 5 and so on have left by path A, the others by path D.
fn rig(loss: LossDetection) -> Rig {
    let mut config = Config::rfc().combining_paths();
    config.multipath.scheduler = PathScheduler::RoundRobin;
    config.retransmission.loss = loss;
    config.congestion.burst = BurstLimit::Packets(1000);
    let mut rig = Rig::new(config, Tsn(1), WINDOW);
    [A, D].into_iter().for_each(|path| rig.sender.install(path, Some(1 << 20), None));
    for path in [A, D].into_iter().cycle().take(20) {
        assert_eq!(rig.send_one(1000), Some(path));
    }
    rig
}

/// A SACK with these TSNs, of which 1 is missing.
fn sack(rig: &mut Rig, held: &[u16]) {
    let blocks: Vec<_> = held.iter().map(|&tsn| GapAckBlock { start: tsn, end: tsn }).collect();
    rig.sack(Tsn(0), &blocks, WINDOW).unwrap();
}

fn is_lost(rig: &Rig, tsn: u32) -> bool {
    rig.sender.outstanding.lost().any(|(lost, ..)| lost == Tsn(tsn))
}

/// What a quick path brings says nothing about a slow one; RFC 9260 §7.2.4 takes it for lost.
#[test]
fn only_its_own_path_speaks_against_a_chunk() {
    for (loss, lost) in
        [(LossDetection::SplitMissIndications(3), false), (LossDetection::MissIndications(3), true)]
    {
        let mut rig = rig(loss);
        for last in [2, 4, 6, 8] {
            sack(&mut rig, &(2..=last).step_by(2).collect::<Vec<_>>());
        }
        assert_eq!(is_lost(&rig, 1), lost, "{loss:?}");
    }
}

#[test]
fn three_of_its_own_are_enough() {
    let mut rig = rig(LossDetection::SplitMissIndications(3));
    for (held, lost) in [(&[3][..], false), (&[3, 5], false), (&[3, 5, 7], true)] {
        sack(&mut rig, held);
        assert_eq!(is_lost(&rig, 1), lost, "{held:?}");
    }
    assert!(!is_lost(&rig, 2), "on the other path");
}

/// A SACK for two packets counts twice where all that is new in it was sent after the chunk on one path.
#[test]
fn packets_of_a_delayed_sack_count() {
    for (packets, second, lost) in
        [(2, &[3, 5, 7, 9][..], true), (0, &[3, 5, 7, 9], false), (2, &[3, 5, 6, 7], false)]
    {
        let mut rig = rig(LossDetection::SplitMissIndications(4));
        rig.sack_packets = packets;
        sack(&mut rig, &[3, 5]);
        assert!(!is_lost(&rig, 1));
        sack(&mut rig, second);
        assert_eq!(is_lost(&rig, 1), lost, "{packets} packets, {second:?}");
    }
}
