use proptest::prelude::*;

use super::*;

fn drain(scheduler: &mut dyn StreamScheduler) -> Vec<u16> {
    core::iter::from_fn(|| scheduler.next()).collect()
}

fn filled(make: NewStreamScheduler, streams: &[u16]) -> Box<dyn StreamScheduler> {
    let mut scheduler = make();
    for &stream in streams {
        scheduler.enqueue(stream);
    }
    scheduler
}

/// RFC 8260 §3.1.
#[test]
fn first_come_first_served_keeps_the_users_order() {
    let order = [7, 7, 7, 0, 65_535, 7, 0];
    assert_eq!(drain(&mut *filled(FirstComeFirstServed::boxed, &order)), order);
}

/// RFC 8260 §3.2.
#[test]
fn round_robin_takes_one_message_from_each_stream_in_turn() {
    let mut scheduler = filled(RoundRobin::boxed, &[7, 7, 7, 0, 65_535, 7, 0]);
    assert_eq!(drain(&mut *scheduler), [7, 0, 65_535, 7, 0, 7, 7]);
}

#[test]
fn round_robin_lets_a_new_stream_in_at_the_end_of_the_round() {
    let mut scheduler = filled(RoundRobin::boxed, &[1, 1, 2, 2]);
    assert_eq!(scheduler.next(), Some(1));
    scheduler.enqueue(3);
    assert_eq!(drain(&mut *scheduler), [2, 1, 3, 2]);
}

proptest! {
    /// Every message goes exactly once whatever the interleaving, and round robin never lets a waiting stream be
    /// passed twice by another.
    #[test]
    fn nothing_is_lost_and_nobody_starves(events in proptest::collection::vec(proptest::option::of(0_u16..6), 0..300)) {
        for make in [FirstComeFirstServed::boxed as NewStreamScheduler, RoundRobin::boxed] {
            let mut scheduler = make();
            let mut queued = [0_u32; 6];
            for event in &events {
                if let Some(stream) = *event {
                    scheduler.enqueue(stream);
                    queued[usize::from(stream)] += 1;
                } else {
                    match scheduler.next() {
                        Some(stream) => {
                            prop_assert!(queued[usize::from(stream)] > 0);
                            queued[usize::from(stream)] -= 1;
                        }
                        None => prop_assert_eq!(queued, [0; 6]),
                    }
                }
            }
            let rest = drain(&mut *scheduler);
            for stream in 0..6_u16 {
                let count = rest.iter().filter(|&&taken| taken == stream).count();
                prop_assert_eq!(count, queued[usize::from(stream)] as usize);
            }
        }
    }

    #[test]
    fn round_robin_is_fair(counts in proptest::array::uniform4(0_usize..20)) {
        let mut scheduler = RoundRobin::new();
        for (stream, &count) in counts.iter().enumerate() {
            (0..count).for_each(|_| scheduler.enqueue(stream as u16));
        }
        let mut taken = [0; 4];
        while let Some(stream) = scheduler.next() {
            taken[usize::from(stream)] += 1;
            for other in 0..4 {
                let waiting = taken[other] < counts[other];
                prop_assert!(!waiting || taken[other] + 1 >= taken[usize::from(stream)]);
            }
        }
    }
}
