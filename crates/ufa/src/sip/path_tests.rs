use sip_types::Headers;

use super::*;

fn request(more: &str) -> Message {
    let text = format!(
        "INVITE sip:a@10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 10.1.0.9;branch=z9hG4bK1\r\nFrom: <sip:a@x>;tag=1\r\n\
         To: <sip:b@x>\r\nCall-ID: c\r\nCSeq: 1 INVITE\r\n{more}\r\n"
    );
    Message::parse(text.as_bytes()).unwrap()
}

/// What is written on a request by this path.
fn written(path: &Path) -> (String, Vec<String>) {
    let mut headers = Headers::new();
    let uri = path.write(&mut headers).unwrap();
    let routes = headers.get_raw(&Name::ROUTE).map(ToString::to_string).collect();
    (format!("{uri:?}"), routes)
}

/// RFC 3261 §12.1.1, §12.1.2 and §12.2.1.1.
#[test]
fn requests_go_back_by_the_proxies_that_want_them() {
    let request = request(
        "Record-Route: <sip:10.1.0.9;lr>, <sip:10.1.0.8;lr>\r\nRecord-Route: \"far\" <sip:p@proxy.example;lr=on>\r\n\
         Contact: \"A\" <sip:alice@robot.example:5070;transport=tcp>;expires=7\r\n",
    );
    let path = Path::of_request(&request).unwrap();
    let target = "sip:alice@robot.example:5070;transport=tcp".to_owned();
    let routes = ["<sip:10.1.0.9;lr>", "<sip:10.1.0.8;lr>", "<sip:p@proxy.example;lr=on>"].map(str::to_owned);
    assert_eq!(written(&path), (target.clone(), routes.to_vec()));
    let mut back = routes.to_vec();
    back.reverse();
    assert_eq!(written(&Path::of_response(&request).unwrap()), (target, back));
    let first = Contact { address: "10.1.0.9:5060".parse().unwrap(), transport: Transport::Udp };
    assert_eq!(path.first(Transport::Udp), Some(first));
    // As one gateway tells the next one.
    let words = path.written();
    assert_eq!(Path::read(&words.split_ascii_whitespace().collect::<Vec<_>>()), Ok(path));
    assert_eq!(Path::read(&[]), Ok(Path::default()));
}

/// RFC 3261 §12.2.1.1: a router of RFC 2543 takes the Request-URI for its own, and so the other end is the last of the routes.
#[test]
fn a_strict_router_is_the_request_uri() {
    let request =
        request("Record-Route: <sip:10.1.0.9>, <sip:10.1.0.8;lr>\r\nContact: <sip:alice@10.1.0.50>\r\n");
    let routes = vec!["<sip:10.1.0.8;lr>".to_owned(), "<sip:alice@10.1.0.50>".to_owned()];
    assert_eq!(written(&Path::of_request(&request).unwrap()), ("sip:10.1.0.9".into(), routes));
}

#[test]
fn what_cannot_be_used_is_refused() {
    let long = format!("Contact: <sip:{}@10.1.0.50>\r\n", "a".repeat(URI_MAX));
    let many = "Record-Route: <sip:10.1.0.9;lr>\r\n".repeat(ROUTES_MAX + 1);
    for bad in [
        long.as_str(),
        many.as_str(),
        "Contact: *\r\n",
        "Contact: <tel:1>\r\n",
        "Record-Route: x\r\n",
        "Record-Route: <sip:a@b>, <tel:1>, <sip:c@d>\r\n",
    ] {
        assert_eq!(Path::of_request(&request(bad)), Err(BadPath), "{bad}");
    }
    assert_eq!(Path::of_request(&request("")), Ok(Path::default()));
    assert!(Path::read(&["sip:a@b", "no uri"]).is_err());
    assert!(Path::read(&["sip:a@b"; ROUTES_MAX + 2]).is_err());
}

#[test]
fn a_uri_says_where_and_how() {
    let place = |uri: &str| {
        place(&uri.parse().unwrap(), Transport::Udp).map(|at| (at.address.to_string(), at.transport))
    };
    assert_eq!(place("sip:a@10.1.0.50"), Some(("10.1.0.50:5060".into(), Transport::Udp)));
    assert_eq!(place("sip:10.1.0.50:5070;transport=TCP"), Some(("10.1.0.50:5070".into(), Transport::Tcp)));
    assert_eq!(place("sip:a@[2001:db8::1];lr"), Some(("[2001:db8::1]:5060".into(), Transport::Udp)));
    for nowhere in
        ["sips:a@10.1.0.50", "sip:a@10.1.0.50;transport=tls", "sip:a@host.example", "sip:a@10.1.0.50:0"]
    {
        assert_eq!(place(nowhere), None, "{nowhere}");
    }
}

/// The lab's messages, and those of hosts with keys, are as they were.
#[test]
fn without_a_path_nothing_is_written() {
    let mut headers = Headers::new();
    assert!(Path::default().write(&mut headers).is_none());
    assert!(headers.to_string().is_empty() && Path::default().written().is_empty());
}
