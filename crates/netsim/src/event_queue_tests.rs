use proptest::prelude::*;

use super::*;

proptest! {
    /// Pops come in the order of time, and of insertion among equals: a stable sort.
    #[test]
    fn pops_are_a_stable_sort(times in prop::collection::vec(0_u64..20, 0..200)) {
        let mut queue = EventQueue::default();
        for (index, &time) in times.iter().enumerate() {
            queue.push(Instant::from_nanos(time), Due::Action { index: index as u32 });
        }
        let mut expected: Vec<(u64, u32)> = times.iter().zip(0..).map(|(&time, index)| (time, index)).collect();
        expected.sort_by_key(|&(time, _)| time);
        let popped: Vec<(u64, u32)> = core::iter::from_fn(|| queue.pop())
            .map(|(at, due)| match due {
                Due::Action { index } => (at.as_nanos(), index),
                other => panic!("nobody put {other:?} in"),
            })
            .collect();
        prop_assert_eq!(popped, expected);
        prop_assert_eq!(queue.len(), 0);
    }
}

#[test]
fn an_event_is_small() {
    assert!(size_of::<Entry>() <= 32, "{}", size_of::<Entry>());
}
