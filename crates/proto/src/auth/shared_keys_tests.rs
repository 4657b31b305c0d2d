use super::*;

#[test]
fn by_default_there_is_the_null_key() {
    let keys = SharedKeys::default();
    assert_eq!(keys.active(), 0);
    assert_eq!(keys.get(0).map(SharedSecret::bytes), Some(&[][..]));
}

/// RFC 4895 §9: a null key besides a real one would be an open back door.
#[test]
fn a_real_key_comes_without_the_null_key() {
    let keys = SharedKeys::new(7, SharedSecret::new(*b"secret"));
    assert_eq!((keys.active(), keys.get(0)), (7, None));
}

/// RFC 6458 §8.1.18, §8.3.5.
#[test]
fn keys_are_rolled_over_in_order() {
    let mut keys = SharedKeys::new(1, SharedSecret::new(*b"one"));
    assert_eq!(keys.activate(2), Err(AuthKeyError::Unknown));
    assert_eq!(keys.delete(1), Err(AuthKeyError::Active));
    keys.set(2, SharedSecret::new(*b"two")).unwrap();
    assert_eq!(keys.active(), 1, "a new key is not used before it is activated");
    keys.activate(2).unwrap();
    keys.delete(1).unwrap();
    assert_eq!(keys.delete(1), Err(AuthKeyError::Unknown));
    assert_eq!((keys.active(), keys.get(1)), (2, None));
}

#[test]
fn the_number_of_keys_is_bounded() {
    let mut keys = SharedKeys::default();
    for id in 1..64 {
        keys.set(id, SharedSecret::null()).unwrap();
    }
    assert_eq!(keys.set(64, SharedSecret::null()), Err(AuthKeyError::TooMany));
    keys.set(63, SharedSecret::new(*b"replaced")).unwrap();
}

#[test]
fn no_secret_is_shown() {
    let keys = SharedKeys::new(7, SharedSecret::new(*b"hunter2"));
    let shown = format!("{keys:?} {keys:#?}");
    assert!(!shown.contains("hunter2") && !shown.contains("104"), "{shown}");
}
