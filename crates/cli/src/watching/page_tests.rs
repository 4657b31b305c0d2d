use super::*;

#[test]
fn a_port_alone_is_of_this_host() {
    assert_eq!(address("9464"), Ok(([127, 0, 0, 1], 9464).into()));
    assert_eq!(address("[::1]:1").unwrap().to_string(), "[::1]:1");
    for wrong in ["", "localhost", "65536", "192.0.2.7", "http://192.0.2.7:80"] {
        assert!(address(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn only_one_page_is_there_and_only_to_be_read() {
    let status = |head: &str| match understand(head.as_bytes()) {
        Ok(method) => format!("{method:?}"),
        Err(answer) => answer.split(' ').nth(1).unwrap().to_owned(),
    };
    assert_eq!(status("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), "Get");
    assert_eq!(status("HEAD /metrics?a=b HTTP/1.0\r\n\r\n"), "Head");
    assert_eq!(status("POST /metrics HTTP/1.1\r\n\r\n"), "405");
    assert_eq!(status("GET /../etc/passwd HTTP/1.1\r\n\r\n"), "404");
    for nonsense in
        ["\r\n\r\n", "GET /metrics\r\n\r\n", "GET  /metrics HTTP/1.1\r\n\r\n", "GET /metrics HTTP/1.1"]
    {
        assert_eq!(status(nonsense), "400", "{nonsense:?}");
    }
    assert_eq!(status(&"x".repeat(HEAD_MAX)), "431");
}
