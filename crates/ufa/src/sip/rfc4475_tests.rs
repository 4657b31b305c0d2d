//! Messages after those of RFC 4475, each with what that RFC asks of whoever reads it: made by hand for the same trait, section by section. What
//! cannot be used is refused where that RFC asks for it, and dropped where nobody could be answered.

use super::{BadRequest, Message};

/// A request of ours, with `changes` to it: each a text and what stands in its place.
fn request(changes: &[(&str, &str)]) -> String {
    let mut text = String::from(
        "INVITE sip:cn@10.0.0.1:5060 SIP/2.0\r\n\
        Via: SIP/2.0/UDP 10.1.0.2:5060;branch=z9hG4bK1\r\n\
        Max-Forwards: 70\r\n\
        From: <sip:mn@ufa.invalid>;tag=a\r\n\
        To: <sip:cn@ufa.invalid>;tag=b\r\n\
        Call-ID: call@10.1.0.2\r\n\
        CSeq: 3 INVITE\r\n\
        Contact: <sip:10.1.0.2:5060>\r\n\
        Content-Length: 2\r\n\r\nok",
    );
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text
}

fn read(changes: &[(&str, &str)]) -> Message {
    let text = request(changes);
    Message::parse(text.as_bytes()).unwrap_or_else(|_| panic!("this is a message:\n{text}"))
}

/// It is no message, and is answered by this status, if by any.
fn is_answered(status: Option<u16>, changes: &[(&str, &str)]) {
    let text = request(changes);
    assert!(Message::parse(text.as_bytes()).is_err(), "this is none:\n{text}");
    let answered = BadRequest::read(text.as_bytes()).map(|bad| bad.status());
    assert_eq!(answered, status, "{text}");
}

fn is_dropped(changes: &[(&str, &str)]) {
    is_answered(None, changes);
}

fn is_bad(changes: &[(&str, &str)]) {
    is_answered(Some(400), changes);
}

/// RFC 4475 §3.1.1.1: names in any case and short, lines folded, blanks around the colon, headers that nobody knows.
#[test]
fn a_short_tortuous_invite() {
    let message = read(&[
        ("Via: SIP/2.0/UDP 10.1.0.2:5060;branch=z9hG4bK1", "v:  SIP/2.0/UDP  10.1.0.2:5060 ;branch=z9hG4bK1"),
        ("From: ", "FROM \t: "),
        ("To: <sip:cn@ufa.invalid>;tag=b", "TO :\r\n <sip:cn@ufa.invalid>;\r\n  tag    = b"),
        ("Call-ID: ", "i:"),
        ("CSeq: 3 INVITE", "cseq: 0003\r\n  INVITE"),
        (
            "Max-Forwards: 70",
            "MaX-fOrWaRdS: 0068\r\nNewFangledHeader:   newfangled value\r\n continued\r\nUnknownHeaderWithUnusualValue: ;;,,;;,;",
        ),
        ("Content-Length: 2", "l: 2"),
    ]);
    assert_eq!((message.branch(), message.call_id(), message.cseq()), ("z9hG4bK1", "call@10.1.0.2", 3));
    assert_eq!(
        (message.from_tag(), message.to_tag(), &message.body()[..]),
        (Some("a"), Some("b"), &b"ok"[..])
    );
}

/// RFC 4475 §3.1.1.2: a method is a token of any of its characters, and unknown ones are for the user of transactions to refuse.
#[test]
fn a_wide_range_of_valid_characters() {
    let method = "!interesting-Method0123456789_*+`.%indeed'~";
    let message = read(&[("INVITE", method)]);
    assert_eq!(message.method().to_string(), method);
    let id = "intmeth.word%ZK-!.*_+'@word`~)(><:\\/\"][?}{";
    assert_eq!(read(&[("call@10.1.0.2", id)]).call_id(), id);
}

/// RFC 4475 §3.1.1.3 to §3.1.1.5: escapes in URIs, and a percent sign in a method that is none.
#[test]
fn percent_signs() {
    read(&[("sip:cn@10.0.0.1:5060 ", "sip:sips%3Auser%40example.com@10.0.0.1 ")]);
    read(&[("<sip:mn@ufa.invalid>", "<sip:null-%00-null@ufa.invalid>")]);
    assert_eq!(read(&[("INVITE", "RE%47IST%45R")]).method().to_string(), "RE%47IST%45R");
}

/// RFC 4475 §3.1.1.6: no blank between a display name and its URI.
#[test]
fn no_blank_after_a_display_name() {
    assert_eq!(read(&[("<sip:mn@ufa.invalid>", "caller<sip:mn@ufa.invalid>")]).from_tag(), Some("a"));
    assert_eq!(read(&[("<sip:mn@ufa.invalid>", "\"A ;tag=no\" <sip:mn@ufa.invalid>")]).from_tag(), Some("a"));
}

/// RFC 4475 §3.1.1.7: long values, of which none is cut. What is longer than all that these machines say is dropped.
#[test]
fn long_values() {
    let long = "long".repeat(400);
    assert_eq!(read(&[("call@", &format!("{long}@"))]).call_id(), format!("{long}@10.1.0.2"));
    is_dropped(&[("call@", &"long".repeat(3000))]);
}

/// RFC 4475 §3.1.1.8: what comes behind the body in a datagram is no message.
#[test]
fn extra_octets_behind_the_body() {
    let text = request(&[]) + &request(&[]);
    assert_eq!(&Message::parse(text.as_bytes()).unwrap().body()[..], b"ok");
}

/// RFC 4475 §3.1.1.9: a semicolon in the user part is the user's.
#[test]
fn a_semicolon_in_the_user_part() {
    let message = read(&[("sip:cn@10.0.0.1:5060 ", "sip:user;par=u%40example.net@10.0.0.1 ")]);
    assert!(message.to_bytes().starts_with(b"INVITE sip:user;par=u%40example.net@10.0.0.1 SIP/2.0\r\n"));
}

/// RFC 4475 §3.1.1.10: transports that nobody knows, in a list of Vias of which the first one counts.
#[test]
fn varied_transports_and_several_vias() {
    let vias = "Via: SIP/2.0/UNKNOWN 10.1.0.2:5060;branch=z9hG4bKfirst, SIP/2.0/TCP 10.1.0.3;branch=z9hG4bKsecond\r\nVia: SIP/2.0/SCTP 10.1.0.4;branch=z9hG4bKthird";
    assert_eq!(read(&[("Via: SIP/2.0/UDP 10.1.0.2:5060;branch=z9hG4bK1", vias)]).branch(), "z9hG4bKfirst");
}

/// RFC 4475 §3.1.1.12 and §3.1.1.13: reason phrases of many kinds, and none.
#[test]
fn reason_phrases() {
    for reason in [" = 2**3 * 5**2 \u{43d}\u{43e}", " ", ""] {
        let message = read(&[("INVITE sip:cn@10.0.0.1:5060 SIP/2.0", &format!("SIP/2.0 200{reason}"))]);
        assert_eq!((message.is_request(), message.status()), (false, 200), "{reason:?}");
    }
}

/// RFC 4475 §3.1.2.2 and §3.1.2.3: a Content-Length that is larger than the body, or none at all.
#[test]
fn content_lengths_that_lie() {
    for length in ["9999", "-999", "2 2", "two", "99999999999999999999999"] {
        is_bad(&[("Content-Length: 2", &format!("Content-Length: {length}"))]);
    }
}

/// RFC 4475 §3.1.2.4 and §3.1.2.5: numbers that are too large.
#[test]
fn numbers_that_are_too_large() {
    is_bad(&[("CSeq: 3 ", "CSeq: 36893488147419103232 ")]);
    is_bad(&[("CSeq: 3 ", "CSeq: 4294967296 ")]);
}

/// RFC 4475 §3.1.2.6: a quoted string without an end, which a reader may take to end where it should. The dialog must be none that the text does not have.
#[test]
fn a_quoted_string_without_an_end() {
    let text =
        request(&[("To: <sip:cn@ufa.invalid>;tag=b", "To: \"Mr. J. User <sip:j.user@example.com>;tag=b")]);
    assert!(Message::parse(text.as_bytes()).is_ok_and(|message| message.to_tag() == Some("b")));
}

/// RFC 4475 §3.1.2.7 to §3.1.2.10: request lines that are none.
#[test]
fn request_lines_that_are_none() {
    for line in [
        "INVITE <sip:cn@10.0.0.1:5060> SIP/2.0",
        "INVITE sip:cn@10.0.0.1; lr SIP/2.0",
        "INVITE  sip:cn@10.0.0.1:5060  SIP/2.0",
        "INVITE sip:cn@10.0.0.1:5060 SIP/2.0  ",
        "INVITE sip:cn@10.0.0.1:5060",
        "INVITE sip:cn@10.0.0.1:5060\r\n SIP/2.0",
    ] {
        is_bad(&[("INVITE sip:cn@10.0.0.1:5060 SIP/2.0", line)]);
    }
    for line in ["SIP/2.0  200 OK", ""] {
        is_dropped(&[("INVITE sip:cn@10.0.0.1:5060 SIP/2.0", line)]);
    }
}

/// RFC 4475 §3.1.2.16: another version of the protocol.
#[test]
fn another_version() {
    is_answered(Some(505), &[("5060 SIP/2.0\r\n", "5060 SIP/7.0\r\n")]);
}

/// RFC 4475 §3.1.2.17 and §3.1.2.18: the method of the request line is that of CSeq.
#[test]
fn methods_that_contradict_each_other() {
    is_bad(&[("CSeq: 3 INVITE", "CSeq: 3 OPTIONS")]);
    is_bad(&[("INVITE sip", "NEWMETHOD sip")]);
}

/// RFC 4475 §3.1.2.19: a status beyond 699.
#[test]
fn a_status_that_is_too_large() {
    is_dropped(&[(
        "INVITE sip:cn@10.0.0.1:5060 SIP/2.0",
        "SIP/2.0 4294967301 better not break the receiver",
    )]);
    is_dropped(&[("INVITE sip:cn@10.0.0.1:5060 SIP/2.0", "SIP/2.0 0 nothing")]);
    is_dropped(&[("INVITE sip:cn@10.0.0.1:5060 SIP/2.0", "SIP/2.0 700 too much")]);
}

/// RFC 4475 §3.2.1: a branch of the cookie alone names no transaction.
#[test]
fn a_branch_that_names_nothing() {
    is_bad(&[("z9hG4bK1", "z9hG4bK")]);
    is_bad(&[("branch=z9hG4bK1", "branch")]);
}

/// RFC 4475 §3.3.1: what every message has is missing.
#[test]
fn missing_headers() {
    is_dropped(&[("Call-ID: call@10.1.0.2\r\n", ""), ("From: <sip:mn@ufa.invalid>;tag=a\r\n", "")]);
    // A Call-ID with blanks names no dialog that the next gateway could be told of.
    is_bad(&[("call@10.1.0.2\r\n", "call@10.1.0.2 and more\r\n")]);
}

/// RFC 4475 §3.3.2 and §3.3.3: schemes that are not SIP's.
#[test]
fn other_schemes() {
    for uri in ["nobodyKnowsThisScheme:totallyopaquecontent", "soap.beep://192.0.2.103:3002", "tel:+15551234"]
    {
        is_answered(Some(416), &[("sip:cn@10.0.0.1:5060 ", &format!("{uri} "))]);
    }
}

/// RFC 4475 §3.3.8: two values where there is one. Of two dialogs it would be either.
#[test]
fn headers_that_come_twice() {
    for (header, other) in [
        ("Call-ID: call@10.1.0.2\r\n", "Call-ID: other@10.1.0.2\r\n"),
        ("CSeq: 3 INVITE\r\n", "CSeq: 8 INVITE\r\n"),
        ("From: <sip:mn@ufa.invalid>;tag=a\r\n", "From: <sip:other@ufa.invalid>;tag=z\r\n"),
        ("To: <sip:cn@ufa.invalid>;tag=b\r\n", "t: <sip:other@ufa.invalid>;tag=z\r\n"),
    ] {
        is_bad(&[(header, &format!("{header}{other}"))]);
    }
}

/// The same within a header.
#[test]
fn tags_that_come_twice() {
    is_bad(&[("tag=a", "tag=a;tag=c")]);
    is_bad(&[("tag=b", "tag=b;x;tag=b")]);
}

/// RFC 4475 §3.3.9: two lengths. What one reader takes for a body is a message to another.
#[test]
fn two_content_lengths() {
    is_bad(&[("Content-Length: 2", "Content-Length: 1\r\nContent-Length: 2")]);
}
