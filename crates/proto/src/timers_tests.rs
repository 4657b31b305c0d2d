use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

#[test]
fn earliest_first_and_ties_in_a_fixed_order() {
    let mut timers = Timers::default();
    timers.set(TimerId::SackDelay, at(5));
    timers.set(TimerId::T3Retransmit(PathId(1)), at(5));
    timers.set(TimerId::T3Retransmit(PathId(0)), at(5));
    timers.set(TimerId::Heartbeat(PathId(0)), at(4));
    timers.set(TimerId::T2Shutdown, at(6));
    assert_eq!(timers.next(), Some((at(4), TimerId::Heartbeat(PathId(0)))));
    assert_eq!(timers.pop_expired(at(3)), None);
    let order: Vec<TimerId> = core::iter::from_fn(|| timers.pop_expired(at(5))).collect();
    assert_eq!(
        order,
        [
            TimerId::Heartbeat(PathId(0)),
            TimerId::T3Retransmit(PathId(0)),
            TimerId::T3Retransmit(PathId(1)),
            TimerId::SackDelay,
        ]
    );
    assert_eq!(timers.next(), Some((at(6), TimerId::T2Shutdown)));
}

const ALL: [TimerId; 12] = [
    TimerId::T1Init,
    TimerId::SackDelay,
    TimerId::T2Shutdown,
    TimerId::T3Retransmit(PathId(0)),
    TimerId::T3Retransmit(PathId(1)),
    TimerId::T3Retransmit(PathId(2)),
    TimerId::Heartbeat(PathId(0)),
    TimerId::Heartbeat(PathId(1)),
    TimerId::Heartbeat(PathId(2)),
    TimerId::PmtuProbe(PathId(0)),
    TimerId::PmtuProbe(PathId(1)),
    TimerId::PmtuProbe(PathId(2)),
];

fn id() -> impl Strategy<Value = TimerId> {
    proptest::sample::select(&ALL[..])
}

#[derive(Clone, Debug)]
enum Operation {
    Set(TimerId, u64),
    Clear(TimerId),
    Pop(u64),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (id(), 0_u64..20).prop_map(|(id, at)| Operation::Set(id, at)),
        2 => id().prop_map(Operation::Clear),
        2 => (0_u64..20).prop_map(Operation::Pop),
    ]
}

proptest! {
    /// The array behaves as an ordered map does.
    #[test]
    fn agrees_with_a_map(operations in proptest::collection::vec(operation(), 0..200)) {
        let mut timers = Timers::default();
        let mut model: BTreeMap<TimerId, Instant> = BTreeMap::new();
        let least = |model: &BTreeMap<TimerId, Instant>| model.iter().map(|(&id, &at)| (at, id)).min();
        for operation in operations {
            match operation {
                Operation::Set(id, nanos) => {
                    timers.set(id, at(nanos));
                    model.insert(id, at(nanos));
                }
                Operation::Clear(id) => {
                    timers.clear(id);
                    model.remove(&id);
                }
                Operation::Pop(nanos) => {
                    let expected = least(&model).filter(|&(expiry, _)| expiry <= at(nanos)).map(|(_, id)| id);
                    prop_assert_eq!(timers.pop_expired(at(nanos)), expected);
                    if let Some(id) = expected {
                        model.remove(&id);
                    }
                }
            }
            prop_assert_eq!(timers.next(), least(&model));
            for id in ALL {
                prop_assert_eq!(timers.is_set(id), model.contains_key(&id));
            }
        }
    }
}
