//! What somebody meets who uses the command for the first time.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::net::ToSocketAddrs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use common::{Running, content, events, outcome, partial_bytes, send, wait_until, whimbrel};
use serde_json::Value;
use tempfile::TempDir;

struct Place {
    from: TempDir,
    to: TempDir,
}

fn place() -> Place {
    Place { from: TempDir::new().unwrap(), to: TempDir::new().unwrap() }
}

impl Place {
    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.from.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn mode(&self, name: &str) -> u32 {
        self.to.path().join(name).metadata().unwrap().permissions().mode() & 0o777
    }
}

fn set_mode(path: &str, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// The port of what `recv` listens on.
fn port(receiver: &Running) -> &str {
    receiver.address.rsplit_once(':').unwrap().1
}

#[test]
fn this_host_is_reached_by_all_its_names() {
    let place = place();
    let receiver = Running::recv(place.to.path(), &["--listen", "any:0"]);
    let port = port(&receiver).to_owned();
    let host = std::process::Command::new("uname").arg("-n").output().unwrap().stdout;
    let host = String::from_utf8(host).unwrap().trim().to_owned();
    for (number, name) in ["127.0.0.1", "localhost", "[::1]", "127.0.1.1", &host].into_iter().enumerate() {
        let to = format!("{name}:{port}");
        if to.to_socket_addrs().is_err() {
            println!("skipped: nobody knows {name} here");
            continue;
        }
        let file = place.file(&number.to_string(), b"content");
        let output = send(&to, &[&file, "--retry", "20"]);
        assert!(output.status.success(), "{to}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn one_name_that_has_an_address_is_enough() {
    let place = place();
    let receiver = Running::recv(place.to.path(), &[]);
    let file = place.file("f", b"content");
    let output = send(&format!("{},nowhere.invalid", receiver.address), &[&file]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = |kind| events(&output, kind)[0]["text"].as_str().unwrap().to_owned();
    assert!(text("unknown-host").contains("nowhere.invalid"));
    // Where none has, it may have one soon.
    let output = send("nowhere.invalid", &[&file, "--retry", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let text = events(&output, "waiting")[0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("nowhere.invalid") && text.contains("trying again"), "{text}");
}

#[test]
fn what_others_may_not_read_there_they_may_not_read_here() {
    let place = place();
    let tree = place.from.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    for (name, mode) in [("private", 0o600), ("group", 0o640), ("script", 0o700), ("read-only", 0o400)] {
        let path = tree.join(name);
        std::fs::write(&path, name).unwrap();
        set_mode(path.to_str().unwrap(), mode);
    }
    set_mode(tree.to_str().unwrap(), 0o700);
    let receiver = Running::recv(place.to.path(), &[]);
    let output = send(&receiver.address, &["-r", tree.to_str().unwrap()]);
    assert!(output.status.success());
    assert_eq!(place.mode("tree"), 0o700);
    assert_eq!((place.mode("tree/private"), place.mode("tree/script")), (0o600, 0o700));
    assert_eq!(place.mode("tree/group") & 0o137, 0, "{:o}", place.mode("tree/group"));
    // The receiver may write what is his.
    assert_eq!(place.mode("tree/read-only"), 0o600);
}

/// One that was begun while everybody might read it, and is private now.
#[test]
fn a_file_that_has_become_private_arrives_private() {
    let place = place();
    let file = place.file("f", &content(400_000_000, 1));
    set_mode(&file, 0o644);
    let receiver = Running::recv(place.to.path(), &[]);
    let mut sender = Running::start(&["send", "--json", "--insecure", "--to", &receiver.address, &file]);
    wait_until("a part", || partial_bytes(place.to.path()) > 20_000_000);
    sender.kill();
    set_mode(&file, 0o600);
    let output = send(&receiver.address, &[&file]);
    assert!(outcome(&output)["resumed"].as_u64().unwrap() > 0);
    assert_eq!(place.mode("f"), 0o600);
}

#[test]
fn a_name_that_cannot_be_sent_holds_up_no_other() {
    let place = place();
    let tree = place.from.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    for name in ["a", "back\\slash", "z"] {
        std::fs::write(tree.join(name), b"content").unwrap();
    }
    let receiver = Running::recv(place.to.path(), &[]);
    let output = send(&receiver.address, &["-r", tree.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(place.to.path().join("tree/a").exists() && place.to.path().join("tree/z").exists());
    let summary = &events(&output, "summary")[0];
    assert_eq!((&summary["files"], &summary["files_failed"]), (&2.into(), &1.into()));
    for progress in events(&output, "progress") {
        assert_eq!(progress["files_total"], 3, "{progress}");
    }
    let mut files = events(&output, "file");
    files.sort_by_key(|file| file["name"].as_str().unwrap().to_owned());
    // All have the names under which they are, or would be, received.
    let names: Vec<_> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["tree/a", "tree/back\\slash", "tree/z"]);
    let outcomes: Vec<_> = files.iter().map(|file| file["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["verified", "bad-name", "verified"]);
    assert_eq!(files[1]["location"], tree.join("back\\slash").to_str().unwrap());
}

#[test]
fn a_summary_counts_what_is_confirmed_and_tells_what_was_there() {
    let place = place();
    let file = place.file("f", &content(400_000_000, 2));
    let receiver = Running::recv(place.to.path(), &[]);
    let mut sender = Running::start(&["send", "--json", "--insecure", "--to", &receiver.address, &file]);
    wait_until("a part", || partial_bytes(place.to.path()) > 20_000_000);
    sender.interrupt();
    let (_, rest, _) = sender.finish();
    let summary = rest.lines().find(|line| line.contains("\"summary\"")).unwrap();
    let summary: Value = serde_json::from_str(summary).unwrap();
    assert_eq!((&summary["bytes"], &summary["files"]), (&0.into(), &0.into()), "nothing is confirmed");
    let output = send(&receiver.address, &[&file]);
    let summary = &events(&output, "summary")[0];
    assert_eq!(summary["bytes"], 400_000_000);
    assert_eq!(summary["bytes_before"], outcome(&output)["resumed"]);
    assert!(summary["bytes_before"].as_u64().unwrap() >= 20_000_000, "{summary}");
    let again = send(&receiver.address, &[&file]);
    let summary = &events(&again, "summary")[0];
    assert_eq!((&summary["bytes"], &summary["bytes_before"]), (&400_000_000.into(), &400_000_000.into()));
    let words = whimbrel().args(["send", "--insecure", "--to", &receiver.address, &file]).output().unwrap();
    let text = String::from_utf8_lossy(&words.stdout).into_owned();
    assert!(text.contains("400.00 MB") && text.contains("(0 B/s), of which 400.00 MB were there"), "{text}");
}

fn error_of(output: &Output) -> Value {
    let errors = events(output, "error");
    assert_eq!(errors.len(), 1, "{}", String::from_utf8_lossy(&output.stdout));
    errors[0].clone()
}

#[test]
fn every_error_is_json_for_who_asked_for_json() {
    let place = place();
    let file = place.file("f", b"content");
    let directory = place.from.path().to_str().unwrap();
    for (arguments, code, words) in [
        (&["send", "--json", "--insecure", "--to", "127.0.0.1", "/nowhere/at-all"][..], 1, "/nowhere/at-all"),
        (&["send", "--json", "--insecure", "--to", "127.0.0.1", directory], 2, "--recursive"),
        (&["send", "--json", "--insecure", "--to", "::1:9900", &file], 2, "[::1]:9900"),
        (
            &["send", "--json", "--insecure", "--to", "127.0.0.1", "--bind", "192.0.2.254", &file],
            1,
            "192.0.2.254",
        ),
        (&["send", "--json", "--nonsense"], 2, "--nonsense"),
        (&["send", "--json", &file], 2, "--to"),
        (&["recv", "--json", "--dir", "/nowhere/at-all", "--anyone", "--insecure"], 1, "/nowhere/at-all"),
        (&["recv", "--json", "--dir", directory, "--anyone", "--ticket-file", "t"], 2, "--anyone"),
        (&["recv", "--json", "--dir", directory, "--insecure"], 2, "--anyone"),
        (&["recv", "--json", "--dir", directory, "--auth-key-file", "k"], 2, "--insecure"),
        (&["send", "--json", "--insecure", "--ticket-file", "t", &file], 2, "--insecure"),
    ] {
        let output = whimbrel().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let error = error_of(&output);
        assert!(error["text"].as_str().unwrap().contains(words), "{arguments:?}: {error}");
        assert_eq!(error["exit_code"], code, "{error}");
    }
    let output = whimbrel().args(["send", "--json", "--help"]).output().unwrap();
    assert!(output.status.success() && !output.stdout.starts_with(b"{"));
}

/// A name that nobody knows yet is asked for again and again.
#[test]
fn ctrl_c_while_a_name_is_asked_for_is_an_interruption() {
    let place = place();
    let file = place.file("f", b"content");
    for signal in ["INT", "TERM"] {
        let mut sender = Running::start(&["send", "--json", "--insecure", "--to", "nowhere.invalid", &file]);
        sender.event("waiting");
        sender.signal(signal);
        let (code, output, errors) = sender.finish();
        assert!(code == 130 && errors.contains("interrupted"), "{code} {errors}");
        let error = output.lines().find(|line| line.contains("\"error\"")).expect("an error event");
        let error: Value = serde_json::from_str(error).unwrap();
        assert_eq!(error["exit_code"], 130);
    }
}

#[test]
fn events_have_a_time_and_name_the_peer() {
    let place = place();
    let file = place.file("f", b"content");
    let mut receiver = Running::recv(place.to.path(), &["--once"]);
    let address = receiver.address.clone();
    let output = send(&address, &[&file]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let all: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let year_2020 = 1_577_836_800.0;
    assert!(all.iter().all(|event| event["time"].as_f64().unwrap() > year_2020), "{text}");
    for event in ["connected", "file", "summary"] {
        let event = all.iter().find(|one| one["event"] == event).unwrap();
        assert_eq!(event["peer"], address, "{event}");
    }
    let connected = receiver.event("connected");
    let file = receiver.event("file");
    assert_eq!(file["peer"], connected["remote"], "{file}");
    assert_eq!(receiver.event("disconnected")["peer"], connected["remote"]);
    assert!(receiver.event("summary")["time"].as_f64().unwrap() > year_2020);
    // Whom there was no connection to, or no more.
    let nobody = "127.0.0.1:9";
    for arguments in [
        &["send", "--json", "--retry", "1", "--insecure", "--to", nobody, &place.file("g", b"content")][..],
        &["perf", "client", "--json", "--insecure", "--to", nobody],
    ] {
        let error = error_of(&whimbrel().args(arguments).output().unwrap());
        assert_eq!(error["peer"], nobody, "{error}");
    }
}

#[test]
fn a_service_manager_ends_servers_cleanly() {
    let place = place();
    let mut receiver = Running::recv(place.to.path(), &[]);
    receiver.signal("TERM");
    let (code, output, errors) = receiver.finish();
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    // In the middle of a transfer, too: what has arrived is kept.
    let mut receiver = Running::recv(place.to.path(), &[]);
    let file = place.file("f", &content(400_000_000, 4));
    let mut sender =
        Running::start(&["send", "--json", "--insecure", "--to", &receiver.address, &file, "--retry", "0"]);
    wait_until("a part", || partial_bytes(place.to.path()) > 20_000_000);
    receiver.signal("TERM");
    let (code, output, _) = receiver.finish();
    assert_eq!(code, 0, "{output}");
    assert!(partial_bytes(place.to.path()) > 20_000_000);
    sender.kill();
    let mut server =
        Running::listen(&["perf", "server", "--anyone", "--insecure", "--json", "--listen", "127.0.0.1:0"]);
    server.signal("TERM");
    assert_eq!(server.finish().0, 0);
}

/// An example that is broken cannot be copied.
#[test]
fn examples_in_helps_fit_eighty_columns() {
    let commands = [
        "",
        "send",
        "recv",
        "paths",
        "perf",
        "perf client",
        "perf server",
        "demo",
        "soak",
        "lab",
        "lab trace",
        "lab sensitivity",
    ];
    let mut examples = 0;
    for command in commands {
        let arguments = command.split(' ').filter(|word| !word.is_empty());
        let output = whimbrel().args(arguments).arg("--help").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for line in text.lines().filter(|line| line.starts_with("  whimbrel ")) {
            assert!(line.chars().count() <= 80, "{command}: {line}");
            examples += 1;
        }
    }
    assert!(examples > 20);
}

/// What is waited for, and what is not.
#[test]
fn helps_say_what_is_waited_for() {
    let help = |arguments: &[&str]| {
        let output = whimbrel().args(arguments).arg("--help").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = help(&["send"]);
    assert!(
        text.contains("A refusal (UDP port unreachable) of the first connection ends it at once"),
        "{text}"
    );
    for command in [&["recv"][..], &["perf", "server"]] {
        let text = help(command);
        assert!(text.contains("The time does not run while this host has no network itself"), "{text}");
    }
}
