//! One pattern, in real time on a cable and in virtual time through a world: the same packets are lost.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "half of this is in real time")]

#[path = "../../netsim/tests/common/mod.rs"]
mod common;

use core::time::Duration;
use std::sync::Arc;

use common::{Command, Log, Toy, ip, route};
use whimbrel_emulator::{Cable, Direction};
use whimbrel_machine::{Instant, Seed};
use whimbrel_netsim::{Action, DropReason, LinkConfig, Pattern, Side, World};

/// What comes at 1 s is lost, what comes at once and at 2.6 s is not; and some packets by number.
const TEXT: &str =
    "packet 2 drop\npacket 15-17 drop\nms 500-1999 drop\npacket 45 drop\npacket 9 delay 80ms\n";
/// So many packets come at each of these times, in ms.
const GROUPS: [(u64, usize); 3] = [(0, 20), (1000, 10), (2600, 20)];

fn expected() -> Vec<u64> {
    (1..=50_u64)
        .filter(|number| !matches!(number, 2 | 15..=17 | 21..=30 | 45))
        // Toy numbers its packets from 0 on.
        .map(|number| number - 1)
        .collect()
}

#[test]
fn virtual_time() {
    let pattern = Arc::new(Pattern::parse(TEXT).unwrap());
    let mut world = World::new(Seed::from_u64(1));
    let (a, b) = (
        world.add_host("a", Toy::default(), Log::default()),
        world.add_host("b", Toy::default(), Log::default()),
    );
    let (ia, ib) = (world.add_interface(a, [ip("10.0.0.1")]), world.add_interface(b, [ip("10.0.0.2")]));
    let link = world.add_link(ia, ib, LinkConfig::default(), LinkConfig::default());
    world.follow(link, Side::AtoB, &pattern);
    for (ms, count) in GROUPS {
        let command = Command::Send { route: route("10.0.0.1", "10.0.0.2"), bytes: 100, count };
        world.schedule(Instant::ZERO + Duration::from_millis(ms), Action::Command(a, command));
    }
    world.run_until(Instant::ZERO + Duration::from_secs(5));
    assert_eq!(world.app(b).numbers(), expected());
    let delays: Vec<u128> =
        world.app(b).received().map(|(at, _, sent)| (at - sent).as_millis()).take(9).collect();
    assert_eq!(delays, [0, 0, 0, 0, 0, 0, 0, 80, 80]);
    assert_eq!(world.stats(link, Side::AtoB).dropped_for(DropReason::Loss), 15);
}

#[test]
fn real_time() {
    let pattern = Arc::new(Pattern::parse(TEXT).unwrap());
    let mut cable = Cable::new(LinkConfig::default(), LinkConfig::default(), Seed::from_u64(2));
    let begin = std::time::Instant::now();
    cable.follow(Direction::Uplink, &pattern);
    let mut sent = 0;
    for (ms, count) in GROUPS {
        let due = begin + Duration::from_millis(ms);
        std::thread::sleep(due.saturating_duration_since(std::time::Instant::now()));
        for _ in 0..count {
            let mut frame = [0; 114];
            frame[0] = sent;
            sent += 1;
            cable.offer(true, &frame);
            // The other direction follows nothing.
            cable.offer(false, &frame);
        }
    }
    let (mut up, mut down) = (Vec::new(), 0);
    while let Some(due) = cable.next_due() {
        std::thread::sleep(due.saturating_duration_since(std::time::Instant::now()));
        cable.deliver(|is_up, frame| match is_up {
            true => up.push(u64::from(frame[0])),
            false => down += 1,
        });
    }
    assert_eq!((up, down), (expected(), 50));
    assert_eq!(cable.stats().0.dropped_for(DropReason::Loss), 15);
}
