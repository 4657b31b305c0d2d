//! Hosts that are named by an address alone: the user is asked once whether the key that is there is the right one.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use common::{Running, events, whimbrel};
use tempfile::TempDir;

/// A host with a home of its own, from which and into which files go.
struct Host(TempDir);

impl Host {
    fn new() -> Self {
        let host = Self(TempDir::new().unwrap());
        std::fs::write(host.path().join("film.mkv"), vec![7; 200_000]).unwrap();
        std::fs::create_dir(host.path().join("in")).unwrap();
        host
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// `recv` at this address, and the address that it has then.
    fn recv(&self, listen: &str, more: &[&str]) -> (Running, String) {
        let incoming = self.path().join("in");
        let arguments =
            ["recv", "--json", "--no-sync", "--listen", listen, "--dir", incoming.to_str().unwrap()];
        let mut receiver =
            Running::start_with(&[&arguments, more].concat(), &[("XDG_CONFIG_HOME", self.path())]);
        let address = receiver.event("listening")["addresses"][0].as_str().unwrap().to_owned();
        (receiver, address)
    }

    fn send(&self, to: &str) -> Output {
        let mut command = whimbrel();
        command.args(["send", "--json", "--retry", "5", "--to", to]).arg(self.path().join("film.mkv"));
        command.env("XDG_CONFIG_HOME", self.path()).output().unwrap()
    }

    /// The same on a terminal whose user answers like this; whether it went well, and what was shown.
    fn send_and_answer(&self, to: &str, answer: &str) -> (bool, String) {
        let (mut master, slave) = terminal();
        let mut command = whimbrel();
        command.args(["send", "--retry", "5", "--to", to]).arg(self.path().join("film.mkv"));
        command.env("XDG_CONFIG_HOME", self.path());
        command.stdin(slave.try_clone().unwrap()).stdout(Stdio::null()).stderr(slave);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut shown = Vec::new();
        let mut buffer = [0; 4096];
        let mut asked = false;
        // When nobody has the other side any more, reading fails.
        while let Ok(bytes @ 1..) = master.read(&mut buffer) {
            shown.extend(&buffer[..bytes]);
            if !asked && String::from_utf8_lossy(&shown).contains("[yes/no]") {
                asked = true;
                master.write_all(format!("{answer}\n").as_bytes()).unwrap();
            }
        }
        (child.wait().unwrap().success(), String::from_utf8_lossy(&shown).into_owned())
    }

    fn has_film(&self) -> bool {
        self.path().join("in/film.mkv").exists()
    }

    fn known(&self) -> String {
        std::fs::read_to_string(self.path().join("whimbrel/known")).unwrap_or_default()
    }
}

/// Both sides of a terminal.
fn terminal() -> (File, File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (master.into(), slave)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_stranger_is_met_once() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (mut receiver, address) = robot.recv("127.0.0.1:0", &["--anyone", "--once", "--rename"]);
    let key = receiver.event("key")["key"].as_str().unwrap().to_owned();
    let (sent, shown) = laptop.send_and_answer(&address, "yes");
    assert!(sent && robot.has_film(), "{shown}");
    assert!(shown.contains(&key) && shown.contains("has not been met before"), "{shown}");
    assert!(laptop.known().contains(&format!("{address} {key}\n")), "{}", laptop.known());
    assert_eq!(receiver.finish().0, 0);
    // From then on nobody is asked.
    let (mut receiver, _) = robot.recv(&address, &["--anyone", "--once", "--rename"]);
    let output = laptop.send(&address);
    assert!(output.status.success(), "{}", text(&output));
    let connected = &events(&output, "connected")[0];
    assert_eq!((&connected["protected"], &connected["key"]), (&true.into(), &key.as_str().into()));
    assert_eq!(receiver.finish().0, 0);
    // And another host at that address is refused, whoever it takes files from.
    let other = Host::new();
    let _receiver = other.recv(&address, &["--anyone"]);
    let output = laptop.send(&address);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let told = text(&output);
    assert!(
        told.contains("another host is there than the one that was met") && told.contains(&key),
        "{told}"
    );
    assert!(!other.has_film());
}

#[test]
fn a_stranger_whose_key_is_not_the_right_one_gets_nothing() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (_receiver, address) = robot.recv("127.0.0.1:0", &["--anyone"]);
    for answer in ["no", "", "maybe"] {
        let (sent, shown) = laptop.send_and_answer(&address, answer);
        assert!(!sent && shown.contains("not confirmed"), "{answer}: {shown}");
    }
    assert!(!robot.has_film() && laptop.known().is_empty());
}

#[test]
fn where_nobody_can_be_asked_a_stranger_is_refused_with_what_to_do() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (mut receiver, address) = robot.recv("127.0.0.1:0", &["--anyone"]);
    let key = receiver.event("key")["key"].as_str().unwrap().to_owned();
    let output = laptop.send(&address);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for what in [key.as_str(), "--to", "whimbrel pair", "--ssh", "--insecure"] {
        assert!(told.contains(what), "{what}: {told}");
    }
    assert!(!robot.has_film());
}

/// Nothing is sent in clear unless both say so.
#[test]
fn a_receiver_in_clear_gets_nothing_by_mistake() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (_receiver, address) = robot.recv("127.0.0.1:0", &["--anyone", "--insecure"]);
    let output = laptop.send(&address);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("does not encrypt"), "{}", text(&output));
    assert!(!robot.has_film());
}

/// It is the receiver's turn to know who sends.
#[test]
fn a_stranger_is_not_taken_from_either() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (_receiver, address) = robot.recv("127.0.0.1:0", &[]);
    let (sent, shown) = laptop.send_and_answer(&address, "yes");
    assert!(!sent && shown.contains("does not know this one"), "{shown}");
    assert!(!robot.has_film());
}

#[test]
fn measurements_are_no_exception() {
    let (robot, laptop) = (Host::new(), Host::new());
    let environment = [("XDG_CONFIG_HOME", robot.path())];
    let arguments = ["perf", "server", "--json", "--anyone", "--listen", "127.0.0.1:0"];
    let mut server = Running::start_with(&arguments, &environment);
    let address = server.event("listening")["addresses"][0].as_str().unwrap().to_owned();
    let measure = || {
        let mut command = whimbrel();
        command.args(["perf", "client", "--json", "--bytes", "300000", "--size", "1000", "--to", &address]);
        command.env("XDG_CONFIG_HOME", laptop.path()).output().unwrap()
    };
    let output = measure();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let told = text(&output);
    let from = told.find("whk1").unwrap_or_else(|| panic!("{told}"));
    let key = &told[from..from + 56];
    std::fs::create_dir_all(laptop.path().join("whimbrel")).unwrap();
    std::fs::write(laptop.path().join("whimbrel/known"), format!("{address} {key}\n")).unwrap();
    let output = measure();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(events(&output, "connected")[0]["protected"], true);
}
