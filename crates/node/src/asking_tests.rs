use whimbrel_machine::{InterfaceId, ReceivedPower};

use super::*;

fn signal(interface: u32, dbm: i32) -> LinkFact {
    let fact = InterfaceFact::Signal(ReceivedPower::from_dbm(dbm.into()));
    LinkFact::Interface { interface: InterfaceId(interface), fact }
}

fn down(interface: u32) -> LinkFact {
    LinkFact::Interface { interface: InterfaceId(interface), fact: InterfaceFact::Down }
}

/// Tells everything that is due, as a driver does; how many questions that were.
fn tell(asking: &mut Asking, now: Instant, count: usize) -> u64 {
    let mut asked = 0;
    while asking.next(now, count).is_some() {
        asked += count as u64;
    }
    asked
}

#[test]
fn a_few_associations_hear_everything_at_once() {
    let mut asking = Asking::default();
    let now = Instant::from_nanos(5);
    for dbm in -90..-50 {
        asking.push(signal(1, dbm));
        assert_eq!(asking.next(now, 3), Some(signal(1, dbm)));
    }
    assert_eq!((asking.next(now, 3), asking.next_deadline()), (None, None));
}

#[test]
fn many_associations_are_asked_within_measure_and_hear_the_last_word() {
    const COUNT: usize = 10_000;
    let mut asking = Asking::default();
    let start = Instant::from_nanos(5);
    let mut asked = 0;
    // For a second, a thousand facts.
    for n in 0..1000 {
        let now = start + Duration::from_millis(n);
        asking.push(signal(1 + n as u32 % 2, -90 + n as i32 % 50));
        asked += tell(&mut asking, now, COUNT);
    }
    // One more may begin while there is a rest of the budget.
    assert!(asked <= AT_ONCE + PER_SECOND + COUNT as u64, "{asked} questions in 1 s");
    assert!(asked >= PER_SECOND, "{asked}");
    assert!(asking.waiting.len() <= 2);
    asking.push(down(2));
    let mut told = Vec::new();
    while let Some(at) = asking.next_deadline() {
        told.extend(asking.next(at.max(start), COUNT));
    }
    assert_eq!(told.last(), Some(&down(2)), "what is known in the end is told");
    let last_words = [signal(1, -42), signal(2, -41), down(2)];
    assert!(told.iter().all(|fact| last_words.contains(fact)), "nothing that is old by now: {told:?}");
    assert!(told.len() <= 3, "{told:?}");
}

#[test]
fn what_waits_is_bounded() {
    let mut asking = Asking::default();
    for interface in 0..100_000 {
        asking.push(down(interface));
    }
    assert_eq!(asking.waiting.len(), WAITING_MAX);
    assert_eq!(asking.waiting.back(), Some(&down(99_999)));
    assert_eq!(asking.next(Instant::ZERO, 0), None);
    assert!(asking.waiting.is_empty(), "nobody listens");
}
