//! What is refused is refused as RFC 3261 has it, by all three machines.

use core::time::Duration;

use crate::sip::Message;
use crate::testing::{CORRESPONDENT, SOURCE, Scene, TERMINAL, address};

fn request(method: &str, more: &str) -> String {
    format!(
        "{method} sip:x@10.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 10.9.0.1:5060;branch=z9hG4bKa\r\nFrom: <sip:a@x>;tag=1\r\n\
        To: <sip:b@x>\r\nCall-ID: c\r\nCSeq: 1 {method}\r\n{more}Content-Length: 0\r\n\r\n"
    )
}

/// The answers to requests that come to a host from somebody else, one after the other.
fn answers(host: usize, requests: &[String]) -> Vec<Message> {
    let mut scene = Scene::new(1);
    let n = if host == SOURCE { 1 } else { 0 };
    for text in requests {
        scene.deliver_sip(host, address(host, n), "10.9.0.1:5060".parse().unwrap(), text.as_bytes());
        scene.pass(Duration::from_millis(1));
    }
    let answers =
        scene.log.into_iter().filter(|(_, from, _, message)| *from == host && !message.is_request());
    answers.map(|(.., message)| message).collect()
}

fn answer(host: usize, method: &str, more: &str) -> Message {
    answers(host, &[request(method, more)])
        .pop()
        .unwrap_or_else(|| panic!("host {host} does not answer {method}"))
}

/// RFC 3261 §9.2: whatever the request was that is cancelled, and though it is answered already; with the same tag as that.
#[test]
fn a_cancel_is_agreed_to_if_there_is_what_it_cancels() {
    for host in [TERMINAL, SOURCE, CORRESPONDENT] {
        for (method, status) in [("INVITE", 488), ("OPTIONS", 200)] {
            // The terminal takes no calls.
            let status = if (host, method) == (TERMINAL, "INVITE") { 481 } else { status };
            let answers = answers(host, &[request(method, ""), request("CANCEL", "")]);
            let of = |answer: &Message| (answer.status(), answer.method().to_string());
            let expected = [(status, method.to_owned()), (200, "CANCEL".to_owned())];
            assert_eq!(answers.iter().map(of).collect::<Vec<_>>(), expected, "host {host}");
            assert_eq!(answers[0].to_tag(), answers[1].to_tag(), "host {host}");
        }
        let other = request("CANCEL", "").replace("z9hG4bKa", "z9hG4bKb");
        let answers = answers(host, &[request("INVITE", ""), other]);
        assert_eq!(answers.last().unwrap().status(), 481, "host {host}");
    }
}

#[test]
fn who_knows_no_such_method_says_which_there_are() {
    for (host, methods) in [
        (TERMINAL, "INVITE, ACK, CANCEL, OPTIONS, BYE"),
        (SOURCE, "INVITE, ACK, CANCEL, OPTIONS, BYE, RESOURCE_QUERY, CONTEXT_TRANSFER"),
        (CORRESPONDENT, "INVITE, ACK, CANCEL, OPTIONS, UPDATE, BYE"),
    ] {
        // The method is looked at first.
        let refusal = answer(host, "SUBSCRIBE", "Require: something\r\n");
        assert_eq!((refusal.status(), refusal.header("Allow")), (405, Some(methods)));
    }
}

/// RFC 3261 §21.5.2: what nobody knows is another thing than what is not allowed here.
#[test]
fn a_method_that_nobody_knows_is_not_implemented() {
    for host in [TERMINAL, SOURCE, CORRESPONDENT] {
        for (method, status) in [("BREW", 501), ("REGISTER", 405), ("PUBLISH", 405)] {
            assert_eq!(answer(host, method, "").status(), status, "host {host}, {method}");
        }
        for method in ["RESOURCE_QUERY", "CONTEXT_TRANSFER"].into_iter().filter(|_| host != SOURCE) {
            assert_eq!(answer(host, method, "").status(), 405, "host {host}, {method}");
        }
    }
}

/// RFC 3261 §18.3 and §21.4.1. It leaves nothing behind (§8.2.7): the same again is answered again.
#[test]
fn what_is_bad_is_told_so() {
    for host in [TERMINAL, SOURCE, CORRESPONDENT] {
        let bad = request("OPTIONS", "").replace("Length: 0", "Length: 1");
        let answers = answers(host, &[bad.clone(), bad.replace("OPTIONS", "ACK"), bad]);
        assert_eq!(answers.iter().map(Message::status).collect::<Vec<_>>(), [400, 400], "host {host}");
    }
}

#[test]
fn what_is_required_and_unknown_is_named() {
    for host in [TERMINAL, SOURCE, CORRESPONDENT] {
        let refusal = answer(host, "INVITE", "Require: nothingSupportsThis\r\nRequire: 100rel, norThis\r\n");
        let unsupported = refusal.header("Unsupported");
        assert_eq!((refusal.status(), unsupported), (420, Some("nothingSupportsThis, 100rel, norThis")));
    }
}

/// A gateway calls nobody on its own host, and no groups of hosts.
#[test]
fn there_is_no_correspondent_at_such_an_address() {
    let own = address(SOURCE, 1).ip().to_string();
    let called = |ip: &str| {
        let application = format!("UFA_Application: sctp 10.9.0.1:7000 {ip}:7000\r\n");
        answer(SOURCE, "INVITE", &application).status()
    };
    for nobody in [own.as_str(), "127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "[::1]", "[ff02::1]"]
    {
        assert_eq!(called(nobody), 488, "{nobody}");
    }
    assert_eq!(called("10.9.0.7"), 100);
}
