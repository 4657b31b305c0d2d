//! `whimbrel gateway`, as far as it needs no rights.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{events, whimbrel};
use tempfile::TempDir;

const NORTH: &str = include_str!("../../gateway/examples/north.toml");

/// Checks a file that has this at its head and its end, with a home directory that is empty but for it.
fn check(home: &Path, head: &str, more: &str, options: &[&str]) -> Output {
    let file = home.join("north.toml");
    std::fs::write(&file, format!("{head}\n{NORTH}\n{more}")).unwrap();
    at_home(home).args(["gateway", "run", "--check"]).args(options).arg(&file).output().unwrap()
}

fn at_home(home: &Path) -> Command {
    let mut command = whimbrel();
    command.env("HOME", home).env_remove("XDG_CONFIG_HOME");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const USERS: &str = "[plain-sip]\n[[plain-sip.users]]\nname = \"alice\"\npassword = \"p\"\n\
     [[plain-sip.users]]\nname = \"bob\"\npassword = \"q\"\n";

#[test]
fn a_check_counts_whom_the_file_names() {
    let home = TempDir::new().unwrap();
    let plain = check(home.path(), "", "", &[]);
    assert!(text(&plain.stdout).contains("is good: 1 other gateways, 2 hosts\n"), "{plain:?}");
    let with = check(home.path(), "", USERS, &[]);
    assert!(text(&with.stdout).contains("2 hosts, 2 users of SIP in clear\n"), "{with:?}");
    for (more, users) in [("", 0), (USERS, 2)] {
        let checked = &events(&check(home.path(), "", more, &["--json"]), "checked")[0];
        let counts = ["gateways", "hosts", "users"].map(|of| checked[of].as_u64());
        assert_eq!(counts, [Some(1), Some(2), Some(users)]);
    }
}

/// All of it at once, by the user that it is about, and without a password.
#[test]
fn a_check_says_what_is_wrong_with_users() {
    let home = TempDir::new().unwrap();
    let wrong = USERS
        .replace("bob", "alice")
        .replace("\"q\"", "\"\"")
        .replace("[plain-sip]", "[plain-sip]\ndigests = []");
    let checked = check(home.path(), "", &wrong, &[]);
    assert_eq!(checked.status.code(), Some(1));
    for complaint in [
        "plain-sip.users: two are called alice",
        "alice has an empty password",
        "plain-sip.digests: nobody could prove",
    ] {
        assert!(text(&checked.stderr).contains(complaint), "{checked:?}");
    }
}

/// The key is made by who runs the gateway, and not by who looks at its file.
#[test]
fn a_check_makes_nothing() {
    let home = TempDir::new().unwrap();
    let key_file = home.path().join("keys/gateway");
    let head = format!("key-file = {key_file:?}");
    for (head, place) in [("", home.path().join(".config/whimbrel/key")), (&head, key_file)] {
        let checked = check(home.path(), head, "", &[]);
        let missing =
            format!("there is no key yet; the gateway makes one when it begins: {}", place.display());
        assert!(checked.status.success() && text(&checked.stdout).contains(&missing), "{checked:?}");
        assert!(events(&check(home.path(), head, "", &["--json"]), "checked")[0]["key"].is_null());
        let there = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(there.collect::<Vec<_>>(), ["north.toml"]);
    }
}

#[test]
fn a_check_shows_the_key_that_there_is() {
    let home = TempDir::new().unwrap();
    let key = text(&at_home(home.path()).arg("key").output().unwrap().stdout);
    let checked = text(&check(home.path(), "", "", &[]).stdout);
    let shown = checked.split("this gateway's key: ").nth(1).unwrap().trim();
    assert!(shown.starts_with("whk1") && key.contains(shown), "{checked} {key}");
}
