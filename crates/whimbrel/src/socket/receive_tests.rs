use super::*;

/// Room for one train and one more while they come singly; for all there can be as soon as that was too little; and less again
/// when there is less, but not at once.
#[test]
fn room_for_trains_follows_demand() {
    let mut expected = EXPECTED_MIN;
    let mut receive = |waiting: usize| {
        let offered = expected;
        expected = next_expected(expected, offered, waiting.min(offered));
        expected
    };
    assert_eq!([receive(0), receive(1), receive(0), receive(1)], [EXPECTED_MIN; 4]);
    assert_eq!(receive(9), TRAINS);
    assert_eq!([receive(9), receive(14), receive(16)], [TRAINS - 1, TRAINS - 1, TRAINS]);
    let calls = (1..).find(|_| receive(1) == EXPECTED_MIN);
    assert_eq!(calls, Some(TRAINS - EXPECTED_MIN));
}
