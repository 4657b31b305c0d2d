//! Who may write files, and which.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use common::{Running, events, send, whimbrel};
use tempfile::TempDir;

fn write(path: &Path, content: &str) -> String {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn only_one_kind_of_senders_is_taken() {
    let directory = TempDir::new().unwrap();
    let arguments = ["recv", "--listen", "127.0.0.1:0", "--dir", directory.path().to_str().unwrap()];
    let both =
        whimbrel().args(arguments).args(["--anyone", "--insecure", "--auth-key-file", "k"]).output().unwrap();
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn at_the_start_it_is_said_who_may_write_what_and_where() {
    let directory = TempDir::new().unwrap();
    let place = directory.path().canonicalize().unwrap();
    let mut receiver = Running::start(&[
        "recv",
        "--json",
        "--anyone",
        "--insecure",
        "--listen",
        "127.0.0.1:0",
        "--dir",
        directory.path().to_str().unwrap(),
    ]);
    let may = receiver.event("listening")["may_write"].clone();
    assert_eq!((&may["who"], &may["hidden_names"]), (&"anyone".into(), &false.into()), "{may}");
    assert_eq!(may["directory"], place.to_str().unwrap());
    let mut child = whimbrel()
        .args(["recv", "--anyone", "--insecure", "--listen", "127.0.0.1:0", "--dir"])
        .arg(directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let text = lines.take(2).map(Result::unwrap).collect::<Vec<_>>().join("\n");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        text.contains("listening on 127.0.0.1:") && text.contains("anybody who can reach that"),
        "{text}"
    );
    assert!(text.contains(place.to_str().unwrap()) && text.contains("hidden names are refused"), "{text}");
}

#[test]
fn hidden_names_are_refused_one_by_one_unless_they_are_wanted() {
    let from = TempDir::new().unwrap();
    let plain = write(&from.path().join("notes.txt"), "notes");
    let settings = write(&from.path().join(".bashrc"), "evil");
    write(&from.path().join("home/.ssh/authorized_keys"), "evil");
    write(&from.path().join("home/letter"), "letter");
    let tree = from.path().join("home").to_str().unwrap().to_owned();
    for (option, taken) in [(&[][..], false), (&["--hidden"], true)] {
        let to = TempDir::new().unwrap();
        let receiver = Running::recv(to.path(), option);
        let output = send(&receiver.address, &["-r", &settings, &plain, &tree]);
        assert_eq!(output.status.code(), Some(i32::from(!taken)));
        for (name, hidden) in
            [("notes.txt", false), ("home/letter", false), (".bashrc", true), ("home/.ssh", true)]
        {
            assert_eq!(to.path().join(name).exists(), taken || !hidden, "{name} {option:?}");
        }
        let refused: Vec<_> =
            events(&output, "file").into_iter().filter(|file| file["outcome"] == "bad-name").collect();
        // The file, the directory, and what is in it.
        assert_eq!(refused.len(), if taken { 0 } else { 3 });
        assert!(
            refused.iter().all(|file| file["text"].as_str().unwrap().contains("--hidden")),
            "{refused:?}"
        );
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.is_empty(), "with --json nothing else is said: {errors}");
    }
}

#[test]
fn people_read_which_names_are_refused_and_why() {
    let (from, to) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let settings = write(&from.path().join(".profile"), "evil");
    let receiver = Running::recv(to.path(), &[]);
    let output =
        whimbrel().args(["send", "--insecure", "--to", &receiver.address, &settings]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(".profile") && text.contains("hidden") && text.contains("--hidden"), "{text}");
}
