use proptest::prelude::*;

use super::*;

fn path(names: &[&[u8]]) -> RelativePath {
    RelativePath::unchecked(names.iter().map(|name| name.to_vec()).collect())
}

#[test]
fn hostile_names_are_refused() {
    let cases: &[(&[&[u8]], BadName)] = &[
        (&[], BadName::Empty),
        (&[b""], BadName::Empty),
        (&[b"a", b""], BadName::Empty),
        (&[b".."], BadName::Dots),
        (&[b"a", b"..", b"b"], BadName::Dots),
        (&[b"."], BadName::Dots),
        (&[b"/etc/passwd"], BadName::Separator),
        (&[b"..\\up"], BadName::Separator),
        (&[b"a\0b"], BadName::Separator),
        (&[&[b'x'; 256]], BadName::TooLong),
        (&[b"x".as_slice(); 65], BadName::TooDeep),
        (&[[b'x'; 255].as_slice(); 20], BadName::TooDeep),
        (&[b".whimbrel-partial", b"x"], BadName::Reserved),
        (&[b".WHIMBREL-Partial"], BadName::Reserved),
    ];
    for (names, error) in cases {
        assert_eq!(path(names).check(), Err(*error), "{names:?}");
    }
}

#[test]
fn ordinary_and_odd_names_pass() {
    for names in [&[b"a.txt".as_slice()] as &[&[u8]], &[b"...", b"-rf *", b"\xff\xfe"], &[&[b'x'; 255]]] {
        assert_eq!(path(names).check(), Ok(()), "{names:?}");
    }
}

#[test]
fn names_cannot_play_with_the_terminal() {
    let shown = path(&[b"a\x1b[2Jb", "x\u{202e}gpj.exe".as_bytes(), b"it's \"ok\"\n"]).to_string();
    assert_eq!(shown, "a\\u{1b}[2Jb/x\\u{202e}gpj.exe/it's \"ok\"\\n");
}

#[test]
fn what_is_shown_of_a_name_has_an_end() {
    let shown = path(&[[b'x'; 255].as_slice(); 255]).to_string();
    assert!(shown.len() <= MAX_PATH + 8 && shown.ends_with("/…"), "{}", shown.len());
    assert_eq!(path(&[b"".as_slice(); 255]).to_string().matches('/').count(), MAX_DEPTH);
}

proptest! {
    /// Whatever passes the check stays below the directory when it is joined naively.
    #[test]
    fn checked_paths_stay_below(names in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..8), 0..4)) {
        let path = RelativePath::unchecked(names);
        if path.check().is_ok() {
            let joined: Vec<_> = path.components().iter().map(|name| OsStr::from_bytes(name)).collect();
            let joined: std::path::PathBuf = joined.iter().collect();
            prop_assert_eq!(joined.components().count(), path.components().len());
            prop_assert!(joined.components().all(|part| matches!(part, std::path::Component::Normal(_))));
        }
    }
}

/// Programs can tell two names apart that look the same.
#[test]
fn names_that_are_not_shown_as_they_are_have_their_bytes_beside_them() {
    let encoded =
        |names: &[&[u8]]| RelativePath::unchecked(names.iter().map(|name| name.to_vec()).collect()).encoded();
    assert_eq!(encoded(&[b"a b", "\u{e9}t\u{e9}".as_bytes()]), None);
    assert_eq!(encoded(&[b"a", b"\xff"]).unwrap(), "a/%FF");
    assert_eq!(encoded(&[b"a", b"\xfe"]).unwrap(), "a/%FE");
    assert_eq!(encoded(&["\u{fffd}".as_bytes()]), None);
    assert_eq!(encoded(&[b"a\n%"]).unwrap(), "a%0A%25");
    assert_eq!(encoded(&[b"a\\n"]), None);
    assert_eq!(encoded(&[b"a/b"]).unwrap(), "a%2Fb");
    assert_eq!(encoded(&[&[0xff; MAX_PATH]]), None, "no longer than what is accepted");
}
