use proptest::prelude::*;

use super::*;

/// RFC 4648 section 10, without padding.
#[test]
fn reads_and_writes_the_vectors() {
    for (bytes, text) in [
        ("", ""),
        ("f", "my"),
        ("fo", "mzxq"),
        ("foo", "mzxw6"),
        ("foob", "mzxw6yq"),
        ("fooba", "mzxw6ytb"),
        ("foobar", "mzxw6ytboi"),
    ] {
        assert_eq!(encode(bytes.as_bytes()), text);
        assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        assert_eq!(decode(&text.to_uppercase()).as_deref(), Some(bytes.as_bytes()));
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
    }

    #[test]
    fn each_text_is_one_of_some_bytes_or_refused(text in "[a-z2-7]{0,60}") {
        if let Some(bytes) = decode(&text) {
            prop_assert_eq!(encode(&bytes), text);
        }
    }
}

#[test]
fn other_letters_are_refused() {
    for text in ["m1", "m y", "m", "mz=", "mzxr", "ä"] {
        assert_eq!(decode(text), None, "{text}");
    }
}
