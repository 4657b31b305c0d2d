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
    known.add("192.0.2.7", key(1)).unwrap();
    known.add("[2001:db8::7]:9900", key(1)).unwrap();
    known.add("robot.example", key(2)).unwrap();
    let again = Known::read(in_file(&directory)).unwrap();
    assert_eq!(again.key_at("192.0.2.7"), Some(key(1)));
    assert_eq!(again.key_at("[2001:db8::7]:9900"), Some(key(1)));
    assert_eq!(again.key_at("robot.example"), Some(key(2)));
    assert_eq!(again.key_at("192.0.2.7:9900"), None, "another port may be another host");
}

/// Comments stay, and a place has one key: nobody but the user takes it out.
#[test]
fn a_place_has_one_key() {
    let directory = TempDir::new().unwrap();
    let mut known = Known::read(in_file(&directory)).unwrap();
    let mut beside = Known::read(in_file(&directory)).unwrap();
    known.add("192.0.2.7", key(1)).unwrap();
    known.add("192.0.2.7", key(1)).unwrap();
    let text = std::fs::read_to_string(in_file(&directory)).unwrap();
    assert_eq!(text.matches("192.0.2.7").count(), 1);
    std::fs::write(in_file(&directory), format!("{text}# mine")).unwrap();
    let error = beside.add("192.0.2.7", key(2)).unwrap_err().to_string();
    assert!(error.contains("another key") && error.contains(&key(1).to_string()), "{error}");
    beside.add("192.0.2.8", key(2)).unwrap();
    let text = std::fs::read_to_string(in_file(&directory)).unwrap();
    assert!(text.starts_with("# Hosts") && text.contains("# mine\n192.0.2.8 "), "{text}");
    std::fs::write(in_file(&directory), format!("{text}192.0.2.7:9899 {}\n", key(2))).unwrap();
    let error = Known::read(in_file(&directory)).unwrap_err().to_string();
    assert!(error.contains("192.0.2.7 has another key"), "{error}");
}

/// People write addresses in many ways.
#[test]
fn a_place_is_one_however_it_is_written() {
    let directory = TempDir::new().unwrap();
    std::fs::create_dir(directory.path().join("whimbrel")).unwrap();
    for (written, place) in [
        ("192.0.2.7:9899", "192.0.2.7"),
        ("[::ffff:192.0.2.7]:9950", "192.0.2.7:9950"),
        ("Robot.Example", "robot.example"),
        ("[2001:db8:0::7]", "2001:db8::7"),
        ("fe80::7%gone0", "fe80::7%gone0"),
    ] {
        std::fs::write(in_file(&directory), format!("{written} {}\n", key(3))).unwrap();
        assert_eq!(Known::read(in_file(&directory)).unwrap().key_at(place), Some(key(3)), "{written}");
    }
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
