use super::*;

fn packet(kind: u8) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[12] = kind;
    bytes
}

/// Looks until it would sleep.
fn looks(anticipation: &mut Anticipation) -> u32 {
    (0..).find(|_| !anticipation.look_again()).expect("it sleeps in the end")
}

#[test]
fn only_a_packet_of_a_handshake_has_an_answer_right_behind_it() {
    for kind in 0..=u8::MAX {
        let mut anticipation = Anticipation::default();
        anticipation.sent(&packet(kind));
        let expected = if [1, 2, 10, 11].contains(&kind) { LOOKS } else { 0 };
        assert_eq!(looks(&mut anticipation), expected, "chunk type {kind}");
    }
    let mut anticipation = Anticipation::default();
    anticipation.sent(&[0; 12]);
    assert_eq!(looks(&mut anticipation), 0, "no chunk at all");
}

#[test]
fn what_has_come_is_not_waited_for() {
    let mut anticipation = Anticipation::default();
    anticipation.sent(&packet(1));
    assert!(anticipation.look_again());
    anticipation.received();
    assert_eq!(looks(&mut anticipation), 0);
}

#[test]
fn peers_far_away_teach_it_to_sleep_at_once() {
    let mut anticipation = Anticipation::default();
    let handshakes: u32 = 10 * (DISAPPOINTMENTS + PAUSE);
    let mut total = 0;
    for _ in 0..handshakes {
        anticipation.sent(&packet(2));
        total += looks(&mut anticipation);
        anticipation.received();
    }
    assert_eq!(total, 10 * DISAPPOINTMENTS * LOOKS);
}

#[test]
fn one_answer_in_time_makes_up_for_some_that_were_late() {
    let mut anticipation = Anticipation::default();
    for _ in 0..10 {
        for _ in 1..DISAPPOINTMENTS {
            anticipation.sent(&packet(10));
            assert_eq!(looks(&mut anticipation), LOOKS);
        }
        anticipation.sent(&packet(10));
        assert!(anticipation.look_again());
        anticipation.received();
    }
}
