//! Where the command's words go: pipes that nobody reads any more, and disks that are full.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::fs::File;
use std::process::Stdio;

use common::whimbrel;
use tempfile::TempDir;

/// The writing end of a pipe whose other end is closed already.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Every write to it fails, as on a full disk.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn nobody_reads_any_more() {
    for arguments in
        [&["completions", "bash"][..], &["lab", "list"], &["paths", "--once"], &["paths", "--json"]]
    {
        let output = whimbrel().args(arguments).stdout(closed_pipe()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_full_disk_under_stdout_is_said() {
    for arguments in
        [&["completions", "bash"][..], &["lab", "list", "--json"], &["paths", "--once", "--json"]]
    {
        let output = whimbrel().args(arguments).stdout(full()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains("cannot write to standard output: No space left"), "{arguments:?}: {errors}");
    }
}

#[test]
fn errors_that_nobody_can_hear_change_nothing() {
    let missing = ["send", "no-such-file", "--insecure", "--to", "127.0.0.1"];
    let usage = ["lab", "run", "no-such-experiment"];
    for (arguments, code) in [(&missing[..], 1), (&usage, 2)] {
        for stderr in [closed_pipe(), full()] {
            let status = whimbrel().args(arguments).stderr(stderr).status().unwrap();
            assert_eq!(status.code(), Some(code), "{arguments:?}");
        }
    }
}

#[test]
fn a_capture_that_cannot_be_written_is_called_that() {
    let directory = TempDir::new().unwrap();
    let nowhere = directory.path().join("nowhere");
    let output = whimbrel()
        .args(["demo", "--capture", nowhere.to_str().unwrap()])
        .current_dir(directory.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("nowhere/whimbrel-demo-wifi.pcapng: No such file"), "{errors}");
}
