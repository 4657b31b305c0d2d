//! `whimbrel send` and `whimbrel recv` over loopback.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::os::unix::fs::PermissionsExt;

use common::{Running, content, events, outcome, partial_bytes, send, wait_until, whimbrel};
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

    /// A key file, readable by its owner alone.
    fn key(&self, name: &str, line: &str) -> String {
        let path = self.file(name, line.as_bytes());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn received(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.to.path().join(name)).unwrap()
    }
}

#[test]
fn a_file_arrives_verified() {
    let place = place();
    let body = content(5_000_000, 1);
    let file = place.file("f", &body);
    let mut receiver = Running::recv(place.to.path(), &["--once"]);
    let output = send(&receiver.address, &[&file]);
    assert!(output.status.success());
    let report = outcome(&output);
    assert_eq!((&report["outcome"], &report["bytes"]), (&"verified".into(), &5_000_000.into()));
    assert_eq!(report["blake3"], blake3::hash(&body).to_hex().to_string());
    assert_eq!(receiver.event("file")["outcome"], "verified");
    assert_eq!(receiver.event("summary")["ok"], true);
    assert_eq!(receiver.finish().0, 0);
    assert_eq!(place.received("f"), body);
    assert!(!place.to.path().join(".whimbrel-partial").exists());
}

#[test]
fn both_addresses_of_a_host_are_used_when_named() {
    let place = place();
    let file = place.file("f", b"content");
    let mut receiver = Running::recv(place.to.path(), &["--listen", "127.0.0.1:0,127.0.0.2"]);
    let port = receiver.address.rsplit_once(':').unwrap().1.to_owned();
    let to = format!("127.0.0.1:{port},127.0.0.2:{port}");
    let output = send(&to, &[&file, "--bind", "127.0.0.1,127.0.0.2"]);
    assert!(output.status.success());
    assert_eq!(receiver.event("file")["outcome"], "verified");
}

#[test]
fn a_thousand_small_files_and_an_empty_directory_arrive() {
    let place = place();
    let tree = place.from.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    for index in 0..1000 {
        std::fs::write(tree.join(index.to_string()), format!("content of {index}")).unwrap();
    }
    std::fs::create_dir(tree.join("empty")).unwrap();
    let receiver = Running::recv(place.to.path(), &[]);
    let output = send(&receiver.address, &["-r", tree.to_str().unwrap()]);
    assert!(output.status.success());
    assert_eq!(events(&output, "summary")[0]["files"], 1000);
    for index in 0..1000 {
        assert_eq!(place.received(&format!("tree/{index}")), format!("content of {index}").as_bytes());
    }
    assert!(place.to.path().join("tree/empty").is_dir());
}

#[test]
fn existing_files_are_refused_unless_told_otherwise() {
    for (option, exit, outcome_name, kept) in [
        (&[][..], 1, "exists", true),
        (&["--overwrite"][..], 0, "verified", false),
        (&["--rename"][..], 0, "verified", true),
    ] {
        let place = place();
        let file = place.file("f", b"new content");
        std::fs::write(place.to.path().join("f"), b"old content").unwrap();
        let mut receiver = Running::recv(place.to.path(), option);
        let output = send(&receiver.address, &[&file]);
        assert_eq!(output.status.code(), Some(exit), "{option:?}");
        assert_eq!(outcome(&output)["outcome"], outcome_name);
        assert_eq!(receiver.event("file")["outcome"], outcome_name);
        assert_eq!(place.received("f") == b"old content", kept);
        assert_eq!(place.to.path().join("f.1").exists(), option == ["--rename"]);
    }
}

#[test]
fn people_are_told_what_to_do() {
    let place = place();
    let file = place.file("f", b"new");
    std::fs::write(place.to.path().join("f"), b"old").unwrap();
    let receiver = Running::recv(place.to.path(), &[]);
    let run = |arguments: &[&str]| {
        let output = whimbrel()
            .args(["send", "--insecure", "--to", &receiver.address])
            .args(arguments)
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = run(&[&file]);
    assert!(code == 1 && text.contains("there already") && text.contains("--overwrite"), "{text}");
    let (code, text) = run(&["/nowhere/at-all"]);
    assert!(code == 1 && text.contains("/nowhere/at-all") && text.contains("No such file"), "{text}");
    let (code, text) = run(&[place.from.path().to_str().unwrap()]);
    assert!(code == 2 && text.contains("--recursive"), "{text}");
    let output = whimbrel().args(["send", "f", "--insecure", "--to", "1.2.3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output =
        whimbrel().args(["recv", "--anyone", "--insecure", "--dir", "/nowhere/at-all"]).output().unwrap();
    assert!(
        output.status.code() == Some(1)
            && String::from_utf8_lossy(&output.stderr).contains("/nowhere/at-all")
    );
    let output = whimbrel()
        .args(["recv", "--anyone", "--insecure", "--dir", ".", "--listen", "192.0.2.254"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("not on this machine"), "{text}");
}

#[test]
fn a_sender_goes_on_when_the_receiver_was_killed_and_is_back() {
    let place = place();
    let body = content(400_000_000, 2);
    let file = place.file("f", &body);
    let mut receiver = Running::recv(place.to.path(), &[]);
    let address = receiver.address.clone();
    let sender = {
        let address = address.clone();
        std::thread::spawn(move || send(&address, &[&file]))
    };
    wait_until("a part", || partial_bytes(place.to.path()) > 20_000_000);
    receiver.kill();
    let kept = partial_bytes(place.to.path());
    assert!((20_000_000..400_000_000).contains(&kept) && !place.to.path().join("f").exists(), "{kept}");
    let _receiver = Running::recv(place.to.path(), &["--listen", &address]);
    let output = sender.join().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(events(&output, "lost").len(), 1);
    let report = outcome(&output);
    assert!(report["resumed"].as_u64().unwrap() >= 20_000_000, "{report}");
    assert!(place.received("f") == body);
}

/// With keys the new receiver's ABORT for the old association is not believed.
#[test]
fn a_sender_with_a_key_goes_on_when_the_receiver_was_killed_and_is_back() {
    let place = place();
    let body = content(400_000_000, 2);
    let file = place.file("f", &body);
    let key = place.key("key", "5 000102030405060708090a0b0c0d0e0f");
    let mut receiver = Running::recv(place.to.path(), &["--auth-key-file", &key]);
    let address = receiver.address.clone();
    let mut sender =
        Running::start(&["send", "--json", "--insecure", "--to", &address, &file, "--auth-key-file", &key]);
    wait_until("a part", || partial_bytes(place.to.path()) > 20_000_000);
    receiver.kill();
    let _receiver = Running::recv(place.to.path(), &["--auth-key-file", &key, "--listen", &address]);
    let text = sender.event("lost")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("was started anew"), "{text}");
    let report = sender.event("file");
    assert!(report["resumed"].as_u64().unwrap() >= 20_000_000, "{report}");
    assert_eq!(sender.finish().0, 0);
    assert!(place.received("f") == body);
}

#[test]
fn a_killed_sender_resumes_when_it_is_run_again() {
    let place = place();
    let body = content(400_000_000, 3);
    let file = place.file("f", &body);
    let receiver = Running::recv(place.to.path(), &[]);
    let mut sender = Running::start(&["send", "--json", "--insecure", "--to", &receiver.address, &file]);
    wait_until("a part", || partial_bytes(place.to.path()) > 20_000_000);
    sender.kill();
    assert!(!place.to.path().join("f").exists());
    let output = send(&receiver.address, &[&file]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(outcome(&output)["resumed"].as_u64().unwrap() >= 20_000_000);
    assert!(place.received("f") == body);
    // And once more: everything is there.
    let output = send(&receiver.address, &[&file]);
    assert_eq!(outcome(&output)["outcome"], "already-there");
}

#[test]
fn ctrl_c_ends_both_ends_cleanly() {
    let place = place();
    let file = place.file("f", &content(400_000_000, 4));
    let mut receiver = Running::recv(place.to.path(), &[]);
    let mut sender = Running::start(&["send", "--insecure", "--to", &receiver.address, &file]);
    wait_until("a part", || partial_bytes(place.to.path()) > 20_000_000);
    sender.interrupt();
    let (code, _, errors) = sender.finish();
    assert!(code == 130 && errors.contains("resume"), "{code} {errors}");
    let event = receiver.event("disconnected");
    assert!(
        event["ok"] == false && event["text"].as_str().unwrap().contains("sender was stopped"),
        "{event}"
    );
    receiver.interrupt();
    assert_eq!(receiver.finish().0, 130);
    assert!(partial_bytes(place.to.path()) > 0, "what arrived is kept");
}

#[test]
fn a_full_disk_is_reported_at_both_ends_and_leaves_what_fits() {
    let place = place();
    let path = place.to.path().to_str().unwrap().to_owned();
    let mount =
        std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "tmpfs", &path]).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        println!("skipped: needs the right to mount a small file system (root)");
        return;
    }
    let files = ["a", "b"].map(|name| place.file(name, &content(6_000_000, 5)));
    let huge = place.file("huge", &content(9_000_000, 6));
    // Files of one sender travel together, so the one that is to fit goes first, alone.
    let mut receiver = Running::recv(place.to.path(), &["--once"]);
    let first = send(&receiver.address, &[&files[0]]);
    receiver.finish();
    let mut receiver = Running::recv(place.to.path(), &["--once"]);
    let output = send(&receiver.address, &[&files[1], &huge]);
    let (code, _, _) = receiver.finish();
    let arrived = place.received("a") == content(6_000_000, 5);
    drop(receiver);
    assert!(std::process::Command::new("umount").arg(&path).status().unwrap().success());
    assert!(first.status.success());
    assert_eq!((output.status.code(), code), (Some(1), 1));
    let mut outcomes: Vec<(String, String)> = events(&output, "file")
        .iter()
        .map(|event| (event["name"].as_str().unwrap().into(), event["outcome"].as_str().unwrap().into()))
        .collect();
    outcomes.sort();
    let expected = [("b", "no-space"), ("huge", "no-space")];
    assert_eq!(outcomes, expected.map(|(name, outcome)| (name.to_owned(), outcome.to_owned())));
    assert!(arrived, "what fitted is whole");
}

#[test]
fn several_senders_are_served_at_once() {
    let place = place();
    let receiver = Running::recv(place.to.path(), &[]);
    let senders: Vec<_> = (0..6)
        .map(|n| {
            let file = place.file(&n.to_string(), &content(3_000_000, n));
            let address = receiver.address.clone();
            std::thread::spawn(move || send(&address, &[&file]))
        })
        .collect();
    for sender in senders {
        assert!(sender.join().unwrap().status.success());
    }
    for n in 0..6 {
        assert!(place.received(&n.to_string()) == content(3_000_000, n));
    }
}

#[test]
#[ignore = "moves 5 GB; CONTRIBUTING.md has the command"]
fn a_file_larger_than_four_gigabytes_arrives_sparse() {
    use std::os::unix::fs::MetadataExt;
    let place = place();
    let path = place.from.path().join("big");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(5_000_000_000).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"the end", 4_999_999_993).unwrap();
    let receiver = Running::recv(place.to.path(), &[]);
    let output = send(&receiver.address, &[path.to_str().unwrap()]);
    assert!(output.status.success());
    let metadata = place.to.path().join("big").metadata().unwrap();
    assert_eq!(metadata.len(), 5_000_000_000);
    assert!(metadata.blocks() * 512 < 100_000_000);
    let there = place.to.path().join("big");
    let mut end = [0; 7];
    std::os::unix::fs::FileExt::read_exact_at(&std::fs::File::open(there).unwrap(), &mut end, 4_999_999_993)
        .unwrap();
    assert_eq!(&end, b"the end");
}

/// With the same key a file arrives; with another one, or none, nobody gets in, and is told what to look at.
#[test]
fn only_who_has_the_key_gets_in() {
    let place = place();
    let right = place.key("right", "5 000102030405060708090a0b0c0d0e0f");
    let wrong = place.key("wrong", "5 ff0102030405060708090a0b0c0d0e0f");
    let file = place.file("f", b"content");
    let mut receiver = Running::recv(place.to.path(), &["--auth-key-file", &right]);
    let mut locked_out = [&["--auth-key-file", &wrong][..], &[]].map(|arguments| {
        Running::start(
            &[&["send", "--json", "--insecure", "--to", &receiver.address, &file], arguments].concat(),
        )
    });
    for sender in &mut locked_out {
        let text = sender.event("waiting")["text"].as_str().unwrap().to_owned();
        assert!(text.contains("no answer yet") && text.contains("--auth-key-file"), "{text}");
    }
    // One that waits no longer than it is told to.
    let output = send(&receiver.address, &[&file, "--auth-key-file", &wrong, "--retry", "4"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("within 4 s (--retry)"), "{text}");
    assert!(text.contains("with the same key"), "{text}");
    assert!(send(&receiver.address, &[&file, "--auth-key-file", &right]).status.success());
    assert_eq!(receiver.event("file")["outcome"], "verified");
    std::fs::set_permissions(&right, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = send(&receiver.address, &[&file, "--auth-key-file", &right]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("chmod 600"));
}
