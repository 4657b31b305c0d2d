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
        self.send_on(terminal(), to, answer)
    }

    fn send_on(&self, (mut master, slave): (File, File), to: &str, answer: &str) -> (bool, String) {
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
    for what in [key.as_str(), "--json", "terminal", "--to", "whimbrel pair"] {
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

/// What is typed before the key can be read is no yes to it.
#[test]
fn an_answer_before_the_question_is_none() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (_receiver, address) = robot.recv("127.0.0.1:0", &["--anyone"]);
    let (mut master, slave) = terminal();
    master.write_all(b"yes\n").unwrap();
    let (sent, shown) = laptop.send_on((master, slave), &address, "no");
    assert!(!sent && shown.contains("not confirmed"), "{shown}");
    assert!(!robot.has_film() && laptop.known().is_empty());
}

/// Of several addresses the one that was met is known, and not those at which nobody was.
#[test]
fn only_where_it_was_met_a_host_is_known() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (_receiver, address) = robot.recv("127.0.0.1:0", &["--anyone"]);
    let (sent, shown) = laptop.send_and_answer(&format!("{address},nowhere.invalid,{address}"), "yes");
    assert!(sent, "{shown}");
    let known = laptop.known();
    assert_eq!(known.matches("whk1").count(), 1, "{known}");
    assert!(known.contains(&address), "{known}");
}

/// Somebody on the way can make it look as if a host did not encrypt. Who was met does, and nobody is told to go in clear.
#[test]
fn a_host_that_was_met_gets_nothing_in_clear() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (mut receiver, address) = robot.recv("127.0.0.1:0", &["--anyone", "--once"]);
    assert!(laptop.send_and_answer(&address, "yes").0);
    assert_eq!(receiver.finish().0, 0);
    let other = Host::new();
    let _receiver = other.recv(&address, &["--anyone", "--insecure"]);
    let told = text(&laptop.send(&address));
    assert!(told.contains("nothing was sent") && !told.contains("--insecure"), "{told}");
    let mut command = whimbrel();
    command.args(["send", "--insecure", "--to", &address]).arg(laptop.path().join("film.mkv"));
    let output = command.env("XDG_CONFIG_HOME", laptop.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("leave --insecure out"), "{}", text(&output));
    assert!(!other.has_film());
}

/// Options that exclude `--insecure` do not excuse from saying it.
#[test]
fn a_shared_key_alone_puts_nothing_in_clear() {
    let host = Host::new();
    let (key, ticket) = (host.path().join("k"), host.path().join("t"));
    std::fs::write(&key, "1 00112233445566778899aabbccddeeff\n").unwrap();
    let (key, ticket) = (key.to_str().unwrap(), ticket.to_str().unwrap());
    let film = host.path().join("film.mkv");
    let incoming = host.path().join("in");
    let (film, incoming) = (film.to_str().unwrap(), incoming.to_str().unwrap());
    let recv = ["recv", "--listen", "127.0.0.1:0", "--dir", incoming];
    let server = ["perf", "server", "--listen", "127.0.0.1:0"];
    for arguments in [
        &[&recv[..], &["--paired"]].concat(),
        &[&recv[..], &["--ticket-file", ticket]].concat(),
        &[&recv[..], &["--detach"]].concat(),
        &recv.to_vec(),
        &[&server[..], &["--ticket-file", ticket]].concat(),
        &["send", film, "--ticket-file", ticket].to_vec(),
        &["send", film, "--ssh", "robot"].to_vec(),
        &["perf", "client", "--to", "192.0.2.7"].to_vec(),
    ] {
        let mut command = whimbrel();
        command.args(arguments).args(["--auth-key-file", key]).env("XDG_CONFIG_HOME", host.path());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains("say --insecure, too"), "{arguments:?}: {}", text(&output));
    }
}

#[test]
fn where_a_paired_host_was_another_one_is_not_met() {
    let (robot, laptop) = (Host::new(), Host::new());
    let (_receiver, address) = robot.recv("127.0.0.1:0", &["--anyone"]);
    let other = whimbrel().arg("key").env("XDG_CONFIG_HOME", laptop.path().join("in")).output().unwrap();
    let key = String::from_utf8(other.stdout).unwrap();
    std::fs::create_dir_all(laptop.path().join("whimbrel")).unwrap();
    std::fs::write(laptop.path().join("whimbrel/peers"), format!("robot {} {address}\n", key.trim()))
        .unwrap();
    let (sent, shown) = laptop.send_and_answer(&address, "yes");
    assert!(!sent && shown.contains("is where robot was"), "{shown}");
    assert!(!robot.has_film());
}
