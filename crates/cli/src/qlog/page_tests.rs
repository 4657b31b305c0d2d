use super::*;

fn page(events: &[&str]) -> String {
    let mut text = "\x1e{\"qlog_version\":\"0.3\"}\n".to_owned();
    for event in events {
        let _ = writeln!(text, "\x1e{event}");
    }
    render("a <b>.sqlog", &Story::read(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn the_page_is_whole_and_says_something_without_scripts() {
    let page = page(&[
        r#"{"time":0,"name":"sctp:path_assigned","group_id":"7","path":"1","data":{"route":{"local":"192.0.2.1:9","remote":"192.0.2.2:9"}}}"#,
        r#"{"time":1,"name":"recovery:metrics_updated","group_id":"7","path":"1","data":{"congestion_window":12000}}"#,
        r#"{"time":1500,"name":"sctp:timeout","group_id":"7","path":"1","data":{"total":1}}"#,
    ]);
    assert!(!page.contains("{{"), "a placeholder is left");
    assert!(!page.contains("http://") || !page.contains("src=\"http"), "something is loaded from elsewhere");
    for text in [
        "1: 192.0.2.1:9 → 192.0.2.2:9</th>",
        "12000 to 12000",
        "<th scope=\"row\">1.500 s</th><td>path 1: timeout (T3-rtx)</td>",
        "3 events of 1 association over 1 path, 1.500 s",
        "id=\"window-0-0\"",
        "default-src 'none'",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn what_a_log_says_is_text() {
    let page = page(&[
        r#"{"time":0,"name":"sctp:path_assigned","group_id":"<script>1","path":"1","data":{"route":{"local":"</script><script>alert(1)","remote":"\"><img src=x>"}}}"#,
        r#"{"time":1,"name":"connectivity:connection_closed","group_id":"<script>1","data":{"reason":"<script>alert(2)"}}"#,
    ]);
    for attack in ["<script>alert", "<script>1", "<img", "a <b>"] {
        assert!(!page.contains(attack), "{attack}");
    }
    assert_eq!(page.matches("<script").count(), 3, "its data, uPlot, and its own script");
    assert_eq!(page.matches("</script>").count(), 3);
}
