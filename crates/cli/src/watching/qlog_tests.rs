use serde_json::json;

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

/// A disk that takes nothing holds nobody up.
#[test]
fn what_cannot_wait_is_dropped_and_counted() {
    let (sender, entries) = sync_channel(2);
    let mut qlog = Qlog { entries: Some(sender), dropped: 0, writer: None };
    for _ in 0..5 {
        qlog.record(Duration::ZERO, record("cwnd", Some(0), RecordValue::Amount(1)));
    }
    assert_eq!(qlog.dropped, 3);
    drop(entries);
    qlog.dropped = 0;
}
