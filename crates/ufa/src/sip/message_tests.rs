use proptest::prelude::*;
use whimbrel_machine::Seed;

use super::*;
use crate::sip::{Contact, Dialog, Transport, response};

const INVITE: &str = "INVITE sip:cn@10.0.0.1:5060 SIP/2.0\r\n\
    v: SIP/2.0/UDP 10.1.0.2:5060;branch=z9hG4bK1\r\n\
    Max-Forwards: 70\r\n\
    From: <sip:mn@ufa.invalid>;tag=a\r\n\
    To: <sip:cn@ufa.invalid>\r\n\
    i: call\r\n\
    CSeq: 3 INVITE\r\n\
    UFA_Application: sctp 10.1.0.2:1 10.0.0.1:2\r\n\
    Content-Length: 2\r\n\r\nhello";

#[test]
fn a_request_is_read_with_short_names_and_the_body_that_it_says() {
    let message = Message::parse(INVITE.as_bytes()).unwrap();
    assert!(message.is_request());
    assert_eq!((message.branch(), message.call_id(), message.cseq()), ("z9hG4bK1", "call", 3));
    assert_eq!((message.from_tag(), message.to_tag(), message.status()), (Some("a"), None, 0));
    assert_eq!(message.header("ufa_application"), Some("sctp 10.1.0.2:1 10.0.0.1:2"));
    assert_eq!(&message.body()[..], b"he");
}

#[test]
fn what_is_written_reads_the_same() {
    let message = Message::parse(INVITE.as_bytes()).unwrap().with("UFA_BDP", 4500).with_body("body");
    let again = Message::parse(&message.to_bytes()).unwrap();
    assert_eq!(again.header("UFA_BDP"), Some("4500"));
    assert_eq!((again.branch(), again.cseq(), &again.body()[..]), ("z9hG4bK1", 3, &b"body"[..]));
}

/// A Content-Length that came with a message must not go out beside ours.
#[test]
fn there_is_one_content_length() {
    let bytes = Message::parse(INVITE.as_bytes()).unwrap().with_body("four").to_bytes();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.matches("Content-Length").count(), 1, "{text}");
}

#[test]
fn what_lacks_a_header_is_no_message() {
    for header in ["v:", "From:", "To:", "i:", "CSeq:"] {
        let without: Vec<&str> = INVITE.split("\r\n").filter(|line| !line.starts_with(header)).collect();
        assert!(Message::parse(without.join("\r\n").as_bytes()).is_err(), "{header}");
    }
    assert!(Message::parse(INVITE.replace("3 INVITE", "3 OPTIONS").as_bytes()).is_err());
    assert!(Message::parse(INVITE.replace("Length: 2", "Length: 6").as_bytes()).is_err(), "a body cut off");
    assert!(Message::parse(INVITE.replace(";branch=z9hG4bK1", "").as_bytes()).is_err());
    assert!(Message::parse(&[b'a'; 9000]).is_err());
}

#[test]
fn a_response_has_the_headers_of_its_request_and_a_tag() {
    let request = Message::parse(INVITE.as_bytes()).unwrap();
    let tag = Token::random(&mut Seed::from_u64(1).stream("test", 0));
    let answer = Message::parse(&response(&request, 200, &tag).unwrap().to_bytes()).unwrap();
    assert_eq!((answer.status(), answer.to_tag()), (200, Some(tag.as_str())));
    assert_eq!((answer.branch(), answer.call_id(), answer.cseq()), ("z9hG4bK1", "call", 3));
    // RFC 3261 §8.2.6.2: 100 opens no dialog.
    assert_eq!(response(&request, 100, &tag).unwrap().to_tag(), None);
}

#[test]
fn a_dialog_survives_its_way_to_the_next_gateway() {
    let request = Message::parse(INVITE.as_bytes()).unwrap();
    let tag = Token::random(&mut Seed::from_u64(1).stream("test", 0));
    for (transport, carrier) in [
        (Transport::Udp, Transport::Udp),
        (Transport::Udp, Transport::Tls),
        (Transport::Tls, Transport::Udp),
        (Transport::Tls, Transport::Tls),
    ] {
        let target = Contact { address: "10.1.0.2:5060".parse().unwrap(), transport };
        let dialog = Dialog::opened(&request, &tag, target).after(2);
        assert_eq!(Dialog::read(&dialog.written(carrier), carrier), Ok(dialog));
    }
    // What does not say is spoken to as the gateway that tells of it: who has keys is not spoken to in clear by an omission.
    let words = "call local 1 remote 2 3 4 10.1.0.2:5061";
    for carrier in [Transport::Udp, Transport::Tls] {
        assert_eq!(Dialog::read(words, carrier).unwrap().target().transport, carrier);
    }
}

/// RFC 3261 §18.2.2 and §16.7: the answer goes back by all proxies, in whatever lines they stand.
#[test]
fn an_answer_has_all_vias() {
    let (second, third) =
        ("SIP/2.0/UDP 10.0.0.3:5060;branch=z9hG4bK2", "SIP/2.0/TCP 10.0.0.4;branch=z9hG4bK3;x=\"a, b\"");
    let with = |more: &str| INVITE.replace("branch=z9hG4bK1\r\n", &format!("branch=z9hG4bK1{more}\r\n"));
    for text in [
        with(&format!("\r\nVia: {second}\r\nVia: {third}")),
        with(&format!(", {second}\r\nVia: {third}")),
        with(&format!(" ,{second}, {third}")),
        with(&format!("\r\nVia: {second}, {third}")),
    ] {
        let request = Message::parse(text.as_bytes()).unwrap();
        let (request, _) = request.received_from("10.1.0.9:4000".parse().unwrap()).unwrap();
        let tag = Token::random(&mut Seed::from_u64(1).stream("test", 0));
        let answer = response(&request, 200, &tag).unwrap().list("Via").unwrap();
        let first = "SIP/2.0/UDP 10.1.0.2:5060;branch=z9hG4bK1;received=10.1.0.9";
        assert_eq!(answer, format!("{first}, {second}, {third}"));
    }
}

/// RFC 3581 §4: `received` goes with `rport`, whatever sent-by says.
#[test]
fn rport_is_filled_in_with_received() {
    let text = INVITE.replace("branch=z9hG4bK1", "rport;branch=z9hG4bK1");
    let (request, to) =
        Message::parse(text.as_bytes()).unwrap().received_from("10.1.0.2:4000".parse().unwrap()).unwrap();
    assert_eq!(to, "10.1.0.2:4000".parse().unwrap());
    let via = request.header("Via").unwrap();
    assert!(via.contains(";rport=4000") && via.contains(";received=10.1.0.2"), "{via}");
}

proptest! {
    #[test]
    fn no_datagram_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = Message::parse(&bytes);
    }

    /// What is nearly a message.
    #[test]
    fn no_damage_makes_it_panic(cuts in proptest::collection::vec((0..330_usize, any::<u8>()), 0..6), end in 0..330_usize) {
        let mut bytes = INVITE.as_bytes().to_vec();
        for (at, byte) in cuts {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        bytes.truncate(end.max(1));
        if let Ok(message) = Message::parse(&bytes) {
            let _ = Message::parse(&message.to_bytes());
        }
    }
}
