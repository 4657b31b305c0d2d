use super::*;

/// What a train says whose answers come after so many microseconds, in the order of the packets.
fn train(micros: [u64; PacketTrain::PACKETS]) -> TrainNews {
    let mut train = PacketTrain::new(1500);
    let mut news = TrainNews::Waiting;
    for (index, at) in micros.into_iter().enumerate() {
        assert_eq!(news, TrainNews::Waiting, "before answer {index}");
        news = train.on_answer(Instant::from_nanos(at * 1000), index);
    }
    news
}

#[test]
fn the_distance_of_the_large_packets_tells_the_capacity() {
    // 1500 bytes in 1.2 ms are 10 Mbit/s.
    assert_eq!(train([0, 32, 1232, 2432, 2464, 2496]), TrainNews::Capacity(10_000_000));
}

#[test]
fn small_pairs_must_be_closer_together_than_the_large_one() {
    assert_eq!(train([0, 1200, 2400, 3600, 3632, 3664]), TrainNews::Invalid, "the first small pair");
    assert_eq!(train([0, 32, 1232, 2432, 2464, 3664]), TrainNews::Invalid, "the second small pair");
    assert_eq!(train([0; 6]), TrainNews::Invalid, "a batch");
}

#[test]
fn answers_must_come_in_order() {
    let mut train = PacketTrain::new(1500);
    for (micros, index) in [(0, 0), (32, 1), (1232, 3)] {
        let news = train.on_answer(Instant::from_nanos(micros * 1000), index);
        assert_eq!(news == TrainNews::Invalid, index == 3);
    }
    for index in [2, 3, 4, 5] {
        assert_eq!(train.on_answer(Instant::from_nanos(2_432_000), index), TrainNews::Invalid);
    }
}

#[test]
fn an_answer_that_is_missing_leaves_the_train_without_a_verdict() {
    let mut train = PacketTrain::new(1500);
    for index in 0..5 {
        assert_eq!(train.on_answer(Instant::from_nanos(index as u64), index), TrainNews::Waiting);
    }
}

#[test]
fn only_the_packets_in_the_middle_are_large() {
    let large = (0..PacketTrain::PACKETS).filter(|&index| PacketTrain::is_large(index));
    assert_eq!(large.collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn one_train_among_others_changes_nothing() {
    let mut capacity = Capacity::default();
    assert_eq!(capacity.estimate(), None);
    for (second, rate) in [10, 10, 3, 10, 90].into_iter().enumerate() {
        capacity.on_sample(Instant::from_nanos(second as u64), rate);
        assert_eq!(capacity.estimate(), Some(Estimate { rate: 10, at: Instant::from_nanos(second as u64) }));
    }
    for rate in [3, 3, 3] {
        capacity.on_sample(Instant::from_nanos(9), rate);
    }
    assert_eq!(
        capacity.estimate().map(|estimate| estimate.rate),
        Some(3),
        "but a path that has changed does"
    );
}
