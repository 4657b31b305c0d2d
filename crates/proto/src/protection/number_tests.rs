use super::*;

#[test]
fn numbers_near_the_expected_one_are_found() {
    for expected in [0, 1, 5, 32_767, 32_768, 65_535, 65_536, 65_537, 3 * TURN, (1 << 40) + 77] {
        for distance in -32_767_i64..=32_767 {
            let Some(number) = expected.checked_add_signed(distance) else { continue };
            assert_eq!(nearest(expected, number as u16), number, "{expected} {distance}");
        }
    }
}

#[test]
fn the_first_turn_has_none_before_it() {
    assert_eq!(nearest(0, 65_535), 65_535);
    assert_eq!(nearest(3, 40_000), 40_000);
}
