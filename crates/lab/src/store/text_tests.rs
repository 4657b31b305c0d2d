use super::*;

#[test]
fn what_is_no_text_is_said_with_its_line_and_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        text(&path).map(Option::unwrap).map_err(|error| error.to_string())
    };
    assert_eq!(read("a\n\u{e9}\n".as_bytes()).unwrap(), "a\n\u{e9}\n");
    let error = read(b"a\nb\nc\xff\nd\n").unwrap_err();
    assert!(error.contains("a.csv: line 3 is no text (UTF-8)") && error.contains("remove it"), "{error}");
    let error = read(b"\xff\n").unwrap_err();
    assert!(error.contains("line 1 is no text"), "{error}");
    assert_eq!(text(&directory.path().join("b")).unwrap(), None);
}

/// Whoever reads lines sees that it has no end.
#[test]
fn a_last_line_that_was_cut_off_within_a_letter_is_cut_off() {
    for bytes in [&b"a\nb\xc3"[..], b"a\n\xc3"] {
        let text = decoded(bytes.to_vec()).unwrap();
        assert!(text.starts_with("a\n") && !text.ends_with('\n'), "{text:?}");
    }
}
