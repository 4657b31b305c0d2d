use whimbrel_wire::GapAckBlock;

use super::*;
use crate::config::{BurstLimit, Config, LossDetection, PathScheduler, RetransmissionPath};
use crate::send::testing::Rig;
use crate::send::turn::Permit;

const A: PathId = PathId(0);
const D: PathId = PathId(3);
const WINDOW: u32 = 1 << 20;

const ALL: [WindowGrowth; 5] = [
    WindowGrowth::Acknowledged,
    WindowGrowth::CumulativePoint,
    WindowGrowth::CumulativePointAlways,
    WindowGrowth::PathPoint,
    WindowGrowth::PathPoints,
];

/// Chunks 1, 3, 5 and so on have left by path A, the others by path D; nothing is lost by SACKs.
fn rig(growth: WindowGrowth) -> Rig {
    let mut config = Config::rfc().combining_paths();
    config.multipath.scheduler = PathScheduler::RoundRobin;
    config.multipath.growth = growth;
    config.retransmission.loss = LossDetection::MissIndications(100);
    config.retransmission.path = RetransmissionPath::Alternate;
    config.congestion.burst = BurstLimit::Packets(1000);
    let mut rig = Rig::new(config, Tsn(1), WINDOW);
    [A, D].into_iter().for_each(|path| rig.sender.install(path, Some(5000), Some(1 << 20)));
    for path in [A, D].into_iter().cycle().take(10) {
        assert_eq!(rig.send_one(1000), Some(path));
    }
    rig
}

fn gap(tsns: core::ops::RangeInclusive<u32>, cumulative: u32) -> GapAckBlock {
    GapAckBlock { start: (tsns.start() - cumulative) as u16, end: (tsns.end() - cumulative) as u16 }
}

/// Whether the window of `path` grows for a SACK.
fn grows(rig: &mut Rig, path: PathId, cumulative: u32, gaps: &[GapAckBlock]) -> bool {
    let cwnd = |rig: &Rig| rig.sender.flow(path).unwrap().congestion.cwnd();
    // The windows are full.
    let before = cwnd(rig);
    rig.sender.open_bursts(rig.now, &rig.paths);
    rig.sender.flow_mut(path).unwrap().utilised = before;
    rig.sack(Tsn(cumulative), gaps, WINDOW).unwrap();
    cwnd(rig) > before
}

/// The first chunk, on path A, is missing: path D has a point of its own, which advances.
#[test]
fn a_path_has_a_point_of_its_own() {
    for growth in ALL {
        let mut rig = rig(growth);
        let points = [WindowGrowth::CumulativePoint, WindowGrowth::CumulativePointAlways];
        let expected = !points.contains(&growth);
        assert_eq!(grows(&mut rig, D, 0, &[gap(2..=2, 0)]), expected, "{growth:?}");
        assert_eq!(grows(&mut rig, D, 0, &[gap(2..=2, 0), gap(4..=4, 0)]), expected, "{growth:?}");
        // Beyond a gap of its own it does not.
        let more = [gap(2..=2, 0), gap(4..=4, 0), gap(8..=8, 0)];
        assert_eq!(grows(&mut rig, D, 0, &more), growth == WindowGrowth::Acknowledged, "{growth:?}");
        assert!(grows(&mut rig, D, 6, &[gap(8..=8, 6)]), "{growth:?}: for good");
    }
}

/// Where one path at a time carries data the rules are no matter, but for the one that says so.
#[test]
fn on_one_path_every_sack_counts_unless_the_rule_says_always() {
    for growth in ALL {
        let mut config = Config::rfc();
        config.multipath.growth = growth;
        config.retransmission.loss = LossDetection::MissIndications(100);
        let mut rig = Rig::new(config, Tsn(1), WINDOW);
        rig.sender.install(A, Some(5000), Some(1 << 20));
        for _ in 0..4 {
            assert_eq!(rig.send_one(1000), Some(A));
        }
        let expected = growth != WindowGrowth::CumulativePointAlways;
        assert_eq!(grows(&mut rig, A, 0, &[gap(2..=2, 0)]), expected, "{growth:?}");
        assert!(grows(&mut rig, A, 2, &[]), "{growth:?}: it advances");
    }
}

/// What has moved to another path is waited for by version 1 of CUC, and not by version 2.
#[test]
fn what_has_moved_holds_back_nothing() {
    for (growth, expected) in [(WindowGrowth::PathPoint, false), (WindowGrowth::PathPoints, true)] {
        let mut rig = rig(growth);
        // The points are found.
        rig.sack(Tsn(0), &[gap(3..=3, 0), gap(6..=6, 0)], WINDOW).unwrap();
        rig.expire(A);
        while rig.turn(Permit::Retransmissions, 1).is_some() {}
        for path in [A, D, A] {
            // T3-rtx has left a window of a packet.
            rig.sender.install(path, Some(20_000), Some(1 << 20));
        }
        rig.sender.flow_mut(A).unwrap().one_packet = false;
        let mut gaps = vec![gap(3..=3, 0), gap(6..=6, 0)];
        for _ in 0..2 {
            while rig.send_one(1000) != Some(A) {}
            let newest = rig.sender.outstanding.next_tsn().prev().0;
            gaps.push(gap(newest..=newest, 0));
            assert_eq!(grows(&mut rig, A, 0, &gaps), expected, "{growth:?}");
        }
    }
}
