//! Transfers that are encrypted, with tickets.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::path::Path;
use std::process::Output;

use common::{Running, events, whimbrel};
use serde_json::Value;
use tempfile::TempDir;

/// Two hosts' homes and directories, so that no key of whoever runs the tests is touched.
struct Place {
    home: TempDir,
    from: TempDir,
    to: TempDir,
}

fn place() -> Place {
    Place { home: TempDir::new().unwrap(), from: TempDir::new().unwrap(), to: TempDir::new().unwrap() }
}

impl Place {
    fn recv(&self, more: &[&str]) -> Running {
        let to = self.to.path().to_str().unwrap();
        let arguments = ["recv", "--json", "--no-sync", "--dir", to, "--listen", "127.0.0.1:0"];
        Running::start_with(&[&arguments, more].concat(), &[("XDG_CONFIG_HOME", self.home.path())])
    }

    fn send(&self, arguments: &[&str]) -> Output {
        let file = self.from.path().join("film.mkv");
        if !file.exists() {
            std::fs::write(&file, vec![7; 3_000_000]).unwrap();
        }
        let mut command = whimbrel();
        command.args(["send", "--json", "--retry", "5"]).arg(&file).args(arguments);
        command.env("XDG_CONFIG_HOME", self.from.path()).output().expect("the command runs")
    }

    fn arrived(&self) -> bool {
        std::fs::read(self.to.path().join("film.mkv")).is_ok_and(|content| content == vec![7; 3_000_000])
    }
}

fn ticket(receiver: &mut Running) -> String {
    receiver.event("ticket")["ticket"].as_str().expect("a ticket").to_owned()
}

fn connected(output: &Output) -> Value {
    events(output, "connected").into_iter().next().expect("it connected")
}

#[test]
fn a_ticket_is_all_that_a_sender_needs() {
    let place = place();
    let mut receiver = place.recv(&["--once"]);
    let may = receiver.event("listening")["may_write"].clone();
    assert_eq!(may["who"], "ticket-holders");
    let ticket = ticket(&mut receiver);
    let output = place.send(&["--to", &ticket]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(connected(&output)["protected"], true);
    assert_eq!(receiver.event("connected")["protected"], true);
    assert!(place.arrived());
    assert_eq!(receiver.finish().0, 0);
}

#[test]
fn who_has_no_ticket_gets_nowhere() {
    let place = place();
    let mut receiver = place.recv(&[]);
    let address = receiver.event("listening")["addresses"][0].as_str().unwrap().to_owned();
    ticket(&mut receiver);
    let output = place.send(&["--to", &address]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("has not been met before") && text.contains("give the ticket"), "{text}");
    let output = place.send(&["--insecure", "--to", &address]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("leave --insecure out"), "{text}");
    // A ticket of another receiver that happens to be at this address: its key is another, and so is the secret.
    let other = self::place();
    let mut stranger = other.recv(&[]);
    let foreign = ticket(&mut stranger);
    stranger.kill();
    let output = place.send(&["--to", &format!("{address},{foreign}")]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("another host is there"), "{text}");
    assert!(!place.arrived());
}

/// The receiver has the same key, and another secret.
#[test]
fn a_ticket_is_good_until_its_receiver_ends() {
    let place = place();
    let mut receiver = place.recv(&[]);
    let old = ticket(&mut receiver);
    receiver.kill();
    let mut receiver = place.recv(&[]);
    let address = receiver.event("listening")["addresses"][0].as_str().unwrap().to_owned();
    let output = place.send(&["--to", &format!("{address},{old}")]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the ticket is not good there any more"), "{text}");
    assert!(!place.arrived());
}

#[test]
fn a_ticket_in_a_file_stays_good() {
    let place = place();
    let file = place.home.path().join("ticket");
    let file = file.to_str().unwrap();
    let mut receiver = place.recv(&["--ticket-file", file]);
    receiver.event("listening");
    wait_for(Path::new(file));
    let before = std::fs::read_to_string(file).unwrap();
    receiver.kill();
    let mut receiver = place.recv(&["--ticket-file", file]);
    let address = receiver.event("listening")["addresses"][0].as_str().unwrap().to_owned();
    // The one from before, at the new address.
    let output = place.send(&["--to", &format!("{address},{}", before.trim())]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(place.arrived());
    let output = place.send(&["--ticket-file", file]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// A mistyped name costs nobody a file.
#[test]
fn what_is_no_ticket_is_left_alone() {
    let place = place();
    let film = place.home.path().join("film.mkv");
    std::fs::write(&film, "a film").unwrap();
    for (file, says) in [(film.to_str().unwrap(), "overwritten"), ("-", "for senders")] {
        let output = whimbrel()
            .args(["recv", "--listen", "127.0.0.1:0", "--ticket-file", file, "--dir"])
            .arg(place.home.path())
            .env("XDG_CONFIG_HOME", place.home.path())
            .output()
            .unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(says), "{said}");
    }
    assert_eq!(std::fs::read_to_string(film).unwrap(), "a film");
}

fn wait_for(file: &Path) {
    let deadline = std::time::Instant::now() + common::PATIENCE;
    while !file.exists() {
        assert!(std::time::Instant::now() < deadline, "no ticket");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_host_has_one_key() {
    let home = TempDir::new().unwrap();
    let key = |more: &[&str]| {
        let output = whimbrel().arg("key").args(more).env("XDG_CONFIG_HOME", home.path()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let first = key(&[]);
    assert!(first.starts_with("whk1") && first.len() == 57, "{first}");
    assert_eq!(key(&[]), first);
    let json: Value = serde_json::from_str(&key(&["--json"])).unwrap();
    assert_eq!(json["key"], first.trim());
    std::fs::write(home.path().join("whimbrel/key"), "something else").unwrap();
    let output = whimbrel().arg("key").env("XDG_CONFIG_HOME", home.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("move it away"));
}
