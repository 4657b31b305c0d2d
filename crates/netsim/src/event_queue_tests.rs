use proptest::prelude::*;

use super::*;

/// Puts in an event at each of `times`, in the line that is named, or in none; returns the order in which they come out.
fn through(queue: &mut EventQueue, times: &[(u64, Option<u32>)]) -> Vec<(u64, u32)> {
    for (index, &(time, line)) in (0..).zip(times) {
        let at = Instant::from_nanos(time);
        match line {
            Some(line) => queue.push_in_line(line, at, index, 0),
            None => queue.push(at, Due::Action { index }),
        }
    }
    assert_eq!(queue.len(), times.len());
    let number = |due| match due {
        Due::Action { index } => index,
        Due::Packet { slot, .. } => slot,
        other => panic!("nobody put {other:?} in"),
    };
    core::iter::from_fn(|| queue.pop()).map(|(at, due)| (at.as_nanos(), number(due))).collect()
}

proptest! {
    /// Pops come in the order of time, and of insertion among equals, whatever lines the events stand in: a stable sort.
    #[test]
    fn pops_are_a_stable_sort(
        times in prop::collection::vec((0_u64..20, prop::option::of(0_u32..4)), 0..200),
        again in prop::collection::vec((20_u64..40, prop::option::of(0_u32..4)), 0..50),
    ) {
        let mut queue = EventQueue::default();
        for times in [times, again] {
            let mut expected: Vec<(u64, u32)> = times.iter().zip(0..).map(|(&(time, _), index)| (time, index)).collect();
            expected.sort_by_key(|&(time, _)| time);
            prop_assert_eq!(through(&mut queue, &times), expected);
            prop_assert_eq!(queue.len(), 0);
        }
    }
}

#[test]
fn a_line_has_one_place_in_the_heap() {
    let mut queue = EventQueue::default();
    for time in 0..1000 {
        queue.push_in_line(time % 8, Instant::from_nanos(u64::from(time)), time, 0);
    }
    assert_eq!((queue.heap.len(), queue.len()), (8, 1000));
    for time in 0..1000 {
        let due = Due::Packet { slot: time, generation: 0, line: time % 8 };
        assert_eq!(queue.pop(), Some((Instant::from_nanos(u64::from(time)), due)));
        assert!(queue.heap.len() <= 8);
    }
    assert_eq!(queue.pop(), None);
}

#[test]
fn an_event_is_small() {
    assert!(size_of::<Entry>() <= 32, "{}", size_of::<Entry>());
}
