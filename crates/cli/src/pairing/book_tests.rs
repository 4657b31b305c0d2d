use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use whimbrel::secure::Identity;

use super::*;

fn host(name: &str, seed: u8) -> Paired {
    let key = Identity::from_seed(&[seed; 32]).public_key();
    Paired::new(name, key, vec!["192.0.2.7".into(), "[2001:db8::7]:9900".into()]).unwrap()
}

fn book() -> (tempfile::TempDir, Book) {
    let directory = tempfile::TempDir::new().unwrap();
    let book = Book::read(directory.path().join("whimbrel/peers")).unwrap();
    (directory, book)
}

#[test]
fn what_is_added_is_there_the_next_time() {
    let (_directory, mut book) = book();
    book.add(host("robot", 1)).unwrap();
    book.add(host("laptop", 2)).unwrap();
    let again = Book::read(book.path.clone()).unwrap();
    assert_eq!(again.hosts(), [host("robot", 1), host("laptop", 2)]);
    let mode = std::fs::metadata(&book.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "for its owner alone");
}

#[test]
fn a_name_is_of_one_host_and_a_key_has_one_name() {
    let (_directory, mut book) = book();
    book.add(host("robot", 1)).unwrap();
    let error = book.add(host("robot", 2)).unwrap_err().to_string();
    assert!(error.contains("another host") && error.contains("--forget robot"), "{error}");
    book.add(host("rover", 1)).unwrap();
    assert_eq!(book.hosts(), [host("rover", 1)]);
    assert_eq!(Book::read(book.path.clone()).unwrap().hosts(), [host("rover", 1)]);
}

#[test]
fn comments_stay_and_who_is_forgotten_goes() {
    let (directory, _) = book();
    let path = directory.path().join("peers");
    let text = format!("# mine\n{}\n\n  # and\n{}\n", host("robot", 1), host("laptop", 2));
    std::fs::write(&path, text).unwrap();
    assert!(!forget_in(&path, "nobody").unwrap());
    assert!(forget_in(&path, "robot").unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("# mine\n\n  # and\n{}\n", host("laptop", 2)));
}

/// Whoever can write there could let himself in.
#[test]
fn a_file_that_others_can_change_is_refused() {
    let (directory, _) = book();
    let path = directory.path().join("peers");
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o664)).unwrap();
    assert!(Book::read(path).unwrap_err().to_string().contains("chmod go-w"));
}

#[test]
fn a_line_that_is_not_understood_is_named() {
    let (directory, _) = book();
    let path = directory.path().join("peers");
    let key = host("robot", 1).key;
    for line in [
        "robot".to_owned(),
        "robot whk1abc 192.0.2.7".to_owned(),
        format!("192.0.2.7 {key}"),
        format!("ro/bot {key}"),
        format!("robot {key} 192.0.2.7 and more"),
    ] {
        std::fs::write(&path, format!("# first\n{line}\n")).unwrap();
        let error = format!("{:#}", Book::read(path.clone()).unwrap_err());
        assert!(error.contains("line 2"), "{line}: {error}");
    }
}

/// Nobody's words are lost, whoever else writes at the same time, and a line that is not understood keeps nobody from taking one out.
#[test]
fn what_others_write_meanwhile_stays() {
    let (_directory, book) = book();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let path = book.path.clone();
            scope.spawn(move || {
                let mut stale = Book::read(path).unwrap();
                stale.add(host(&format!("h{number}"), number)).unwrap();
            });
        }
    });
    assert_eq!(Book::read(book.path.clone()).unwrap().hosts().len(), 16);
    std::thread::scope(|scope| {
        for number in 0..15 {
            let path = &book.path;
            scope.spawn(move || assert!(forget_in(path, &format!("h{number}")).unwrap()));
        }
    });
    assert_eq!(Book::read(book.path.clone()).unwrap().hosts(), [host("h15", 15)]);
    let broken = format!("{}what is this\n", std::fs::read_to_string(&book.path).unwrap());
    std::fs::write(&book.path, broken).unwrap();
    assert!(forget_in(&book.path, "h15").unwrap() && forget_in(&book.path, "what").unwrap());
}

/// The file can be read again whatever has been added.
#[test]
fn no_address_breaks_the_file() {
    let key = host("robot", 1).key;
    for address in ["", " 192.0.2.8", "192.0.2.8,192.0.2.9", "192.0.2.8\nevil", "a\tb"] {
        assert!(Paired::new("robot", key, vec![address.into()]).is_err(), "{address:?}");
    }
    // A link that is not there now.
    let line = format!("robot {key} fe80::1%nosuch,192.0.2.7");
    assert_eq!(line.parse::<Paired>().unwrap().addresses().count(), 1);
}

/// No name can be taken for something else after `--to`.
#[test]
fn names_are_names() {
    for good in ["robot", "robot-2", "7of9", "a.b_c"] {
        check_name(good).unwrap();
    }
    for bad in [
        "",
        "any",
        "localhost",
        "192.0.2.7",
        "7",
        "::1",
        "whm1x",
        "a b",
        "a,b",
        "a:1",
        "é",
        "--help",
        ".a",
        "LocalHost",
        "WHM1x",
        &"x".repeat(65),
    ] {
        assert!(check_name(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn no_line_makes_it_panic(line in "\\PC{0,200}") {
        let _ = line.parse::<Paired>();
    }

    #[test]
    fn a_host_is_read_as_it_was_written(name in "[a-z][a-z0-9._-]{0,20}", seed in any::<u8>()) {
        prop_assume!(check_name(&name).is_ok());
        let host = host(&name, seed);
        prop_assert_eq!(host.to_string().parse::<Paired>().unwrap(), host);
    }
}
