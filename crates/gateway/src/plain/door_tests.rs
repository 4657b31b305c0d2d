use std::time::Duration;

use super::*;

const NOW: Duration = Duration::from_secs(1000);

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
        let asked = door.judge(NOW, from(), asks(method, "", "").as_bytes());
        assert_eq!(status(&asked), 401, "{method}");
        let Judged::Answer(to, challenge) = asked else { panic!() };
        // RFC 3261 §18.2.2: to where the Via says.
        assert_eq!(to, "10.1.0.50:5070".parse().unwrap());
        let with = |user, password| asks(method, "", &authorized(&challenge, user, password, method));
        let wrong = door.judge(NOW, from(), with("alice", "guess").as_bytes());
        assert_eq!(status(&wrong), 401);
        let right = door.judge(NOW, from(), with("alice", "secret").as_bytes());
        assert!(matches!(right, Judged::Pass(at, _) if at == to), "{right:?}");
    }
}

/// Who is known speaks for nobody else: sessions go by the user in From.
#[test]
fn a_user_speaks_for_itself_alone() {
    let mut door = door();
    let Judged::Answer(_, challenge) = door.judge(NOW, from(), asks("INVITE", "", "").as_bytes()) else {
        panic!()
    };
    let line = authorized(&challenge, "bob", "word", "INVITE");
    assert_eq!(status(&door.judge(NOW, from(), asks("INVITE", "", &line).as_bytes())), 403);
}

#[test]
fn a_wrong_password_is_told_of_once_for_each_address() {
    let mut door = door();
    let Judged::Answer(_, challenge) = door.judge(NOW, from(), asks("INVITE", "", "").as_bytes()) else {
        panic!()
    };
    let mut told = |user, address: &str| {
        let line = authorized(&challenge, user, "guess", "INVITE");
        let judged = door.judge(NOW, address.parse().unwrap(), asks("INVITE", "", &line).as_bytes());
        matches!(judged, Judged::Wrong(_, _, Some(_)))
    };
    assert!(told("alice", "10.1.0.50:1") && !told("nobody", "10.1.0.50:2"));
    assert!(told("alice", "10.1.0.51:1"));
}

/// RFC 3581: behind a NAT the answer goes where the request came from.
#[test]
fn answers_find_their_way_back() {
    let mut door = door();
    let asked = door.judge(NOW, from(), asks("INVITE", ";rport", "").as_bytes());
    let Judged::Answer(to, bytes) = asked else { panic!() };
    assert_eq!(to, from());
    assert!(String::from_utf8(bytes).unwrap().contains(";rport=40000"));
    let elsewhere = "10.1.0.99:40000".parse().unwrap();
    let Judged::Answer(to, bytes) = door.judge(NOW, elsewhere, asks("INVITE", "", "").as_bytes()) else {
        panic!()
    };
    assert_eq!(to, "10.1.0.99:5070".parse().unwrap());
    assert!(String::from_utf8(bytes).unwrap().contains(";received=10.1.0.99"));
}

#[test]
fn what_cannot_be_asked_for_a_password() {
    let mut door = door();
    let mut judge = |text: String| door.judge(NOW, from(), text.as_bytes());
    assert!(matches!(judge(asks("ACK", "", "")), Judged::Pass(..)));
    assert!(matches!(judge(text("SIP/2.0 200 OK", "", "INVITE", "")), Judged::Pass(..)));
    assert_eq!(status(&judge(asks("CANCEL", "", ""))), 481);
    // Not even with a password.
    for method in [RESOURCE_QUERY, CONTEXT_TRANSFER] {
        assert_eq!(status(&judge(asks(method, "", ""))), 403);
    }
    assert_eq!(judge("GET / HTTP/1.1\r\n\r\n".to_owned()), Judged::Drop);
}
