use super::*;

fn story(events: &[&str]) -> anyhow::Result<Story> {
    let mut text = "\x1e{\"qlog_version\":\"0.3\"}\n".to_owned();
    for event in events {
        text += &format!("\x1e{event}\n");
    }
    Story::read(text.as_bytes())
}

#[test]
fn quantities_losses_and_handovers_find_their_places() {
    let story = story(&[
        r#"{"time":0,"name":"sctp:path_assigned","group_id":"7","path":"1","data":{"route":{"local":"a:1","remote":"b:2"}}}"#,
        r#"{"time":1,"name":"recovery:metrics_updated","group_id":"7","path":"1","data":{"bytes_sent":5000}}"#,
        r#"{"time":1,"name":"recovery:metrics_updated","group_id":"7","path":"1","data":{"ssthresh":4294967295}}"#,
        r#"{"time":2,"name":"sctp:data_retransmitted","group_id":"7","path":"1","data":{"total":0}}"#,
        r#"{"time":3.5,"name":"sctp:data_retransmitted","group_id":"7","path":"1","data":{"total":3}}"#,
        r#"{"time":4,"name":"sctp:timeout","group_id":"7","path":"1","data":{"total":1}}"#,
        r#"{"time":5,"name":"sctp:handover","group_id":"7","data":{"action":"use_path","path":"2","reason":"why"}}"#,
        r#"{"time":6,"name":"sctp:path_use_updated","group_id":"7","path":"1","data":{"in_use":"no"}}"#,
    ])
    .unwrap();
    let association = &story.associations["7"];
    let path = &association.paths["1"];
    assert_eq!(path.route, Some(("a:1".into(), "b:2".into())));
    assert!(!path.quantities.contains_key("ssthresh"), "slow start has no end yet");
    assert_eq!((path.again.points(), path.retransmitted), (&[(3.5, 5000.0)][..], 3.0));
    let marks: Vec<_> =
        association.marks.iter().map(|mark| (mark.at, mark.kind, mark.text.as_str())).collect();
    assert_eq!(marks, [(4.0, Kind::Loss, "timeout (T3-rtx)"), (5.0, Kind::Handover, "use path  2: why")]);
    assert_eq!((story.events, story.end, story.is_cut_off), (8, 6.0, false));
}

#[test]
fn logs_of_one_nameless_path_are_read() {
    let story = story(&[
        r#"{"time":1,"name":"recovery:metrics_updated","data":{"congestion_window":14720,"smoothed_rtt":30.5}}"#,
        r#"{"time":2,"name":"recovery:packet_lost","data":{}}"#,
    ])
    .unwrap();
    let association = &story.associations[""];
    assert_eq!(association.paths[""].quantities["smoothed_rtt"].last(), Some(30.5));
    assert_eq!(association.marks[0].kind, Kind::Loss);
}

#[test]
fn what_is_no_event_is_said_with_its_line() {
    let error = |event: &str| format!("{:#}", story(&["{\"time\":0,\"name\":\"x\"}", event]).unwrap_err());
    assert!(error("[]").starts_with("line 3: an event without its time"));
    assert!(error(r#"{"time":1}"#).contains("without a name"));
    assert!(error(r#"{"time":-1,"name":"x"}"#).contains("impossible time"));
    assert!(format!("{:#}", Story::read(&b"\x1e{}\n"[..]).unwrap_err()).contains("no qlog"));
}

#[test]
fn a_log_of_any_length_takes_bounded_memory() {
    let mut events = Vec::new();
    for n in 0..1000 {
        events.push(format!(
            r#"{{"time":{n},"name":"recovery:metrics_updated","group_id":"{n}","path":"0","data":{{"rto":1}}}}"#
        ));
        events.push(format!(r#"{{"time":{n},"name":"sctp:restarted","group_id":"0","data":{{}}}}"#));
    }
    let story = story(&events.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert_eq!((story.associations.len(), story.left_out), (PATHS_MAX, 1000 - PATHS_MAX as u64));
    let association = &story.associations["0"];
    assert_eq!((association.marks.len(), association.marks_left_out), (MARKS_MAX, 1000 - MARKS_MAX as u64));
}
