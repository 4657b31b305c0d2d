use super::*;

#[test]
fn what_is_inserted_is_not_searched() {
    let parts = [("{{one}}", "{{two}}".to_owned()), ("{{two}}", "2".to_owned())];
    assert_eq!(fill("a {{one}} b {{two}} c", &parts).unwrap(), "a {{two}} b 2 c");
    assert!(fill("a {{two}}", &parts).is_err());
}

#[test]
fn scripts_and_data_end_where_they_should() {
    assert_eq!(script("a</script>b</SCRIPT>"), "<script>a<\\/script>b</SCRIPT></script>");
    assert_eq!(data("[\"</script>\"]"), "[\"\\u003c/script>\"]");
    assert_eq!(comment("a -- b --- c"), "a - - b - -- c");
}
