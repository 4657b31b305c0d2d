use super::*;

fn walk(bytes: &[u8]) -> Vec<Result<&[u8], &[u8]>> {
    let mut cursor = TlvCursor::new(bytes);
    core::iter::from_fn(|| cursor.advance()).map(|item| item.map_err(|BadLength(rest)| rest)).collect()
}

#[test]
fn padding_is_skipped_and_not_part_of_the_item() {
    let bytes = [0, 1, 0, 5, 9, 0, 0, 0, 0, 2, 0, 4];
    assert_eq!(walk(&bytes), [Ok(&bytes[..5]), Ok(&bytes[8..])]);
}

/// RFC 9260 §3.2: accept the last item whether or not its padding is there.
#[test]
fn padding_of_the_last_item_may_be_missing_or_partial() {
    let bytes = [0, 1, 0, 5, 9, 0, 0, 0];
    for end in 5..=8 {
        assert_eq!(walk(&bytes[..end]), [Ok(&bytes[..5])], "{end} bytes");
    }
}

#[test]
fn an_unusable_length_ends_the_walk() {
    let short = [0, 1, 0, 3, 0, 2, 0, 4];
    assert_eq!(walk(&short), [Err(&short[..])]);
    let long = [0, 1, 0, 4, 0, 2, 0, 5];
    assert_eq!(walk(&long), [Ok(&long[..4]), Err(&long[4..])]);
    let cut = [0, 1, 0, 4, 0, 2, 0];
    assert_eq!(walk(&cut), [Ok(&cut[..4]), Err(&cut[4..])]);
    assert_eq!(walk(&[]), []);
}
