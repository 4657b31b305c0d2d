//! Hosts that know each other's keys, and receivers that are begun by ssh.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use common::{Running, events, wait_until, whimbrel};
use tempfile::TempDir;

/// A host with a key and a file of peers of its own.
struct Host {
    home: TempDir,
}

impl Host {
    fn new() -> Self {
        Self { home: TempDir::new().unwrap() }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command runs")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = whimbrel();
        command.args(arguments).env("XDG_CONFIG_HOME", self.path()).current_dir(self.path());
        command
    }

    fn start(&self, arguments: &[&str]) -> Running {
        Running::start_with(arguments, &[("XDG_CONFIG_HOME", self.path())])
    }

    fn peers(&self) -> String {
        std::fs::read_to_string(self.path().join("whimbrel/peers")).unwrap_or_default()
    }

    /// A receiver where the other host has been told that it is.
    fn recv(&self, port: u16, more: &[&str]) -> Running {
        let (dir, listen) = (self.path().to_str().unwrap(), format!("127.0.0.1:{port}"));
        let arguments = ["recv", "--json", "--no-sync", "--once", "--dir", dir, "--listen", &listen];
        self.start(&[&arguments, more].concat())
    }

    fn send(&self, arguments: &[&str]) -> Output {
        std::fs::write(self.path().join("film.mkv"), vec![7; 300_000]).unwrap();
        self.run(&[&["send", "--json", "--retry", "5", "film.mkv"], arguments].concat())
    }
}

/// A UDP port that nobody has.
fn free_port() -> u16 {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", String::from_utf8_lossy(&output.stderr))
}

/// Pairs `robot`, whose servers are at `port`, with `laptop`; what `laptop` said.
fn pair(robot: &Host, port: u16, laptop: &Host) -> Output {
    pair_as("robot", robot, port, laptop)
}

fn pair_as(name: &str, robot: &Host, port: u16, laptop: &Host) -> Output {
    let at = format!("127.0.0.1:{port}");
    let mut offer =
        robot.start(&["pair", "--json", "--listen", "127.0.0.1:0", "--at", &at, "--name", "laptop"]);
    let ticket = offer.event("ticket")["ticket"].as_str().unwrap().to_owned();
    let output = laptop.run(&["pair", "--json", &ticket, "--name", name]);
    if output.status.success() {
        assert_eq!(offer.event("paired")["name"], "laptop");
        assert_eq!(offer.finish().0, 0);
    }
    output
}

#[test]
fn paired_hosts_need_no_ticket() {
    let (robot, laptop, stranger, port) = (Host::new(), Host::new(), Host::new(), free_port());
    let output = pair(&robot, port, &laptop);
    assert!(output.status.success(), "{}", text(&output));
    let key = |host: &Host| String::from_utf8(host.run(&["key"]).stdout).unwrap().trim().to_owned();
    assert!(robot.peers().contains(&format!("laptop {}", key(&laptop))), "{}", robot.peers());
    assert!(
        laptop.peers().contains(&format!("robot {} 127.0.0.1:{port}", key(&robot))),
        "{}",
        laptop.peers()
    );
    let mut receiver = robot.recv(port, &["--paired"]);
    let may = receiver.event("listening")["may_write"].clone();
    assert_eq!((&may["who"], &may["paired"][0]), (&"paired".into(), &"laptop".into()));
    // Who is not paired gets nowhere, in clear or by a key of its own.
    let output = stranger.send(&["--to", &format!("127.0.0.1:{port}")]);
    assert!(!output.status.success());
    let output = laptop.send(&["--to", "robot"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(events(&output, "connected")[0]["protected"], true);
    assert!(robot.path().join("film.mkv").exists());
    assert_eq!(receiver.finish().0, 0);
}

#[test]
fn who_is_forgotten_may_send_no_more() {
    let (robot, laptop, port) = (Host::new(), Host::new(), free_port());
    assert!(pair(&robot, port, &laptop).status.success());
    assert!(text(&robot.run(&["peers"])).starts_with("laptop whk1"));
    assert!(robot.run(&["peers", "--forget", "laptop"]).status.success());
    assert!(text(&robot.run(&["recv", "--paired", "--dir", "."])).contains("no host is paired"));
    let mut receiver = robot.recv(port, &[]);
    receiver.event("ticket");
    let output = laptop.send(&["--to", "robot"]);
    assert!(!output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("robot does not know this host"), "{}", text(&output));
    assert!(!robot.path().join("film.mkv").exists());
    receiver.kill();
    // Another host at the same address, which would take the file, is not robot.
    let other = Host::new();
    assert!(pair_as("other", &other, port, &laptop).status.success());
    let mut receiver = other.recv(port, &[]);
    receiver.event("ticket");
    let output = laptop.send(&["--to", "robot"]);
    assert!(!output.status.success() && !other.path().join("film.mkv").exists(), "{}", text(&output));
    assert!(text(&output).contains("another host is there, not robot"), "{}", text(&output));
}

#[test]
fn a_receiver_that_runs_learns_who_is_paired_and_who_is_forgotten() {
    let (robot, laptop, port) = (Host::new(), Host::new(), free_port());
    let (directory, listen) = (robot.path().to_str().unwrap(), format!("127.0.0.1:{port}"));
    let mut receiver = robot.start(&["recv", "--json", "--no-sync", "--dir", directory, "--listen", &listen]);
    receiver.event("ticket");
    assert!(pair(&robot, port, &laptop).status.success());
    let news = receiver.event("peers");
    assert!(news["text"].as_str().unwrap().starts_with("laptop is paired"), "{news}");
    let output = laptop.send(&["--to", "robot"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(receiver.event("connected")["name"], "laptop");
    std::fs::remove_file(robot.path().join("film.mkv")).unwrap();
    assert!(robot.run(&["peers", "--forget", "laptop"]).status.success());
    let news = receiver.event("peers");
    assert!(news["text"].as_str().unwrap().starts_with("laptop is forgotten"), "{news}");
    let output = laptop.send(&["--to", "robot"]);
    assert!(text(&output).contains("robot does not know this host"), "{}", text(&output));
    assert!(!robot.path().join("film.mkv").exists());
}

#[test]
fn a_name_is_not_taken_from_a_host_and_a_ticket_is_for_its_own_command() {
    let (robot, laptop, other, port) = (Host::new(), Host::new(), Host::new(), free_port());
    assert!(pair(&robot, port, &laptop).status.success());
    let output = pair(&other, port, &laptop);
    assert!(text(&output).contains("another host here"), "{}", text(&output));
    assert!(text(&laptop.run(&["pair", "192.0.2.1"])).contains("expected the ticket"));
    let mut receiver = robot.recv(port, &[]);
    let ticket = receiver.event("ticket")["ticket"].as_str().unwrap().to_owned();
    let output = laptop.run(&["perf", "client", "--to", &ticket]);
    assert!(text(&output).contains("a ticket for `whimbrel send`"), "{}", text(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_name_that_nobody_has_may_be_a_slip() {
    let laptop = Host::new();
    std::fs::write(laptop.path().join("film.mkv"), "a film").unwrap();
    let output = laptop.run(&["send", "--retry", "0", "film.mkv", "--to", "robot"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("nor is it the name of a paired host"), "{}", text(&output));
    // Without a home nobody is paired, and clear is clear.
    let mut command =
        laptop.command(&["send", "--insecure", "--retry", "3", "film.mkv", "--to", "127.0.0.1:1"]);
    let output = command.env_remove("XDG_CONFIG_HOME").env_remove("HOME").output().unwrap();
    assert!(text(&output).contains("no connection"), "{}", text(&output));
}

/// A joiner's slip does not break the other host's file.
#[test]
fn what_a_joiner_says_is_looked_at() {
    let (robot, laptop) = (Host::new(), Host::new());
    let mut offer = robot.start(&["pair", "--json", "--listen", "127.0.0.1:0", "--name", "laptop"]);
    let ticket = offer.event("ticket")["ticket"].as_str().unwrap().to_owned();
    let output = laptop.run(&["pair", &ticket, "--name", "robot", "--at", "fe80::1%lo"]);
    assert!(text(&output).contains("names addresses that are none"), "{}", text(&output));
    assert!(text(&robot.run(&["pair", &ticket])).contains("this host itself"));
    assert_eq!(robot.peers(), "");
    let output = laptop.run(&["pair", &ticket, "--name", "robot", "--at", "192.0.2.7, 192.0.2.8"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(offer.finish().0, 0);
    assert!(text(&robot.run(&["peers"])).contains("192.0.2.7,192.0.2.8"));
}

/// An `ssh` that runs the command on this host, as `robot`.
fn fake_ssh(directory: &Path, robot: &Host) {
    let program = env!("CARGO_BIN_EXE_whimbrel");
    let home = robot.path().display();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = -G ]; then echo user me; echo hostname 127.0.0.1; exit; fi\n\
         [ \"$1\" = robot ] || exit 255\ncd {home}\nprintf 'Welcome to ' \n\
         PATH={}:$PATH XDG_CONFIG_HOME={home} sh -c \"$2\" || exit $?\nexec sleep 300\n",
        Path::new(program).parent().unwrap().display()
    );
    let path = directory.join("ssh");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_receiver_is_begun_by_ssh_and_ends_with_the_transfer() {
    let (robot, laptop, bin) = (Host::new(), Host::new(), TempDir::new().unwrap());
    fake_ssh(bin.path(), &robot);
    std::fs::create_dir(robot.path().join("my films")).unwrap();
    std::fs::write(laptop.path().join("film.mkv"), vec![7; 300_000]).unwrap();
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    let send = |target: &str| {
        let mut command = laptop.command(&["send", "--json", "--retry", "10", "film.mkv", "--ssh", target]);
        command.env("PATH", &path).output().unwrap()
    };
    let output = send("robot:my films");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(events(&output, "connected")[0]["protected"], true);
    let film = robot.path().join("my films/film.mkv");
    assert_eq!(std::fs::read(film).unwrap(), vec![7; 300_000]);
    // The receiver's errors are told here.
    let output = send("robot:nowhere");
    assert!(!output.status.success() && text(&output).contains("cannot receive into"), "{}", text(&output));
    wait_until("the receiver ends", || !still_runs(robot.path()));
}

/// Who has begun it has the ticket; a paired host has not.
#[test]
fn a_receiver_of_one_sender_is_for_no_other() {
    let (robot, laptop, port) = (Host::new(), Host::new(), free_port());
    assert!(pair(&robot, port, &laptop).status.success());
    let output =
        robot.run(&["recv", "--detach", "--once", "--dir", ".", "--listen", &format!("127.0.0.1:{port}")]);
    let ticket = String::from_utf8(output.stdout).unwrap();
    assert!(ticket.starts_with("whm1"), "{ticket}");
    let output = laptop.send(&["--to", "robot"]);
    assert!(!output.status.success(), "{}", text(&output));
    let output = laptop.send(&["--to", ticket.trim()]);
    assert!(output.status.success(), "{}", text(&output));
    wait_until("the receiver ends", || !still_runs(robot.path()));
}

/// Whether a process of this host is there.
fn still_runs(home: &Path) -> bool {
    let home = format!("XDG_CONFIG_HOME={}", home.display());
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| std::fs::read(process.path().join("environ")).ok())
        .any(|environment| environment.split(|&byte| byte == 0).any(|variable| variable == home.as_bytes()))
}
