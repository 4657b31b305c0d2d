use tempfile::TempDir;
use whimbrel::secure::Identity;

use super::*;

fn key(n: u8) -> PublicKey {
    Identity::from_seed(&[n; 32]).public_key()
}

fn in_file(directory: &TempDir) -> PathBuf {
    directory.path().join("whimbrel/known")
}

#[test]
fn who_was_met_is_known_from_then_on() {
    let directory = TempDir::new().unwrap();
    let mut known = Known::read(in_file(&directory)).unwrap();
    assert_eq!(known.key_at("192.0.2.7"), None);
    known.add(&["192.0.2.7".into(), "[2001:db8::7]:9900".into()], key(1)).unwrap();
    known.add(&["robot.example".into()], key(2)).unwrap();
    let again = Known::read(in_file(&directory)).unwrap();
    assert_eq!(again.key_at("192.0.2.7"), Some(key(1)));
    assert_eq!(again.key_at("[2001:db8::7]:9900"), Some(key(1)));
    assert_eq!(again.key_at("robot.example"), Some(key(2)));
    assert_eq!(again.key_at("192.0.2.7:9900"), None, "another port may be another host");
}

/// Comments stay, and a place has one key.
#[test]
fn a_place_has_one_key() {
    let directory = TempDir::new().unwrap();
    let mut known = Known::read(in_file(&directory)).unwrap();
    known.add(&["192.0.2.7".into()], key(1)).unwrap();
    let text = std::fs::read_to_string(in_file(&directory)).unwrap();
    std::fs::write(in_file(&directory), format!("{text}# mine\n")).unwrap();
    known.add(&["192.0.2.7".into()], key(2)).unwrap();
    assert_eq!(known.key_at("192.0.2.7"), Some(key(2)));
    let text = std::fs::read_to_string(in_file(&directory)).unwrap();
    assert!(text.starts_with("# Hosts") && text.contains("# mine") && !text.contains(&key(1).to_string()));
}

#[test]
fn a_line_that_is_not_understood_is_no_other_host() {
    let directory = TempDir::new().unwrap();
    std::fs::create_dir(directory.path().join("whimbrel")).unwrap();
    for line in ["192.0.2.7", "192.0.2.7 whk1abc", "192.0.2.7 a b"] {
        std::fs::write(in_file(&directory), format!("# Head\n{line}\n")).unwrap();
        let error = format!("{:#}", Known::read(in_file(&directory)).unwrap_err());
        assert!(error.contains("line 2"), "{error}");
    }
}
