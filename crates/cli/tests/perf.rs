//! `whimbrel perf` over loopback.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use common::{Running, events, whimbrel};

fn server() -> Running {
    Running::listen(&["perf", "server", "--anyone", "--insecure", "--json", "--listen", "127.0.0.1:0"])
}

fn measure(server: &Running, arguments: &[&str]) -> serde_json::Value {
    let output = whimbrel()
        .args(["perf", "client", "--json", "--insecure", "--to", &server.address])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    events(&output, "summary").remove(0)
}

#[test]
fn a_number_of_bytes_is_counted_exactly_in_both_directions() {
    let server = server();
    for direction in [&[][..], &["--reverse"]] {
        let arguments = ["--bytes", "3000000", "--size", "1000", "--streams", "4", "--unordered"];
        let summary = measure(&server, &[&arguments, direction].concat());
        assert_eq!((&summary["bytes"], &summary["messages"]), (&3_000_000.into(), &3000.into()));
        assert!(summary["goodput_bits_per_second"].as_f64().unwrap() > 0.0);
        assert!(summary["cpu_seconds_per_gb"]["both"].as_f64().unwrap() > 0.0);
        assert_eq!(summary["paths"][0]["state"], "active");
    }
}

#[test]
fn numbers_of_bytes_have_the_same_units_everywhere() {
    let server = server();
    for (bytes, count) in [("1M", 1_000_000), ("64Ki", 65_536)] {
        let summary = measure(&server, &["--bytes", bytes, "--size", "1000", "--window", "1Mi"]);
        assert_eq!(summary["request"]["bytes"], count);
    }
    for (option, nonsense, words) in
        [("--window", "1k", "between 64Ki and 1Gi"), ("--bytes", "0", "more than 0")]
    {
        let arguments = ["perf", "client", "--insecure", "--to", "127.0.0.1", option, nonsense];
        let output = whimbrel().args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && errors.contains(words), "{errors}");
    }
}

/// What has come in one packet has come in no time.
#[test]
fn no_rate_is_made_of_a_moment() {
    let server = server();
    let summary = measure(&server, &["--bytes", "1", "--size", "1"]);
    assert_eq!(summary["bytes"], 1);
    assert!(
        summary["goodput_bits_per_second"].is_null() && summary["messages_per_second"].is_null(),
        "{summary}"
    );
    let arguments = ["perf", "client", "--insecure", "--to", &server.address, "--bytes", "1", "--size", "1"];
    let output = whimbrel().args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("to the server: 1 B in") && !text.contains("bit/s"), "{text}");
}

#[test]
fn time_ends_a_measurement() {
    let server = server();
    let summary = measure(&server, &["--time", "0.5", "--size", "64"]);
    assert!(summary["seconds"].as_f64().unwrap() >= 0.5, "{summary}");
}

#[test]
fn round_trips_are_measured() {
    let server = server();
    let summary = measure(&server, &["--latency", "--time", "0.5"]);
    let times = &summary["round_trip_us"];
    let value = |name: &str| times[name].as_f64().unwrap();
    assert!(value("count") >= 1.0 && value("min") > 1.0);
    assert!(value("min") <= value("p50") && value("p50") <= value("p99") && value("p99") <= value("max"));
}

/// A perf server's peer by the library: what a client may say, and not say.
async fn connect(server: &Running) -> (whimbrel::Endpoint, whimbrel::Association) {
    let local: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    let endpoint = whimbrel::Endpoint::bind([local]).await.unwrap();
    let association = endpoint.connect(&[server.address.parse().unwrap()], 7879).await.unwrap();
    (endpoint, association)
}

fn control(json: &str) -> whimbrel::Message {
    let mut message = whimbrel::Message::new(whimbrel::StreamId(0), json.to_owned());
    message.ppid = whimbrel::PayloadProtocolId(0x5748_5000);
    message
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_says_nothing_does_not_keep_its_place() {
    let mut server = server();
    let (_endpoint, association) = connect(&server).await;
    tokio::time::timeout(common::PATIENCE, association.closed()).await.expect("it is sent away");
    assert_eq!(server.event("failed")["text"], "the client said nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_is_answered_and_does_not_reach_the_terminal_as_it_is() {
    let mut server = server();
    for (said, answer) in [
        (
            r#"{"request":{"version":2,"mode":"upload","size":0,"seconds":1,"bytes":null,"streams":1,"unordered":false}}"#,
            "message size 0",
        ),
        (
            r#"{"request":{"version":2,"mode":"upload","size":9,"seconds":-1,"bytes":null,"streams":1,"unordered":false}}"#,
            "duration",
        ),
        (
            r#"{"request":{"version":2,"mode":"upload","size":9,"seconds":1,"bytes":null,"streams":65535,"unordered":false}}"#,
            "65535 streams",
        ),
        (r#"{"error":"\u001b[2J"}"#, "the peer says: \\u{1b}[2J"),
        ("not JSON at all", "does not speak"),
        (r#""ready""#, "not the request"),
    ] {
        let (_endpoint, association) = connect(&server).await;
        association.send(control(said)).await.unwrap();
        let text = server.event("failed")["text"].as_str().unwrap().to_owned();
        assert!(text.contains(answer), "{text}");
        tokio::time::timeout(common::PATIENCE, association.closed()).await.expect("it is sent away");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_sent_away_hears_why() {
    let server = server();
    // All places are taken by clients that say nothing yet.
    let mut others = Vec::new();
    for _ in 0..16 {
        others.push(connect(&server).await);
    }
    let client = || {
        whimbrel()
            .args(["perf", "client", "--time", "0.2", "--insecure", "--to", &server.address])
            .output()
            .unwrap()
    };
    let output = tokio::task::block_in_place(client);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("busy with other measurements"), "{errors}");
}

#[test]
fn both_directions_at_once_and_several_associations_are_summed() {
    let server = server();
    let arguments = ["--bidir", "--parallel", "3", "--bytes", "2000000", "--size", "1000", "--streams", "4"];
    let summary = measure(&server, &arguments);
    assert_eq!((&summary["associations"], &summary["request"]["mode"]), (&3.into(), &"both".into()));
    for direction in [&summary, &summary["from_server"]] {
        assert_eq!((&direction["bytes"], &direction["messages"]), (&6_000_000.into(), &6000.into()));
        assert!(direction["goodput_bits_per_second"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(summary["paths"].as_array().unwrap().len(), 3);
}

#[test]
fn several_associations_from_the_server_are_summed() {
    let server = server();
    let arguments = ["--reverse", "-P", "3", "--bytes", "2000000", "--size", "1000"];
    let summary = measure(&server, &arguments);
    assert_eq!((&summary["bytes"], &summary["messages"]), (&6_000_000.into(), &6000.into()));
}

/// A rate is kept on the average, whatever the machine does meanwhile.
#[test]
fn a_rate_is_not_exceeded() {
    let server = server();
    for (parallel, size) in [("1", "1000"), ("2", "1000"), ("4", "65536")] {
        let arguments = ["--rate", "8M", "--time", "1", "--size", size, "--parallel", parallel];
        let summary = measure(&server, &arguments);
        let bytes = summary["bytes"].as_u64().unwrap();
        assert!((100_000..=1_000_000).contains(&bytes), "{bytes} bytes in 1 s at 1 MB/s");
        assert!(summary["goodput_bits_per_second"].as_f64().unwrap() < 8.1e6, "{summary}");
    }
    let arguments = ["perf", "client", "--insecure", "--to", "127.0.0.1", "--rate", "5"];
    let output = whimbrel().args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && errors.contains("at least 1000, such as 20M"), "{errors}");
}

/// Who measures sees what the windows did meanwhile.
#[test]
fn a_qlog_file_tells_of_windows_and_paths_to_the_end() {
    let server = server();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("perf.sqlog");
    measure(&server, &["--bytes", "3000000", "--qlog", file.to_str().unwrap()]);
    let text = std::fs::read_to_string(&file).unwrap();
    let texts: Vec<serde_json::Value> =
        text.split('\u{1e}').skip(1).map(|text| serde_json::from_str(text).unwrap()).collect();
    let of = |name: &'static str| texts.iter().filter(move |text| text["name"] == name);
    let states: Vec<&str> =
        of("connectivity:connection_state_updated").filter_map(|text| text["data"]["new"].as_str()).collect();
    assert!(states.starts_with(&["cookie_wait", "cookie_echoed", "established"]), "{states:?}");
    assert_eq!(states.last(), Some(&"closed"), "{states:?}");
    let windows = of("recovery:metrics_updated").filter(|text| text["data"]["congestion_window"].is_u64());
    assert!(windows.count() > 5 && of("sctp:path_use_updated").count() >= 1);
    let output = whimbrel()
        .args(["perf", "client", "--insecure", "--to", "127.0.0.1", "--qlog", "/nowhere/a"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("--qlog: cannot write /nowhere/a"), "{errors}");
}

/// One line per second tells of the rate, what was sent again, the window and the round trip.
#[test]
fn lines_tell_of_every_second() {
    let server = server();
    let arguments =
        ["perf", "client", "--insecure", "--to", &server.address, "--time", "2.5", "--rate", "8M", "--bidir"];
    let output = whimbrel().args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let seconds: Vec<&str> = text.lines().filter(|line| line.contains(" Mbit/s  ")).collect();
    assert!((2..=3).contains(&seconds.len()), "{text}");
    assert!(
        seconds
            .iter()
            .all(|line| line.contains("  rtx ") && line.contains("  cwnd ") && line.contains(" ms")),
        "{text}"
    );
    assert!(text.contains("\nto the server: ") && text.contains("\nfrom the server: "), "{text}");
    assert!(seconds.iter().all(|line| line.contains("  back ")), "{text}");

    let arguments = [
        "perf",
        "client",
        "--insecure",
        "--to",
        &server.address,
        "--time",
        "1.5",
        "--rate",
        "8M",
        "--reverse",
    ];
    let output = whimbrel().args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let second = text.lines().find(|line| line.contains(" Mbit/s  ")).expect("a line of a second");
    assert!(!second.contains("cwnd") && !second.contains("back") && second.contains(" ms"), "{text}");
}

/// A server shows a ticket, and whoever has it measures, encrypted; who has none is told to ask for it.
#[test]
fn the_server_s_ticket_is_all_that_is_needed() {
    let home = tempfile::tempdir().unwrap();
    let environment = [("XDG_CONFIG_HOME", home.path())];
    let arguments = ["perf", "server", "--json", "--listen", "127.0.0.1:0"];
    let mut server = Running::start_with(&arguments, &environment);
    let listening = server.event("listening");
    let ticket = server.event("ticket")["ticket"].as_str().unwrap().to_owned();
    let arguments =
        ["perf", "client", "--json", "--bytes", "300000", "--size", "1000", "-P", "4", "--to", &ticket];
    let output = whimbrel().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(events(&output, "connected")[0]["protected"], true);
    assert_eq!(events(&output, "summary")[0]["bytes"], 1_200_000);
    let address = listening["addresses"][0].as_str().unwrap();
    let output = whimbrel().args(["perf", "client", "--insecure", "--to", address]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && errors.contains("leave --insecure out"), "{errors}");
}
