//! Numbers by HTTP, the log, event logs and their page.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Output;
use std::time::Duration;

use common::{Running, whimbrel};

/// A server of measurements, and where its numbers are.
fn server() -> (Running, SocketAddr) {
    let arguments =
        ["perf", "server", "--anyone", "--insecure", "--json", "--listen", "127.0.0.1:0", "--metrics", "0"];
    let mut server = Running::start(&arguments);
    let metrics = server.event("metrics")["address"].as_str().unwrap().parse().unwrap();
    let address = server.event("listening")["addresses"][0].as_str().unwrap().to_owned();
    server.address = address;
    (server, metrics)
}

fn measure(server: &Running, more: &[&str]) -> Output {
    let arguments =
        ["perf", "client", "--insecure", "--to", &server.address, "--bytes", "2000000", "--size", "1000"];
    let output = whimbrel().args(arguments).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What is answered to these bytes.
fn ask(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(common::PATIENCE)).unwrap();
    // Who is sent away at once may not even get rid of his question.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn value(answer: &str, name: &str) -> f64 {
    let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in\n{answer}")).parse().unwrap()
}

#[test]
fn the_numbers_of_a_server_are_served_to_prometheus() {
    let (server, metrics) = server();
    measure(&server, &[]);
    let answer = ask(metrics, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
    assert_eq!(value(body, "whimbrel_associations_established_total"), 1.0);
    assert!(value(body, "whimbrel_message_bytes_received_total") >= 2_000_000.0);
    assert!(value(body, "whimbrel_bytes_received_total") >= 2_000_000.0);
    assert!(value(body, "whimbrel_round_trip_seconds_count") >= 1.0);
    let head = ask(metrics, b"HEAD /metrics HTTP/1.0\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
}

/// Who asks nothing, too much or too slowly holds nobody else up.
#[test]
fn hostile_askers_do_no_harm() {
    let (server, metrics) = server();
    let endless = vec![b'x'; 1 << 20];
    let answer = ask(metrics, &endless);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert!(ask(metrics, b"\xff\xfe\r\n\r\n").starts_with("HTTP/1.1 400 "));
    assert!(ask(metrics, b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask(metrics, b"DELETE /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    let is_served = || {
        std::thread::sleep(Duration::from_millis(50));
        ask(metrics, b"GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 ")
    };
    let mut silent = Vec::new();
    // Those who have just been answered leave their places a moment later: one refusal means little.
    let is_full = || (0..3).all(|_| !is_served());
    while !is_full() {
        std::thread::sleep(Duration::from_millis(20));
        silent.push(TcpStream::connect(metrics).unwrap());
        assert!(silent.len() < 100, "it has room for any number");
    }
    // All places are taken, until those have been silent for too long.
    common::wait_until("an answer", is_served);
    measure(&server, &[]);
}

#[test]
fn a_log_tells_of_an_association_at_debug_and_of_windows_at_trace() {
    let (server, _) = server();
    let errors = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap();
    let debug = errors(&measure(&server, &["--log", "debug"]));
    assert!(debug.contains("association{id=") && debug.contains(": up "), "{debug}");
    assert!(debug.contains("closed reason=") && !debug.contains("cwnd"), "{debug}");
    let trace = errors(&measure(&server, &["--log", "whimbrel=trace"]));
    assert!(trace.contains("TRACE") && trace.contains("cwnd") && trace.contains("srtt"), "{trace}");
    assert_eq!(errors(&measure(&server, &[])), "");
    let arguments = ["perf", "client", "--insecure", "--to", &server.address, "--time", "0.2"];
    let mut command = whimbrel();
    let by_environment = command.args(arguments).env("WHIMBREL_LOG", "debug").output().unwrap();
    assert!(errors(&by_environment).contains("association{id="));
    let wrong = whimbrel().args(arguments).args(["--log", "loud"]).output().unwrap();
    assert!(wrong.status.code() == Some(2) && errors(&wrong).contains("no log level"), "{}", errors(&wrong));
    let wrong = whimbrel().args(arguments).env("WHIMBREL_LOG", "loud").output().unwrap();
    assert!(wrong.status.code() == Some(1) && errors(&wrong).contains("WHIMBREL_LOG"), "{}", errors(&wrong));
}

#[test]
fn a_directory_of_event_logs_is_drawn_file_by_file() {
    let (server, _) = server();
    let dir = tempfile::tempdir().unwrap();
    let logs = format!("{}/logs/", dir.path().display());
    measure(&server, &["--qlog", &logs, "--parallel", "2"]);
    let files: Vec<_> = std::fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("\"connectivity:connection_closed\"") && text.contains("\"bytes_sent\""));
        let page = file.with_extension("html");
        let output = whimbrel().arg("qlog").arg(file).arg("--html").arg(&page).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(" of 1 association over 1 path, "), "{said}");
        let html = std::fs::read_to_string(&page).unwrap();
        assert!(html.contains("<h3>Paths</h3>") && html.contains("established"));
    }
}

#[test]
fn what_is_no_event_log_is_refused_with_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let (file, page) = (dir.path().join("a.sqlog"), dir.path().join("a.html"));
    std::fs::write(&file, "\x1e{\"qlog_version\":\"0.3\"}\n\x1e{\"time\":1}\n").unwrap();
    let draw = || whimbrel().arg("qlog").arg(&file).arg("--html").arg(&page).output().unwrap();
    let output = draw();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && errors.contains("line 2: an event without a name"),
        "{errors}"
    );
    assert!(!page.exists());
    std::fs::write(&file, "\x1e{\"qlog_version\":\"0.3\"}\n\x1e{\"time\":1,").unwrap();
    let output = draw();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.contains("the last event is not whole"), "{errors}");
}
