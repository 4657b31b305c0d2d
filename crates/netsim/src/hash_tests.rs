use super::*;

/// Values of the reference implementation, which xxhsum prints too.
#[test]
fn known_values() {
    assert_eq!(xxh64(0, b""), 0xef46_db37_51d8_e999);
    assert_eq!(xxh64(0, b"a"), 0xd24e_c4f1_a98c_6e5b);
    assert_eq!(xxh64(0, b"abc"), 0x44bc_2cf5_ad77_0999);
    assert_eq!(xxh64(0, b"Nobody inspects the spammish repetition"), 0xfbce_a83c_8a37_8bf1);
}

#[test]
fn order_and_content_matter() {
    let of = |numbers: &[u64]| {
        let mut hash = TraceHash::default();
        hash.numbers(numbers);
        hash.value()
    };
    assert_ne!(of(&[1, 2]), of(&[2, 1]));
    assert_ne!(of(&[0]), of(&[0, 0]));
}
