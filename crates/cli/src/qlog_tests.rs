use super::*;

fn texts(bytes: &[u8]) -> Vec<Value> {
    let texts = bytes.split(|byte| *byte == 0x1e).skip(1);
    texts.map(|text| serde_json::from_slice(text.strip_suffix(b"\n").unwrap()).unwrap()).collect()
}

fn record(name: &'static str, path: Option<u32>, value: RecordValue) -> Record {
    Record { name, subject: 7, path, value }
}

#[test]
fn a_file_is_a_sequence_of_json_texts_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.sqlog");
    let mut qlog = Qlog::create(&file).unwrap();
    for at in 0..1000 {
        qlog.record(Duration::from_millis(at), record("cwnd", Some(1), RecordValue::Amount(at)));
    }
    drop(qlog);
    let texts = texts(&std::fs::read(&file).unwrap());
    assert_eq!((texts.len(), &texts[0]["qlog_format"]), (1001, &json!("JSON-SEQ")));
    let windows = texts[1..].iter().map(|text| text["data"]["congestion_window"].as_u64().unwrap());
    assert!(windows.eq(0..1000));
}

#[test]
fn quantities_have_qlogs_names_and_milliseconds() {
    let at = Duration::from_micros(1500);
    let srtt = event(at, record("srtt", Some(0), RecordValue::Amount(20_000_000)));
    let expected = json!({
        "time": 1.5, "name": "recovery:metrics_updated", "group_id": "7", "path": "0", "data": { "smoothed_rtt": 20.0 },
    });
    assert_eq!(srtt, expected);
    let state = event(at, record("state", None, RecordValue::State("cookie-wait")));
    assert_eq!(state["name"], "connectivity:connection_state_updated");
    assert_eq!((&state["data"]["new"], state.get("path")), (&json!("cookie_wait"), None));
    let phase = event(at, record("phase", Some(0), RecordValue::State("slow-start")));
    assert_eq!(
        (&phase["name"], &phase["data"]["new"]),
        (&json!("recovery:congestion_state_updated"), &json!("slow_start"))
    );
}

/// A disk that takes nothing holds nobody up.
#[test]
fn what_cannot_wait_is_dropped_and_counted() {
    let (records, entries) = sync_channel(2);
    let mut qlog = Qlog { records: Some(records), dropped: 0, writer: None };
    for _ in 0..5 {
        qlog.record(Duration::ZERO, record("cwnd", Some(0), RecordValue::Amount(1)));
    }
    assert_eq!(qlog.dropped, 3);
    drop(entries);
    qlog.dropped = 0;
}
