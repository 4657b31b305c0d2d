use std::time::Duration;

use super::*;

const NOW: Duration = Duration::from_secs(1000);

impl Door {
    /// What is done with what is within no session.
    fn judge_stranger(&mut self, now: Duration, from: SocketAddr, bytes: &[u8]) -> Judged {
        self.judge(now, (Transport::Udp, from), bytes, |_, _| false)
    }
}

fn door() -> Door {
    let passwords = Passwords::default();
    passwords.replace([("alice".to_owned(), "secret".to_owned()), ("bob".to_owned(), "word".to_owned())]);
    Door::new("10.1.0.1".into(), vec![DigestAlgorithm::Sha256], [7; 32], passwords)
}

fn from() -> SocketAddr {
    "10.1.0.50:40000".parse().unwrap()
}

fn text(first: &str, via: &str, method: &str, more: &str) -> String {
    format!(
        "{first}\r\nVia: SIP/2.0/UDP 10.1.0.50:5070;branch=z9hG4bK1{via}\r\nFrom: <sip:alice@10.1.0.50>;tag=a\r\n\
         To: <sip:bob@10.1.0.1>\r\nCall-ID: call\r\nCSeq: 1 {method}\r\n{more}\r\n"
    )
}

fn asks(method: &str, via: &str, more: &str) -> String {
    text(&format!("{method} sip:10.1.0.1:5060 SIP/2.0"), via, method, more)
}

/// As a client of `user` answers the challenge in `challenge`.
fn authorized(challenge: &[u8], user: &str, password: &str, method: &str) -> String {
    let challenge = String::from_utf8(challenge.to_vec()).unwrap();
    let nonce = challenge.split("nonce=\"").nth(1).unwrap().split('"').next().unwrap();
    let hash = |words: &[&str]| DigestAlgorithm::Sha256.hash(&words.join(":"));
    let uri = "sip:10.1.0.1:5060";
    let who = hash(&[user, "10.1.0.1", password]);
    let response = hash(&[&who, nonce, "00000001", "c", "auth", &hash(&[method, uri])]);
    format!(
        "Authorization: Digest username=\"{user}\", realm=\"10.1.0.1\", nonce=\"{nonce}\", uri=\"{uri}\", \
         response=\"{response}\", algorithm=SHA-256, cnonce=\"c\", qop=auth, nc=00000001\r\n"
    )
}

fn status(judged: &Judged) -> u16 {
    let (Judged::Answer(_, bytes) | Judged::Wrong(_, bytes, _)) = judged else { panic!("{judged:?}") };
    Message::parse(bytes).unwrap().status()
}

#[test]
fn strangers_are_asked_and_users_pass() {
    let mut door = door();
    for method in ["INVITE", "OPTIONS", "BYE", "REGISTER"] {
        let asked = door.judge_stranger(NOW, from(), asks(method, "", "").as_bytes());
        assert_eq!(status(&asked), 401, "{method}");
        let Judged::Answer(to, challenge) = asked else { panic!() };
        // RFC 3261 §18.2.2: to where the Via says.
        assert_eq!(to, "10.1.0.50:5070".parse().unwrap());
        let with = |user, password| asks(method, "", &authorized(&challenge, user, password, method));
        let wrong = door.judge_stranger(NOW, from(), with("alice", "guess").as_bytes());
        assert_eq!(status(&wrong), 401);
        let right = door.judge_stranger(NOW, from(), with("alice", "secret").as_bytes());
        assert!(matches!(right, Judged::Proved(at, _) if at == to), "{right:?}");
    }
}

/// By TCP an answer goes back by the connection, whatever the Via says (RFC 3261 §18.2.2).
#[test]
fn a_connection_is_answered_by_itself() {
    let mut door = door();
    let over = (Transport::Tcp, from());
    let asked = door.judge(NOW, over, asks("INVITE", ";rport", "").as_bytes(), |_, _| false);
    assert!(matches!(asked, Judged::Answer(to, _) if to == from()), "{asked:?}");
    let bad = asks("INVITE", "", "").replace("SIP/2.0\r\nVia", "SIP/3.0\r\nVia");
    let refused = door.judge(NOW, over, bad.as_bytes(), |_, _| false);
    assert!(matches!(refused, Judged::Answer(to, _) if to == from()), "{refused:?}");
}

/// Who is known speaks for nobody else: sessions go by the user in From.
#[test]
fn a_user_speaks_for_itself_alone() {
    let mut door = door();
    let Judged::Answer(_, challenge) = door.judge_stranger(NOW, from(), asks("INVITE", "", "").as_bytes())
    else {
        panic!()
    };
    let line = authorized(&challenge, "bob", "word", "INVITE");
    assert_eq!(status(&door.judge_stranger(NOW, from(), asks("INVITE", "", &line).as_bytes())), 403);
}

/// Each source once an hour; and whoever forges where it is from has no nonce, and silences nobody.
#[test]
fn a_wrong_password_is_told_of_once_for_each_address() {
    let mut door = door();
    let mut told = |now: Duration, user, address: &str, asked: &str| {
        let asked = door.judge_stranger(now, asked.parse().unwrap(), asks("INVITE", "", "").as_bytes());
        let Judged::Answer(_, challenge) = asked else { panic!() };
        let line = authorized(&challenge, user, "guess", "INVITE");
        let judged = door.judge_stranger(now, address.parse().unwrap(), asks("INVITE", "", &line).as_bytes());
        matches!(judged, Judged::Wrong(_, _, Some(_)))
    };
    for n in 0..2 * TOLD_MAX {
        let forged = format!("10.7.{}.{}:1", n / 256, n % 256);
        assert!(!told(NOW + Duration::from_millis(20) * n as u32, "alice", &forged, "10.1.0.49:1"));
    }
    let now = NOW + Duration::from_secs(60);
    assert!(told(now, "alice", "10.1.0.50:1", "10.1.0.50:1"));
    assert!(!told(now, "nobody", "10.1.0.50:2", "10.1.0.50:1"));
    assert!(told(now, "alice", "10.1.0.51:1", "10.1.0.51:1"));
    assert!(told(now + TOLD_AGAIN, "alice", "10.1.0.50:1", "10.1.0.50:1"));
}

/// Whoever forges where a request comes from has little sent there, and not for long.
#[test]
fn strangers_are_answered_with_little_and_seldom() {
    let mut door = door();
    let request = asks("INVITE", "", "");
    let mut answered = |now, from: &str, text: &str| match door.judge_stranger(
        now,
        from.parse().unwrap(),
        text.as_bytes(),
    ) {
        Judged::Answer(_, bytes) | Judged::Pass(_, bytes) | Judged::Proved(_, bytes) => bytes.len(),
        _ => 0,
    };
    let length = answered(NOW, "10.1.0.50:5070", &request);
    assert!(length > 0 && length < request.len() + 180, "{length} bytes for {}", request.len());
    for method in ["OPTIONS", "CANCEL", CONTEXT_TRANSFER] {
        let from = format!("10.2.{}.1:1", method.len());
        let request = asks(method, "", "");
        let count = (0..1000).filter(|_| answered(NOW, &from, &request) > 0).count();
        assert_eq!(count, allowance::BURST as usize, "{method}");
        assert!(answered(NOW + Duration::from_secs(1), &from, &request) > 0);
        assert!(answered(NOW, "10.3.0.1:1", &request) > 0, "others are answered");
    }
    // One host has all addresses of a /64.
    let count = (0..1000).filter(|n| answered(NOW, &format!("[2001:db8::{n:x}]:1"), &request) > 0).count();
    assert_eq!(count, allowance::BURST as usize);
}

/// Each transaction is remembered for half a minute, and with it the words that name it.
#[test]
fn what_would_take_much_room_is_dropped() {
    let mut door = door();
    let long = "x".repeat(WORD_MAX + 1);
    for text in [
        asks("INVITE", "", &format!("Subject: {}\r\n", "x".repeat(MESSAGE_MAX))),
        asks("INVITE", "", "").replace("Call-ID: call", &format!("Call-ID: {long}")),
        asks("INVITE", "", "").replace("z9hG4bK1", &format!("z9hG4bK{long}")),
        asks("INVITE", "", "").replace(";tag=a", &format!(";tag={long}")),
    ] {
        assert_eq!(door.judge_stranger(NOW, from(), text.as_bytes()), Judged::Drop);
    }
}

/// RFC 3581: behind a NAT the answer goes where the request came from.
#[test]
fn answers_find_their_way_back() {
    let mut door = door();
    let asked = door.judge_stranger(NOW, from(), asks("INVITE", ";rport", "").as_bytes());
    let Judged::Answer(to, bytes) = asked else { panic!() };
    assert_eq!(to, from());
    assert!(String::from_utf8(bytes).unwrap().contains(";rport=40000"));
    let elsewhere = "10.1.0.99:40000".parse().unwrap();
    let Judged::Answer(to, bytes) = door.judge_stranger(NOW, elsewhere, asks("INVITE", "", "").as_bytes())
    else {
        panic!()
    };
    assert_eq!(to, "10.1.0.99:5070".parse().unwrap());
    assert!(String::from_utf8(bytes).unwrap().contains(";received=10.1.0.99"));
}

#[test]
fn what_cannot_be_asked_for_a_password() {
    let mut door = door();
    let mut judge = |text: String| door.judge_stranger(NOW, from(), text.as_bytes());
    assert!(matches!(judge(asks("ACK", "", "")), Judged::Pass(..)));
    assert!(matches!(judge(text("SIP/2.0 200 OK", "", "INVITE", "")), Judged::Pass(..)));
    // The machine knows whether there is a call from there with this branch (RFC 3261 §9.2).
    assert!(matches!(judge(asks("CANCEL", "", "")), Judged::Pass(..)));
    // Not even with a password.
    for method in [RESOURCE_QUERY, CONTEXT_TRANSFER] {
        assert_eq!(status(&judge(asks(method, "", ""))), 403);
    }
    assert_eq!(judge("GET / HTTP/1.1\r\n\r\n".to_owned()), Judged::Drop);
}

/// RFC 3261 §18.3 and §21.4.1: what is bad is told so where it comes from, without a question for a password, and as seldom as strangers are answered.
#[test]
fn what_is_bad_is_refused() {
    let mut door = door();
    let good = asks("OPTIONS", ";rport", "");
    for (bad, expected) in [
        (good.replace("\r\n\r\n", "\r\nContent-Length: 5\r\n\r\n"), 400),
        (good.replace("CSeq: 1 OPTIONS", "CSeq: 4294967296 OPTIONS"), 400),
        (good.replace("SIP/2.0\r\n", "SIP/3.0\r\n"), 505),
        (good.replace("sip:10.1.0.1:5060", "tel:1"), 416),
    ] {
        let judged = door.judge_stranger(NOW, from(), bad.as_bytes());
        let Judged::Answer(to, answer) = judged else { panic!("{judged:?}") };
        let answer = String::from_utf8(answer).unwrap();
        assert!(
            answer.starts_with(&format!("SIP/2.0 {expected} ")) && answer.contains(";rport=40000"),
            "{answer}"
        );
        assert_eq!(to, from());
    }
    let bad = good.replace("SIP/2.0\r\n", "SIP/3.0\r\n");
    let answered =
        (0..1000).filter(|_| door.judge_stranger(NOW, from(), bad.as_bytes()) != Judged::Drop).count();
    assert!(answered < allowance::BURST as usize, "{answered}");
    let huge = bad.replace("\r\n\r\n", &format!("\r\nSubject: {}\r\n\r\n", "x".repeat(MESSAGE_MAX)));
    assert_eq!(door.judge_stranger(NOW + Duration::from_secs(9), from(), huge.as_bytes()), Judged::Drop);
}

/// RFC 3261 §22.1: who is to be asked what is a user agent's own business. Gateways prove that they are by their keys in any case.
#[test]
fn a_correspondent_is_not_asked_within_its_session() {
    let mut door = door();
    for (method, passes) in [
        ("BYE", true),
        ("OPTIONS", true),
        ("INVITE", true),
        (RESOURCE_QUERY, false),
        (CONTEXT_TRANSFER, false),
    ] {
        let request = asks(method, "", "");
        let there = "10.1.0.50:5070".parse().unwrap();
        let judged = door.judge(NOW, (Transport::Udp, from()), request.as_bytes(), |request, to| {
            request.method().to_string() == method && to == there
        });
        assert_eq!(matches!(judged, Judged::Proved(to, _) if to == there), passes, "{method}: {judged:?}");
        assert!(
            !matches!(
                door.judge_stranger(NOW, from(), request.as_bytes()),
                Judged::Pass(..) | Judged::Proved(..)
            ),
            "{method}"
        );
    }
}
