use super::*;

const MS: Duration = Duration::from_millis(1);
const START: Instant = Instant::from_nanos(5_000_000_000);
/// Trains of 4000 bytes take 4 ms.
const PACING: Pacing = Pacing { rate: 1_000_000, quantum: 4000 };

/// Sends packets of 1000 bytes as long as it may. How many these are.
fn train(pacer: &mut Pacer, now: Instant) -> u32 {
    pacer.open(now, Some(PACING));
    let mut packets = 0;
    while pacer.is_open() {
        pacer.on_sent(now, 1000);
        packets += 1;
    }
    packets
}

#[test]
fn quanta_are_a_millisecond_within_bounds() {
    assert_eq!(Pacing::at(12_500_000, 1400).quantum, 12_500);
    assert_eq!(Pacing::at(1_000_000, 1400).quantum, 2800);
    assert_eq!(Pacing::at(10_000_000_000, 1400).quantum, 65_000);
    assert_eq!(Pacing::at(0, 1400).rate, 1);
    assert_eq!(PACING.time(500), MS / 2);
}

#[test]
fn a_train_is_a_quantum_and_the_next_one_waits() {
    let mut pacer = Pacer::default();
    assert_eq!(train(&mut pacer, START), 4);
    assert_eq!(pacer.next_departure(), Some(START + 4 * MS));
    assert_eq!(train(&mut pacer, START + 3 * MS), 0);
    assert_eq!(train(&mut pacer, START + 4 * MS), 4);
    assert_eq!(pacer.next_departure(), Some(START + 8 * MS));
}

/// A train that is no multiple of its packets is not followed by a scrap.
#[test]
fn a_quantum_is_not_exceeded() {
    let mut pacer = Pacer::default();
    pacer.open(START, Some(PACING));
    let mut bytes = 0;
    while pacer.is_open() {
        pacer.on_sent(START, 1500);
        bytes += 1500;
    }
    assert_eq!((bytes, pacer.next_departure()), (3000, Some(START + 3 * MS)));
}

/// What a late timer has cost comes at once, and no more than that.
#[test]
fn lateness_is_made_up_for() {
    let mut pacer = Pacer::default();
    train(&mut pacer, START);
    assert_eq!(train(&mut pacer, START + 6 * MS), 6);
    assert_eq!(pacer.next_departure(), Some(START + 10 * MS));
    assert_eq!(train(&mut pacer, START + 600 * MS), 8);
}

#[test]
fn without_a_rate_nothing_waits() {
    let mut pacer = Pacer::default();
    train(&mut pacer, START);
    pacer.open(START, None);
    pacer.on_sent(START, 1_000_000);
    assert!(pacer.is_open() && !pacer.is_pacing());
    assert_eq!((pacer.next_departure(), pacer.quantum()), (None, usize::MAX));
}

/// A wait that was reckoned at a lower rate does not outlive it.
#[test]
fn a_rate_that_rises_is_heeded() {
    let mut pacer = Pacer::default();
    pacer.open(START, Some(Pacing { rate: 100, quantum: 4000 }));
    pacer.on_sent(START, 4000);
    assert_eq!(pacer.next_departure(), Some(START + 40_000 * MS));
    assert_eq!(train(&mut pacer, START + MS), 0);
    assert_eq!(pacer.next_departure(), Some(START + 5 * MS));
}
