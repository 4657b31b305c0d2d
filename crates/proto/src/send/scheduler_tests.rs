use whimbrel_machine::Instant;
use whimbrel_wire::{GapAckBlock, StreamId, Tsn};

use super::*;
use crate::auth::session::Auth;
use crate::config::{BufferSplit, BurstLimit, Config, LossDetection};
use crate::interface::{Message, PathState};
use crate::path::testing::set;
use crate::send::testing::Rig;
use crate::send::turn::Permit;

const A: PathId = PathId(0);
/// Shares neither address with path A; these two carry data.
const D: PathId = PathId(3);
const WINDOW: u32 = 1 << 20;
const MS: Duration = Duration::from_millis(1);

/// Round trips and windows of A and D.
fn rig(scheduler: PathScheduler, round_trips: [u32; 2], windows: [usize; 2]) -> Rig {
    let mut config = Config::rfc().combining_paths();
    config.multipath.scheduler = scheduler;
    config.congestion.burst = BurstLimit::Packets(1000);
    let mut rig = Rig::new(config, Tsn(1), WINDOW);
    for (path, (round_trip, window)) in [A, D].into_iter().zip(round_trips.into_iter().zip(windows)) {
        rig.measure(path, round_trip * MS);
        rig.sender.install(path, Some(window), None);
    }
    rig
}

/// Where so many messages of 1,000 bytes go.
fn paths(rig: &mut Rig, messages: usize) -> Vec<Option<PathId>> {
    (0..messages).map(|_| rig.send_one(1000)).collect()
}

#[test]
fn in_turn_where_there_is_room() {
    let mut rig = rig(PathScheduler::RoundRobin, [20, 20], [4000, 2000]);
    let (a, d) = (Some(A), Some(D));
    assert_eq!(paths(&mut rig, 7), [a, d, a, d, a, a, None]);
}

#[test]
fn the_shortest_round_trip_first() {
    let mut rig = rig(PathScheduler::LowestRoundTrip, [50, 20], [4000, 2000]);
    let (a, d) = (Some(A), Some(D));
    assert_eq!(paths(&mut rig, 4), [d, d, a, a]);
}

/// Paper b08 section 4.3.2: (O + P) / C, whatever the delay: the path that carries four times as much gets four of five packets.
#[test]
fn what_is_sent_first() {
    let mut rig = rig(PathScheduler::FastestPathFirst, [200, 20], [400_000, 10_000]);
    let taken = paths(&mut rig, 10).iter().filter(|path| **path == Some(A)).count();
    assert_eq!(taken, 8);
}

/// ECF: little that waits arrives sooner by the quick path, though that has no room; a lot does not.
#[test]
fn a_slow_path_is_for_what_waits_long_enough() {
    for (messages, slow) in [(1, 0), (40, 1)] {
        let mut rig = rig(PathScheduler::EarliestCompletion, [200, 20], [100_000, 1000]);
        // A packet fills its window.
        assert_eq!(rig.send_one(1172), Some(D));
        for _ in 1..messages {
            assert!(rig.send(0, 1000, usize::MAX));
        }
        let path = rig.send_one(1000);
        assert_eq!(path.into_iter().filter(|path| *path == A).count(), slow, "{messages}");
    }
}

/// A message more may be what it takes for a path to be worth using: whoever hands it over must not be told that it waits.
#[test]
fn what_waits_may_open_a_path() {
    let mut rig = rig(PathScheduler::EarliestCompletion, [200, 20], [100_000, 1000]);
    assert_eq!(rig.send_one(1172), Some(D));
    let mut leaves = |_| {
        let message = Message::new(StreamId(0), vec![0; 1000]);
        rig.sender.send(&rig.paths, message, usize::MAX, &Auth::default()).unwrap()
    };
    // The first one in a queue is always looked at.
    assert!(leaves(0));
    let at = (1..40).position(leaves);
    assert!(at.is_some_and(|at| (5..15).contains(&at)), "{at:?}");
}

/// BLEST: what the quick path brings while a packet goes by the slow one has to find room at the receiver.
#[test]
fn a_slow_path_must_not_block_a_quick_one() {
    for (window, slow) in [(1 << 20, true), (9000, false)] {
        let mut rig = rig(PathScheduler::EarliestCompletion, [200, 20], [100_000, 1000]);
        assert_eq!(rig.send_one(1172), Some(D));
        for _ in 0..40 {
            assert!(rig.send(0, 1000, usize::MAX));
        }
        rig.sender.window.on_sack(window, 1172);
        rig.sender.window.largest = 1 << 20;
        assert_eq!(rig.send_one(1000) == Some(A), slow, "{window}");
    }
}

/// Buffers that are too small for what two paths hold are left to the better one, which is not the one with the shorter round trip here.
#[test]
fn small_buffers_are_for_one_path() {
    for (buffers, both) in [(1 << 20, true), (16 << 10, false)] {
        let mut rig = rig(PathScheduler::EarliestCompletion, [25, 20], [20_000, 4000]);
        rig.sender.window.largest = buffers;
        let used = paths(&mut rig, 6);
        assert_eq!(used.contains(&Some(D)), both, "{buffers}: {used:?}");
    }
}

/// RFC 7829 §3.2: nothing to a potentially failed path, nor to one that is suspected; the least bad one carries what there is if all are.
#[test]
fn potentially_failed_paths_carry_nothing() {
    for scheduler in ALL {
        let mut rig = rig(scheduler, [20, 20], [100_000, 100_000]);
        rig.set_state(D, PathState::PotentiallyFailed);
        (1..3).for_each(|id| rig.set_state(PathId(id), PathState::PotentiallyFailed));
        assert_eq!(paths(&mut rig, 3), [Some(A); 3], "{scheduler:?}");
        rig.paths.get_mut(A).unwrap().doubt.suspect(Instant::ZERO, None);
        rig.set_state(D, PathState::Active);
        assert_eq!(paths(&mut rig, 3), [Some(D); 3], "{scheduler:?}");
        rig.ids().into_iter().for_each(|id| set(&mut rig.paths, id, PathState::PotentiallyFailed, 2));
        set(&mut rig.paths, D, PathState::PotentiallyFailed, 1);
        assert_eq!(paths(&mut rig, 2), [Some(D); 2], "{scheduler:?}");
    }
}

/// A sender that believes itself held up is not asked any more: it must not be while `next` names a path with room, and the other way round.
#[test]
fn takes_agrees_with_next() {
    for scheduler in ALL {
        for round_trips in [[20, 20], [20, 200], [200, 20]] {
            let mut rig = rig(scheduler, round_trips, [20_000, 10_000]);
            for round in 0..60 {
                rig.send_one(1000);
                if round % 7 == 6 {
                    let highest = rig.sender.outstanding.next_tsn().prev();
                    rig.sack(highest, &[], WINDOW).unwrap();
                }
                let (scheduler, offer) = rig.sender.scheduling(&rig.paths);
                let takes = |path: &PathId| scheduler.takes(&offer, *path) && offer.has_room(*path);
                let any = [A, D].iter().any(takes);
                let next = scheduler.next(&offer);
                assert_eq!(next.is_some_and(|path| offer.has_room(path)), any, "{scheduler:?}");
                assert!(next.is_none_or(|path| scheduler.takes(&offer, path)), "{scheduler:?}");
            }
        }
    }
}

/// No path fills more than its part of the peer's window, or of the send buffer; what has arrived beyond a gap counts in the latter.
#[test]
fn buffers_are_split() {
    for (split, on_a) in [(BufferSplit::None, 12), (BufferSplit::Receive, 6), (BufferSplit::Send, 4)] {
        let mut config = Config::rfc().combining_paths();
        config.multipath.scheduler = PathScheduler::LowestRoundTrip;
        config.multipath.buffers = split;
        config.retransmission.loss = LossDetection::SplitMissIndications(9);
        config.congestion.burst = BurstLimit::Packets(1000);
        config.limits.send_buffer = 8000;
        let mut rig = Rig::new(config, Tsn(1), 12_000);
        rig.measure(A, 20 * MS);
        rig.measure(D, 30 * MS);
        [A, D].into_iter().for_each(|path| rig.sender.install(path, Some(100_000), None));
        let sent = paths(&mut rig, 12);
        assert_eq!(sent.iter().filter(|path| **path == Some(A)).count(), on_a, "{split:?}: {sent:?}");
        if split == BufferSplit::Send {
            rig.sack(Tsn(0), &[GapAckBlock { start: 2, end: 4 }], 12_000).unwrap();
            assert_ne!(rig.send_one(1000), Some(A), "held at the receiver");
            rig.sack(Tsn(4), &[], 12_000).unwrap();
            assert_eq!(rig.turn(Permit::Everything, 1).map(|written| written.train.path), Some(A));
        }
    }
}

const ALL: [PathScheduler; 5] = [
    PathScheduler::RoundRobin,
    PathScheduler::LowestRoundTrip,
    PathScheduler::FastestPathFirst,
    PathScheduler::EarliestCompletion,
    PathScheduler::Redundant,
];
