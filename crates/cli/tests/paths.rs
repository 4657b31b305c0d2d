//! `whimbrel paths`, and link facts from files and sockets, with real processes.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::io::Write;
use std::path::Path;
use std::process::Output;

use common::{Running, wait_until, whimbrel};
use serde_json::Value;
use tempfile::TempDir;

/// A place for control sockets of this test alone.
fn runtime() -> TempDir {
    TempDir::new().unwrap()
}

fn paths(runtime: &Path, arguments: &[&str]) -> Output {
    let mut command = whimbrel();
    command.arg("paths").args(arguments).env("XDG_RUNTIME_DIR", runtime).env_remove("COLUMNS");
    command.output().unwrap()
}

#[test]
fn lines_through_a_pipe_are_as_long_as_columns_says() {
    let runtime = runtime();
    let lines = |columns: &str| {
        let mut command = whimbrel();
        command.arg("paths").env("XDG_RUNTIME_DIR", runtime.path()).env("COLUMNS", columns);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let narrow = lines("40");
    assert!(narrow.lines().count() > 1 && narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    let wide = lines("nonsense");
    assert!(wide.lines().count() == 1 && wide.trim_end().chars().count() <= 80, "{wide}");
}

#[test]
fn lines_for_programs_have_a_time() {
    let runtime = runtime();
    let line: Value = serde_json::from_slice(&paths(runtime.path(), &["--json", "--once"]).stdout).unwrap();
    assert_eq!(line["event"], "paths");
    let year_2020 = 1_577_836_800.0;
    assert!(line["time"].as_f64() > Some(year_2020), "{line}");
}

fn processes(runtime: &Path) -> Vec<Value> {
    let output = paths(runtime, &["--json", "--once"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    value["processes"].as_array().unwrap().clone()
}

#[test]
fn running_commands_show_their_paths() {
    let runtime = runtime();
    let in_runtime =
        |arguments: &[&str]| Running::start_with(arguments, &[("XDG_RUNTIME_DIR", runtime.path())]);
    let mut server =
        in_runtime(&["perf", "server", "--anyone", "--insecure", "--json", "--listen", "127.0.0.1:0"]);
    let address = server.event("listening")["addresses"][0].as_str().unwrap().to_owned();
    let mut client =
        in_runtime(&["perf", "client", "--json", "--insecure", "--to", &address, "--time", "3600"]);
    client.event("connected");
    let mut seen = Vec::new();
    wait_until("both ends show an active path that carries data", || {
        seen = processes(runtime.path());
        let path = |process: &Value| process["associations"][0]["paths"][0].clone();
        seen.len() == 2
            && seen.iter().all(|process| path(process)["state"] == "active")
            && seen.iter().any(|process| path(process)["out_bits_per_second"].as_f64() > Some(0.0))
    });
    let mut commands: Vec<_> = seen.iter().map(|process| process["command"].as_str().unwrap()).collect();
    commands.sort_unstable();
    assert_eq!(commands, ["perf client", "perf server"]);

    let text = String::from_utf8(paths(runtime.path(), &[]).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("PROCESS") && lines.len() == 3, "{text}");
    assert!(
        lines[1].contains("127.0.0.1") && lines[1].contains("active") && lines[1].contains("in use"),
        "{text}"
    );

    // One leaves properly, the other has no time for that.
    client.interrupt();
    assert_eq!(client.finish().0, 130);
    let directory = runtime.path().join("whimbrel");
    let sockets = || std::fs::read_dir(&directory).unwrap().count();
    assert_eq!(sockets(), 1);
    server.kill();
    assert_eq!(sockets(), 1);
    assert_eq!(processes(runtime.path()), Vec::<Value>::new());
    assert_eq!(sockets(), 0, "stale sockets are removed");
    assert!(String::from_utf8_lossy(&paths(runtime.path(), &["--once"]).stdout).contains("no associations"));
}

#[test]
fn a_live_listing_ends_with_ctrl_c() {
    let runtime = runtime();
    let arguments = ["paths", "--json", "--interval", "0.1"];
    let mut listing = Running::start_with(&arguments, &[("XDG_RUNTIME_DIR", runtime.path())]);
    for _ in 0..3 {
        assert_eq!(listing.event("paths")["processes"], Value::Array(Vec::new()));
    }
    listing.interrupt();
    assert_eq!(listing.finish().0, 0);
}

/// A process that is stopped does not answer: that is no reason to say that there is nothing.
#[test]
fn a_process_that_does_not_answer_is_named() {
    let runtime = runtime();
    let in_runtime =
        |arguments: &[&str]| Running::start_with(arguments, &[("XDG_RUNTIME_DIR", runtime.path())]);
    let mut server =
        in_runtime(&["perf", "server", "--anyone", "--insecure", "--json", "--listen", "127.0.0.1:0"]);
    server.event("listening");
    server.signal("STOP");
    let text = String::from_utf8(paths(runtime.path(), &["--once"]).stdout).unwrap();
    let json = paths(runtime.path(), &["--once", "--json"]).stdout;
    server.signal("CONT");
    assert_eq!(text.trim_end(), format!("process {} does not answer", server.id()));
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["failed"][0], text.trim_end());
}

#[test]
fn a_command_that_paths_cannot_show_says_so() {
    let runtime = runtime();
    // In the way of the directory.
    std::fs::write(runtime.path().join("whimbrel"), "").unwrap();
    let listen = ["perf", "server", "--anyone", "--insecure", "--json", "--listen", "127.0.0.1:0"];
    let mut server = Running::start_with(&listen, &[("XDG_RUNTIME_DIR", runtime.path())]);
    let event = server.event("no-control-socket");
    assert!(event["text"].as_str().unwrap().contains("is no directory; remove it"), "{event}");
    server.event("listening");
    server.interrupt();
    let (_, _, errors) = server.finish();
    assert!(errors.contains("`whimbrel paths` cannot show this command"), "{errors}");
}

/// The socket for link facts goes with the command, however it ends, short of being killed.
#[test]
fn the_socket_for_link_facts_goes_with_the_command() {
    let directory = runtime();
    let facts = directory.path().join("links.sock");
    let facts_name = facts.to_str().unwrap();
    let incoming = directory.path().to_str().unwrap();
    for _ in 0..5 {
        let listen = ["--listen", "127.0.0.1:0", "--link-facts", facts_name];
        let mut receiver = Running::start(
            &[&["recv", "--anyone", "--insecure", "--json", "--dir", incoming], &listen[..]].concat(),
        );
        receiver.event("listening");
        assert!(facts.exists());
        receiver.interrupt();
        assert_eq!(receiver.finish().0, 130);
        assert!(!facts.exists(), "left behind");
    }
    // Nobody receives there.
    let file = directory.path().join("f");
    std::fs::write(&file, "content").unwrap();
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let to = [
        "send",
        file.to_str().unwrap(),
        "--insecure",
        "--to",
        &taken,
        "--link-facts",
        facts_name,
        "--retry",
        "0",
    ];
    assert_eq!(whimbrel().args(to).output().unwrap().status.code(), Some(1));
    assert!(!facts.exists(), "left behind");
}

/// An interface that goes down in a file takes its address with it, and brings it back.
#[test]
fn link_facts_from_a_file_take_addresses_down_and_up() {
    let directory = runtime();
    let facts = directory.path().join("links");
    let say = |line: &str| {
        let mut file = std::fs::File::options().create(true).append(true).open(&facts).unwrap();
        writeln!(file, "{line}").unwrap();
    };
    say(r#"{"interface": "wlan9", "up": true, "addresses": ["127.0.0.62"], "signal_dbm": -55}"#);
    let facts_name = facts.to_str().unwrap();
    let incoming = directory.path().to_str().unwrap();
    let listen = ["--listen", "127.0.0.61:0,127.0.0.62", "--link-facts", facts_name, "--prefer", "wlan9"];
    let mut receiver = Running::start_with(
        &[&["recv", "--anyone", "--insecure", "--json", "--dir", incoming], &listen[..]].concat(),
        &[("XDG_RUNTIME_DIR", directory.path())],
    );
    assert_eq!(receiver.event("listening")["addresses"].as_array().unwrap().len(), 2);
    say("nonsense");
    let complaint = receiver.event("link-facts");
    assert!(complaint["text"].as_str().unwrap().starts_with("line 2: expected ident"), "{complaint}");
    say(r#"{"interface": "wlan9", "up": false}"#);
    let down = receiver.event("address");
    assert_eq!(down["state"], "down");
    assert!(down["address"].as_str().unwrap().starts_with("127.0.0.62:"), "{down}");
    say(r#"{"interface": "wlan9", "up": true}"#);
    let up = receiver.event("address");
    assert_eq!((&up["state"], &up["interface"]), (&"up".into(), &"wlan9".into()));
    assert_eq!(up["address"], down["address"]);
}

/// A sender that is started before the network is there waits for it, no longer than it is told to.
#[test]
fn a_sender_waits_for_a_network() {
    let directory = runtime();
    let facts = directory.path().join("links");
    let say = |line: &str| {
        let mut file = std::fs::File::options().create(true).append(true).open(&facts).unwrap();
        writeln!(file, "{line}").unwrap();
    };
    say(r#"{"interface": "wlan9", "up": false, "addresses": ["127.0.0.64"]}"#);
    let file = directory.path().join("f");
    std::fs::write(&file, "content").unwrap();
    let incoming = directory.path().join("in");
    std::fs::create_dir(&incoming).unwrap();
    let mut receiver = Running::recv(&incoming, &["--listen", "127.0.0.63:0"]);
    let facts_name = facts.to_str().unwrap();
    let address = receiver.address.clone();
    let to = ["--insecure", "--to", &address, "--bind", "127.0.0.64", "--link-facts", facts_name];
    let arguments = [&["send", "--json", file.to_str().unwrap()], &to[..]].concat();
    let mut sender = Running::start(&arguments);
    assert_eq!(sender.event("waiting")["text"], "no network; waiting");
    say(r#"{"interface": "wlan9", "up": true}"#);
    assert_eq!(sender.event("file")["outcome"], "verified");
    assert_eq!(sender.finish().0, 0);
    assert_eq!(receiver.event("file")["outcome"], "verified");

    say(r#"{"interface": "wlan9", "up": false}"#);
    let output = whimbrel().args(&arguments).args(["--retry", "0"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("is its network up?"), "{text}");
}

/// A slip in a name would otherwise look like a wish that is not granted.
#[test]
fn interfaces_that_are_not_there_are_doubted() {
    let directory = runtime();
    let file = directory.path().join("f");
    std::fs::write(&file, "content").unwrap();
    let incoming = directory.path().to_str().unwrap();
    let wishes = ["--prefer", "lo,wlan77", "--metered", "wwan77"];
    let mut receiver = Running::start(
        &[
            &["recv", "--anyone", "--insecure", "--json", "--dir", incoming, "--listen", "127.0.0.1:0"],
            &wishes[..],
        ]
        .concat(),
    );
    for (option, name) in [("--prefer", "wlan77"), ("--metered", "wwan77")] {
        let event = receiver.event("unknown-interface");
        assert_eq!((&event["option"], &event["interface"]), (&option.into(), &name.into()));
        assert!(event["text"].as_str().unwrap().contains("lo"), "{event}");
    }
    receiver.event("listening");
    receiver.interrupt();
    let (_, _, errors) = receiver.finish();
    assert_eq!(errors.matches("warning: --").count(), 2, "{errors}");
}

#[test]
fn wrong_options_are_explained() {
    let directory = runtime();
    let taken = directory.path().join("taken.sock");
    std::fs::write(&taken, "content").unwrap();
    let file = taken.to_str().unwrap();
    for (arguments, code, words) in [
        (&["--link-facts", "/nowhere/links"][..], 1, "a file must exist"),
        (&["--link-facts", file], 1, "something else of that name"),
        (&["--prefer", "wlan0,wlan0"], 2, "names wlan0 twice"),
        (&["--sctp-port", "0"], 2, "1..=65535"),
        (&["--bind", "224.0.0.1"], 2, "two hosts"),
        (&["--bind", "127.0.0.1:7,127.0.0.2:8"], 2, "the same port"),
        (&["--metered", "a b"], 2, "an interface's name"),
    ] {
        let output = whimbrel()
            .args(["send", file, "--insecure", "--to", "127.0.0.1"])
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(words), "{text}");
    }
}
