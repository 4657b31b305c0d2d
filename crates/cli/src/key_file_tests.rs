use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

const KEY: &str = "000102030405060708090a0b0c0d0e0f";

fn refusal(text: &str) -> String {
    format!("{:#}", parse(text).expect_err(text))
}

#[test]
fn keys_are_read_as_hex_and_base64() {
    let text = format!("# two keys\n\n7 {KEY}\n8 base64:AAECAwQFBgcICQoLDA0ODw==\n 9 hex:{KEY} \n");
    let keys = parse(&text).unwrap();
    assert_eq!(keys.active(), 7, "the first one");
    let mut expected = SharedKeys::new(7, SharedSecret::new((0..16).collect::<Vec<u8>>()));
    for id in [8, 9] {
        expected.set(id, SharedSecret::new((0..16).collect::<Vec<u8>>())).unwrap();
    }
    assert_eq!(keys, expected);
}

#[test]
fn base64_is_that_of_rfc_4648() {
    for (text, bytes) in
        [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar"), ("Zm8", "fo")]
    {
        assert_eq!(base64(text).unwrap(), bytes.as_bytes(), "{text}");
    }
    assert_eq!(base64("+/+/"), Some(vec![0xfb, 0xff, 0xbf]));
    for text in ["Z", "Zm9vY", "Zm 9v", "Zm9v!", "Zh=="] {
        assert_eq!(base64(text), None, "{text}");
    }
}

#[test]
fn errors_say_where_and_never_show_a_key() {
    for (text, words) in [
        ("", "no key in it"),
        ("# nothing\n", "no key in it"),
        (KEY, "line 1: expected `ID KEY`"),
        (&format!("0 {KEY}"), "line 1: expected `ID KEY`"),
        (&format!("65536 {KEY}"), "line 1: expected `ID KEY`"),
        (&format!("1 {KEY}\n1 {KEY}"), "line 2: there is a key 1 already"),
        (&format!("\n\n1 {KEY}0"), "line 3: the key is not hex"),
        ("1 secretsecretsecret", "not hex (put base64: before"),
        ("1 base64:se*cret", "not base64"),
        ("1 0011", "the key has 2 bytes; 16 to 256 are needed"),
        (&format!("1 {}", "00".repeat(257)), "257 bytes"),
    ] {
        let error = refusal(text);
        assert!(error.contains(words), "{text:?}: {error}");
        assert!(!error.contains(KEY) && !error.contains("cret"), "{error}");
    }
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("key");
    std::fs::write(&path, format!("1 {KEY}\n")).unwrap();
    let set_mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o600);
    read(&path).unwrap();
    set_mode(0o400);
    read(&path).unwrap();
    for mode in [0o644, 0o640, 0o620, 0o604] {
        set_mode(mode);
        let error = format!("{:#}", read(&path).unwrap_err());
        assert!(error.contains("chmod 600") && error.contains(&format!("{mode:04o}")), "{error}");
    }
    let missing = format!("{:#}", read(&directory.path().join("none")).unwrap_err());
    assert!(missing.contains("none") && missing.contains("No such file"), "{missing}");
    let error = format!("{:#}", read(directory.path()).unwrap_err());
    assert!(error.contains("not a regular file"), "{error}");
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = format!("{:#}", read(&pipe).unwrap_err());
    assert!(error.contains("not a regular file"), "{error}");
}
