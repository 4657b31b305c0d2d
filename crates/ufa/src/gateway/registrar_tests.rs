use core::net::SocketAddr;

use crate::gateway::alone::{Alone, CORRESPONDENT, TERMINAL};
use crate::sip::Transport;

use super::*;

const BOB: &str = "10.0.0.7";

fn request(over: Transport, host: &str, user: &str, n: u32, more: &str) -> String {
    format!(
        "REGISTER sip:10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/{over} {host}:5060;branch=z9hG4bK{user}{n}\r\n\
         From: <sip:{user}@x>;tag=1\r\nTo: <sip:{user}@10.1.0.1>\r\nCall-ID: {user}\r\nCSeq: {n} REGISTER\r\n{more}\r\n"
    )
}

/// The answer to a REGISTER of bob over UDP: its status, and what it says of where he is.
fn registers(alone: &mut Alone, n: u32, more: &str) -> (u16, Vec<String>) {
    says(alone, Transport::Udp, &request(Transport::Udp, BOB, "bob", n, more))
}

fn says(alone: &mut Alone, over: Transport, text: &str) -> (u16, Vec<String>) {
    let host =
        text.split([' ', ':']).skip_while(|word| !word.starts_with("SIP/2.0/")).nth(1).unwrap().to_owned();
    let answer = &alone.hear_at(over, SocketAddr::new(host.parse().unwrap(), 41_000), text.as_bytes())[0].1;
    let places = answer.headers().get_raw(&Name::CONTACT).map(ToString::to_string).collect();
    (answer.status(), places)
}

/// A terminal calls this URI; where its call goes, and the Request-URI that it has there.
fn calls(alone: &mut Alone, uri: &str, n: u32) -> (SocketAddr, Transport, String) {
    let invite = format!(
        "INVITE {uri} SIP/2.0\r\nVia: SIP/2.0/UDP {TERMINAL}:5060;branch=z9hG4bKcall{n}\r\nFrom: <sip:alice@x>;tag=1\r\n\
         To: <{uri}>\r\nCall-ID: call{n}\r\nCSeq: 1 INVITE\r\nUFA_Application: sctp {TERMINAL}:{n} {CORRESPONDENT}:2\r\n\r\n"
    );
    let sent = alone.hear(Transport::Udp, TERMINAL, invite.as_bytes());
    let (route, asked) = sent.iter().find(|(_, message)| message.is_request()).unwrap();
    let over =
        if route.local.port() == Transport::Tcp.local_port() { Transport::Tcp } else { Transport::Udp };
    (route.remote, over, format!("{:?}", asked.uri().unwrap()))
}

fn alone() -> Alone {
    let clear = crate::ClearSip { proxies: Vec::new(), domain: Some("net.example".to_owned()) };
    Alone::with(Some(Transport::Udp), |config| crate::GatewayConfig { clear: clear.clone(), ..config })
}

/// RFC 3261 §10.2 and §10.3: added, asked for, changed, removed, and gone by itself.
#[test]
fn a_user_says_where_it_is_and_is_called_there() {
    let mut alone = alone();
    let at = |port: u16, time: u32| format!("<sip:bob@{BOB}:{port}>;expires={time}");
    assert_eq!(registers(&mut alone, 1, ""), (200, Vec::new()));
    let contact = format!("Contact: \"Bob\" <sip:bob@{BOB}:5070>;q=0.5\r\nExpires: 120\r\n");
    assert_eq!(registers(&mut alone, 2, &contact), (200, vec![at(5070, 120)]));
    let uri = format!("sip:bob@{BOB}:5070");
    for (n, aor) in ["sip:bob@10.1.0.1", "sip:bob@NET.example:5060"].into_iter().enumerate() {
        let there = (SocketAddr::new(BOB.parse().unwrap(), 5070), Transport::Udp, uri.clone());
        assert_eq!(calls(&mut alone, aor, 1 + n as u32), there);
    }
    alone.pass(Duration::from_secs(20));
    assert_eq!(registers(&mut alone, 3, ""), (200, vec![at(5070, 100)]));
    // Another place besides, which is the latest.
    let more = format!("Contact: <sip:bob@{BOB}:5080;transport=tcp>\r\n");
    let (status, places) = registers(&mut alone, 4, &more);
    assert_eq!((status, places.len()), (200, 2));
    assert_eq!(calls(&mut alone, "sip:bob@10.1.0.1", 3).1, Transport::Tcp);
    let gone = format!("Contact: <sip:bob@{BOB}:5080;transport=tcp>;expires=0\r\nExpires: 120\r\n");
    assert_eq!(registers(&mut alone, 5, &gone), (200, vec![at(5070, 100)]));
    // Nobody else is meant, nor another domain.
    for (n, other) in ["sip:carol@10.1.0.1", "sip:bob@10.9.9.9", "sip:10.1.0.1"].into_iter().enumerate() {
        let usual = (SocketAddr::new(CORRESPONDENT.parse().unwrap(), 5060), Transport::Udp);
        let (at, over, _) = calls(&mut alone, other, 10 + n as u32);
        assert_eq!((at, over), usual, "{other}");
    }
    alone.pass(Duration::from_secs(101));
    assert_eq!(registers(&mut alone, 6, ""), (200, Vec::new()));
    assert_ne!(calls(&mut alone, "sip:bob@10.1.0.1", 20).0.port(), 5070);
}

#[test]
fn all_places_are_removed_by_a_star() {
    let mut alone = alone();
    let contacts = format!("Contact: <sip:bob@{BOB}:1>, <sip:bob@{BOB}:2>\r\nContact: <sip:bob@{BOB}:3>\r\n");
    assert_eq!(registers(&mut alone, 1, &contacts).1.len(), 3);
    assert_eq!(registers(&mut alone, 2, "Contact: *\r\n").0, 400, "RFC 3261 §10.3, 6");
    assert_eq!(registers(&mut alone, 3, "Contact: *\r\nExpires: 60\r\n").0, 400);
    assert_eq!(alone.gateway.registrations(), 3);
    assert_eq!(registers(&mut alone, 4, "Contact: *\r\nExpires: 0\r\n"), (200, Vec::new()));
    assert_eq!(alone.gateway.registrations(), 0);
}

/// What is refused changes nothing.
#[test]
fn what_a_registrar_refuses() {
    let mut alone = alone();
    let contact = format!("Contact: <sip:bob@{BOB}>\r\n");
    assert_eq!(registers(&mut alone, 7, &contact).0, 200);
    let before = registers(&mut alone, 8, "");
    for (n, (more, status)) in [
        (format!("Contact: <sip:bob@{BOB}:2>;expires=59\r\n"), 423),
        // One of two.
        (format!("Contact: <sip:bob@{BOB}:2>, <sip:bob@{BOB}:3>;expires=1\r\n"), 423),
        // Nobody says where another host is, though it may have a name.
        ("Contact: <sip:bob@10.0.0.8>\r\n".to_owned(), 200),
        ("Contact: <tel:1>\r\n".to_owned(), 400),
        ("Contact: <sip:bob@10.0.0.7>, *\r\n".to_owned(), 400),
        ("Contact: *, <sip:bob@10.0.0.7>\r\nExpires: 0\r\n".to_owned(), 400),
        (format!("Contact: <sip:{}@{BOB}>\r\n", "b".repeat(300)), 400),
    ]
    .into_iter()
    .enumerate()
    {
        let text = request(Transport::Udp, BOB, "bob", 10 + n as u32, &more);
        let (got, _) = says(&mut alone, Transport::Udp, &text);
        assert_eq!(got, status, "{more}");
        if status == 200 {
            // It is called where it has spoken from.
            assert_eq!(calls(&mut alone, "sip:bob@10.1.0.1", 90).0.to_string(), format!("{BOB}:41000"));
            let gone = more.replace('>', ">;expires=0");
            assert_eq!(registers(&mut alone, 50, &gone).0, 200);
        }
    }
    // RFC 3261 §10.3, 7: an earlier request that comes later.
    assert_eq!(registers(&mut alone, 6, &contact).0, 500);
    // For somebody else, and in another domain.
    let other = request(Transport::Udp, BOB, "bob", 60, &contact);
    for (from, to, status) in [
        ("<sip:bob@x>", "<sip:carol@x>", 403),
        ("sip:10.1.0.1 ", "sip:10.2.0.1 ", 404),
        ("bob@10.1.0.1", "bob@x", 404),
    ] {
        let text = other
            .replacen(from, to, 1)
            .replace("z9hG4bK", &format!("z9hG4bK{to:.9}").replace(['<', ' ', '@', ':'], ""));
        assert_eq!(says(&mut alone, Transport::Udp, &text).0, status, "{to}");
    }
    assert_eq!(registers(&mut alone, 61, ""), before);
    // Hosts with keys are known by them.
    let key = request(Transport::Tls, BOB, "bob", 62, &contact);
    assert_eq!(says(&mut alone, Transport::Tls, &key).0, 405);
}

/// Who has a connection is called by that, and need not listen.
#[test]
fn who_has_come_by_tcp_is_called_by_its_connection() {
    let mut alone = alone();
    let contact = format!("Contact: <sip:bob@{BOB}:5070;transport=tcp>\r\n");
    let text = request(Transport::Tcp, BOB, "bob", 1, &contact);
    assert_eq!(says(&mut alone, Transport::Tcp, &text).0, 200);
    let (at, over, uri) = calls(&mut alone, "sip:bob@10.1.0.1", 1);
    assert_eq!((at.port(), over, uri), (41_000, Transport::Tcp, format!("sip:bob@{BOB}:5070;transport=tcp")));
}

/// Four places of a user, 1,024 of all; who has some may say so again.
#[test]
fn places_are_limited_in_number() {
    let mut alone = alone();
    let mut says_of = |user: &str, n: u32, port: u32| {
        let contact = format!("Contact: <sip:x@{BOB}:{port}>\r\nExpires: 3600\r\n");
        // Transactions have their own limits.
        alone.pass(Duration::from_secs(33));
        says(&mut alone, Transport::Udp, &request(Transport::Udp, BOB, user, n, &contact)).0
    };
    for n in 1..=6 {
        assert_eq!(says_of("bob", n, n), if n > 4 { 403 } else { 200 });
    }
    assert_eq!(says_of("bob", 7, 1), 200);
    let mut alone = self::alone();
    for user in 0..1030 {
        let contact = format!("Contact: <sip:x@{BOB}>\r\nExpires: 36000\r\n");
        if user % 500 == 499 {
            alone.pass(Duration::from_secs(33));
        }
        let status =
            says(&mut alone, Transport::Udp, &request(Transport::Udp, BOB, &format!("u{user}"), 1, &contact))
                .0;
        assert_eq!(status, if user < 1024 { 200 } else { 503 }, "{user}");
    }
    assert_eq!(alone.gateway.registrations(), 1024);
    // An hour at most.
    alone.pass(Duration::from_secs(3601));
    assert_eq!(registers(&mut alone, 1, "").0, 200);
    assert_eq!(alone.gateway.registrations(), 0);
}
