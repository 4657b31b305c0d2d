use proptest::prelude::*;

use super::{BadRequest, Message, Token};

/// Folded, short names, two Vias in a line and one below, and a body that has been cut off.
const CUT_OFF: &str = "OPTIONS sip:x@10.1.0.1 SIP/2.0\r\n\
    v: SIP/2.0/UDP 10.1.0.50:5070;branch=z9hG4bK1;rport, SIP/2.0/UDP 10.1.0.3;branch=z9hG4bK2\r\n\
    Via: SIP/2.0/UDP 10.1.0.4;branch=z9hG4bK3\r\n\
    From: \"A\"\r\n  <sip:alice@x>;tag=a\r\n\
    t: <sip:b@x>\r\n\
    i: call\r\n\
    CSeq: 7 OPTIONS\r\n\
    Content-Length: 3\r\n\r\nok";

fn tag() -> Token {
    Token::of(&[1; 32])
}

/// RFC 3261 §8.2.6.2, §18.2.2 and RFC 3581 §4.
#[test]
fn an_answer_has_what_its_request_had() {
    let mut bad = BadRequest::read(CUT_OFF.as_bytes()).unwrap();
    let to = bad.received_from("10.1.0.9:4000".parse().unwrap());
    assert_eq!((bad.status(), to), (400, "10.1.0.9:4000".parse().unwrap()));
    let answer = String::from_utf8(bad.answer(&tag())).unwrap();
    assert_eq!(
        answer,
        "SIP/2.0 400 Bad Request\r\n\
         Via: SIP/2.0/UDP 10.1.0.50:5070;branch=z9hG4bK1;rport=4000;received=10.1.0.9, SIP/2.0/UDP 10.1.0.3;branch=z9hG4bK2\r\n\
         Via: SIP/2.0/UDP 10.1.0.4;branch=z9hG4bK3\r\n\
         From: \"A\" <sip:alice@x>;tag=a\r\n\
         To: <sip:b@x>;tag=0101010101010101\r\n\
         Call-ID: call\r\n\
         CSeq: 7 OPTIONS\r\n\
         Content-Length: 0\r\n\r\n"
    );
    assert!(Message::parse(answer.as_bytes()).is_ok());
    let within = CUT_OFF.replace("t: <sip:b@x>", "t: <sip:b@x> ;TAG=b").replace(";rport", "");
    let mut bad = BadRequest::read(within.as_bytes()).unwrap();
    assert_eq!(bad.received_from("10.1.0.9:4000".parse().unwrap()), "10.1.0.9:5070".parse().unwrap());
    let answer = String::from_utf8(bad.answer(&tag())).unwrap();
    assert!(answer.contains("To: <sip:b@x> ;TAG=b\r\n"), "{answer}");
}

/// Nobody answers an ACK or what may be an answer itself, or two hosts would never cease.
#[test]
fn what_is_never_answered() {
    let changed = |from: &str, to: &str| CUT_OFF.replace(from, to);
    for text in [
        changed("OPTIONS", "ACK"),
        changed("OPTIONS sip", "ACK sip"),
        changed("7 OPTIONS", "7 ACK"),
        changed("OPTIONS sip:x@10.1.0.1 SIP/2.0", "SIP/2.0 200 OK"),
        changed("OPTIONS sip:x@10.1.0.1 SIP/2.0", "sip/3.0 700"),
        changed("v: SIP/2.0/UDP 10.1.0.50:5070", "v: there"),
        changed("From:", "Form:"),
        changed("t: <sip:b@x>", "t:"),
        changed("i: call\r\n", ""),
        changed("CSeq: 7 OPTIONS", "CSeq: OPTIONS"),
        changed("i: call", "i: ca\u{7}ll"),
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        CUT_OFF.replace("\r\n\r\nok", &format!("\r\nSubject: {}\r\n\r\nok", "x".repeat(8192))),
    ] {
        assert_eq!(BadRequest::read(text.as_bytes()), None, "{text}");
    }
}

/// RFC 3261 §7.1: methods are words with regard to case, and not what begins with one.
#[test]
fn what_begins_with_a_method_is_another_one() {
    let fitting = CUT_OFF.replace("Length: 3", "Length: 2");
    for method in ["OPTIONSX", "options"] {
        let refusal = |text: &str| {
            assert!(Message::parse(text.as_bytes()).is_err(), "{text}");
            BadRequest::read(text.as_bytes()).map(|bad| bad.status())
        };
        assert_eq!(refusal(&fitting.replace("OPTIONS", method)), Some(501));
        // In one place only they contradict each other.
        assert_eq!(refusal(&fitting.replace("7 OPTIONS", &format!("7 {method}"))), Some(400));
        assert_eq!(refusal(&fitting.replace("OPTIONS sip", &format!("{method} sip"))), Some(400));
    }
    let other = fitting.replace("OPTIONS", "OPTION");
    assert!(Message::parse(other.as_bytes()).is_ok_and(|message| message.method().to_string() == "OPTION"));
}

proptest! {
    #[test]
    fn no_datagram_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = BadRequest::read(&bytes);
    }

    /// An answer is as long as its request, but for what is noted in it.
    #[test]
    fn no_damage_makes_it_panic_or_talkative(cuts in proptest::collection::vec((0..400_usize, any::<u8>()), 0..6)) {
        let mut bytes = CUT_OFF.as_bytes().to_vec();
        for (at, byte) in cuts {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        if let Some(mut bad) = BadRequest::read(&bytes) {
            bad.received_from("10.1.0.9:4000".parse().unwrap());
            prop_assert!(bad.answer(&tag()).len() < bytes.len() + 120);
        }
    }
}
