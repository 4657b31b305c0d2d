//! What others may not do to transactions: divert answers, take their room, or have what is said in clear for what was said in TLS.

use core::net::SocketAddr;
use core::time::Duration;

use super::share::Share;
use super::*;
use crate::sip::{Token, response};

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// A route of a gateway that hears TLS at port 5061 and UDP at port 5060.
fn route(port: u16, from: &str) -> Route {
    Route { local: SocketAddr::from(([10, 1, 0, 1], port)), remote: from.parse().unwrap() }
}

fn two_ways() -> Transactions {
    let mut transactions = Transactions::new(Timers::reliable());
    transactions.share(SocketAddr::from(([10, 1, 0, 1], 5060)), Timers::default().watchful());
    transactions
}

fn request(method: &str, user: &str, branch: &str, to_tag: &str) -> Message {
    let text = format!(
        "{method} sip:x@10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 10.1.0.50:5060;branch=z9hG4bK{branch}\r\n\
         From: <sip:{user}@x>;tag=a\r\nTo: <sip:b@x>{to_tag}\r\nCall-ID: c\r\nCSeq: 1 {method}\r\n\r\n"
    );
    Message::parse(text.as_bytes()).unwrap()
}

fn hear(transactions: &mut Transactions, route: Route, message: &Message) -> Option<Happening> {
    transactions.handle_datagram(at(0), route, &message.to_bytes());
    transactions.poll()
}

fn tag() -> Token {
    Token::of(&[1; 32])
}

/// Nobody is asked for a password for an ACK (RFC 3261 §22.1): it changes nothing but that the answer has come, and that only if it is of the same dialog.
#[test]
fn an_ack_diverts_no_answer() {
    let own = route(5060, "10.1.0.50:5060");
    let invite = request("INVITE", "alice", "1", "");
    let ack = |branch, to_tag: &str| request("ACK", "alice", branch, to_tag);
    let known = format!(";tag={}", tag().as_str());
    let other_from = Message::parse(
        &String::from_utf8(ack("2", &known).to_bytes()).unwrap().replace(";tag=a", ";tag=b").into_bytes(),
    );
    for (from, forged) in [
        // Call-ID and CSeq are guessed.
        (route(5060, "10.9.9.9:666"), ack("2", "")),
        (route(5060, "10.1.0.50:666"), ack("2", "")),
        (route(5060, "10.1.0.50:666"), ack("2", ";tag=guess")),
        (route(5060, "10.9.9.9:666"), ack("2", &known)),
        (route(5061, "10.1.0.50:5060"), ack("2", &known)),
        (route(5060, "10.1.0.50:5060"), other_from.unwrap()),
    ] {
        let mut transactions = two_ways();
        let Some(Happening::Request { transaction, .. }) = hear(&mut transactions, own, &invite) else {
            panic!()
        };
        assert!(hear(&mut transactions, from, &forged).is_none());
        transactions.respond(at(0), transaction, &response(&invite, 200, &tag()).unwrap());
        assert_eq!(transactions.poll_transmit().unwrap().0, own, "{from:?}");
        assert!(hear(&mut transactions, from, &forged).is_none(), "{from:?}");
        transactions.handle_timeout(at(500));
        assert_eq!(transactions.poll_transmit().unwrap().0, own, "{from:?}");
        assert!(matches!(hear(&mut transactions, own, &ack("3", &known)), Some(Happening::Acknowledged(_))));
    }
}

/// Not even the one of the same branch, before there is an answer.
#[test]
fn an_early_ack_from_another_port_changes_no_route() {
    let own = route(5060, "10.1.0.50:5060");
    let (mut transactions, invite) = (two_ways(), request("INVITE", "alice", "1", ""));
    let Some(Happening::Request { transaction, .. }) = hear(&mut transactions, own, &invite) else {
        panic!()
    };
    hear(&mut transactions, route(5060, "10.1.0.50:666"), &request("ACK", "alice", "1", ""));
    transactions.respond(at(0), transaction, &response(&invite, 200, &tag()).unwrap());
    assert_eq!(transactions.poll_transmit().unwrap().0, own);
}

/// The same branch in another way, call or dialog is another request: it does not get, or divert, the answer.
#[test]
fn what_is_said_otherwise_is_no_repetition() {
    let own = route(5061, "10.1.0.50:5061");
    let invite = request("INVITE", "alice", "1", "");
    let changed = |from: &str, to: &str| {
        Message::parse(String::from_utf8(invite.to_bytes()).unwrap().replace(from, to).as_bytes()).unwrap()
    };
    for (from, other) in [
        (route(5060, "10.1.0.50:5061"), invite.clone()),
        (own, changed("Call-ID: c", "Call-ID: d")),
        (own, changed("CSeq: 1", "CSeq: 2")),
        (own, changed(";tag=a", ";tag=b")),
    ] {
        let mut transactions = two_ways();
        hear(&mut transactions, own, &invite);
        assert!(matches!(hear(&mut transactions, from, &other), Some(Happening::Request { .. })));
        assert_eq!(transactions.len(), 2);
    }
}

/// However many speak in clear, and from wherever: who speaks in TLS finds room. And one user leaves room for the others.
#[test]
fn who_speaks_in_clear_has_a_share() {
    let mut transactions = two_ways();
    let fill = |transactions: &mut Transactions, user: &str, count: usize| {
        let before = transactions.len();
        for n in 0..count {
            let from = format!("10.{}.{}.{}:5060", 100 + n / 65_536, n / 256 % 256, n % 256);
            let request = request("OPTIONS", user, &format!("{user}{n}"), "");
            hear(transactions, route(5060, &from), &request);
        }
        transactions.len() - before
    };
    assert_eq!(fill(&mut transactions, "alice", Share::PER_USER_MAX + 10), Share::PER_USER_MAX);
    for user in ["bob", "carol", "dave", "erin"] {
        fill(&mut transactions, user, Share::PER_USER_MAX);
    }
    assert_eq!(transactions.len(), Share::MAX);
    // From the same addresses, too.
    for n in 0..PER_PEER_MAX {
        let request = request("OPTIONS", "alice", &format!("tls{n}"), "");
        assert!(hear(&mut transactions, route(5061, "10.100.0.1:5061"), &request).is_some());
    }
}

/// So have the requests that gateways send in clear.
#[test]
fn what_is_asked_in_clear_has_a_share() {
    let mut transactions = two_ways();
    let ask = |transactions: &mut Transactions, port, n: usize| {
        let request = request("OPTIONS", "alice", &n.to_string(), "");
        transactions.request(at(0), route(port, "10.0.0.1:5060"), &request).is_some()
    };
    let asked = (0..TRANSACTIONS_MAX).filter(|n| ask(&mut transactions, 5060, *n)).count();
    assert_eq!(asked, Share::MAX);
    assert!(ask(&mut transactions, 5061, 1));
}

/// Datagrams are lost, and their answers are kept for as long as requests come again (timer J, RFC 3261 Table 4); TLS loses nothing but connections.
#[test]
fn each_way_has_its_timers() {
    let mut transactions = two_ways();
    for port in [5060, 5061] {
        let request = request("OPTIONS", "alice", "1", "");
        let happening = hear(&mut transactions, route(port, "10.1.0.50:5060"), &request);
        let Some(Happening::Request { transaction, .. }) = happening else { panic!() };
        transactions.respond(at(0), transaction, &response(&request, 200, &tag()).unwrap());
    }
    transactions.handle_timeout(at(6000));
    assert_eq!(transactions.len(), 1);
    assert_eq!(transactions.next_deadline(), Some(at(32_000)));
}

/// Whoever has heard a request has it come again as it was, which passes for half a minute: a refused one is no new call by that.
#[test]
fn a_refused_call_that_comes_again_is_no_new_one() {
    let own = route(5060, "10.1.0.50:5060");
    let (mut transactions, invite) = (two_ways(), request("INVITE", "alice", "1", ""));
    let Some(Happening::Request { transaction, .. }) = hear(&mut transactions, own, &invite) else {
        panic!()
    };
    transactions.respond(at(0), transaction, &response(&invite, 486, &tag()).unwrap());
    let ack = request("ACK", "alice", "1", &format!(";tag={}", tag().as_str()));
    assert!(hear(&mut transactions, own, &ack).is_none());
    transactions.handle_timeout(at(31_900));
    assert!(hear(&mut transactions, own, &invite).is_none());
    transactions.handle_timeout(at(32_100));
    assert!(transactions.is_empty());
}

/// RFC 3261 §9.1: nothing is cancelled that may not have come, and what is answered is not either.
#[test]
fn a_cancel_waits_for_a_first_answer() {
    let invite = request("INVITE", "gateway", "1", "");
    let there = route(5060, "10.0.0.1:5060");
    let methods = |transactions: &mut Transactions| -> Vec<String> {
        let sent = core::iter::from_fn(|| transactions.poll_transmit());
        sent.map(|(_, bytes)| Message::parse(&bytes).unwrap().method().to_string()).collect()
    };
    for (status, expected) in
        [(100, vec!["CANCEL"]), (180, vec!["CANCEL"]), (200, vec![]), (486, vec!["ACK"])]
    {
        let mut transactions = two_ways();
        let id = transactions.request(at(0), there, &invite).unwrap();
        transactions.cancel(at(1), id);
        assert_eq!(methods(&mut transactions), ["INVITE"]);
        let answer = response(&invite, status, &tag()).unwrap();
        for _ in 0..2 {
            transactions.handle_datagram(at(2), there, &answer.to_bytes());
        }
        let sent = methods(&mut transactions);
        assert_eq!(sent[..expected.len()], expected, "{status}");
        assert!(sent.len() == expected.len() || status == 486, "{sent:?}");
    }
}
