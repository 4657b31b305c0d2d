use core::time::Duration;

use whimbrel_machine::Route;

use super::*;
use crate::gateway::alone::{Alone, CORRESPONDENT, TERMINAL, here, says, words};
use crate::sip::Transport;

/// RFC 3261 §21.1: who waits is told that it rings, in the dialog that is to be.
#[test]
fn that_it_rings_is_passed_on() {
    let mut alone = Alone::new(Some(Transport::Udp));
    let asked = alone.calls(Transport::Udp);
    assert_eq!(words(&alone.answers(Transport::Udp, &asked, 100)), [""; 0]);
    let rings = alone.answers(Transport::Udp, &asked, 180);
    assert_eq!(words(&rings), [format!("180 INVITE to {TERMINAL}")]);
    let accepted = alone.answers(Transport::Udp, &asked, 200);
    let accepted = &accepted.iter().find(|(_, message)| message.status() == 200).unwrap().1;
    assert_eq!(accepted.to_tag(), rings[0].1.to_tag());
    assert!(rings[0].1.contact().is_some(), "RFC 3261 §12.1.1");
}

/// The correspondent says every minute that it rings, so many times; returns how long the terminal waits then.
fn rings(alone: &mut Alone, asked: &Message, minutes: u64) -> Duration {
    alone.answers(Transport::Udp, asked, 180);
    for minute in 0..minutes {
        let sent = words(alone.pass(Duration::from_secs(60)));
        assert!(sent.is_empty(), "{minute}: {sent:?}");
        let passed = words(&alone.answers(Transport::Udp, asked, 180));
        assert_eq!(passed, [format!("180 INVITE to {TERMINAL}")], "{minute}");
    }
    let silent = alone.now;
    loop {
        let sent = words(alone.pass(Duration::from_secs(1)));
        if !sent.is_empty() {
            assert_eq!(sent, [format!("408 INVITE to {TERMINAL}"), format!("CANCEL to {CORRESPONDENT}")]);
            return alone.now - silent;
        }
    }
}

/// Timer C is longer than three minutes (RFC 3261 §16.6, item 11), and is set anew by each provisional response from 101 on (§16.7, item 2).
#[test]
fn a_call_rings_as_long_as_the_correspondent_says_so() {
    for minutes in [0, 1, 30] {
        let mut alone = Alone::new(Some(Transport::Udp));
        let asked = alone.calls(Transport::Udp);
        // That is 100, which says nothing of ringing.
        alone.pass(Duration::from_secs(20));
        alone.answers(Transport::Udp, &asked, 100);
        let waited = rings(&mut alone, &asked, minutes);
        assert!(waited > Duration::from_secs(180) && waited <= Duration::from_secs(200), "{waited:?}");
        let gone = alone.answers(Transport::Udp, &asked, 487);
        assert_eq!(words(&gone), [format!("ACK to {CORRESPONDENT}")]);
        assert_eq!(alone.gateway.session_count(), 0);
    }
}

/// A correspondent that says for ever that it rings keeps nobody's call for longer than an hour.
#[test]
fn a_call_rings_for_an_hour_at_most() {
    let mut alone = Alone::new(Some(Transport::Udp));
    let asked = alone.calls(Transport::Udp);
    assert_eq!(rings(&mut alone, &asked, 59), Duration::from_secs(60));
}

/// RFC 3261 §9.
#[test]
fn a_call_can_be_called_off() {
    let mut alone = Alone::new(Some(Transport::Udp));
    let asked = alone.calls(Transport::Udp);
    alone.answers(Transport::Udp, &asked, 180);
    let cancel = says(Transport::Udp, "CANCEL", "", "");
    let sent = alone.hear(Transport::Udp, TERMINAL, cancel.as_bytes()).to_vec();
    let expected = [
        format!("200 CANCEL to {TERMINAL}"),
        format!("487 INVITE to {TERMINAL}"),
        format!("CANCEL to {CORRESPONDENT}"),
    ];
    assert_eq!(words(&sent), expected);
    assert_eq!(sent[0].1.to_tag(), sent[1].1.to_tag(), "RFC 3261 §9.2");
    let (_, cancel) = &sent[2];
    assert_eq!(
        (cancel.branch(), cancel.cseq(), cancel.call_id()),
        (asked.branch(), asked.cseq(), asked.call_id())
    );
    assert_eq!(words(&alone.answers(Transport::Udp, &asked, 487)), [format!("ACK to {CORRESPONDENT}")]);
    assert_eq!(alone.gateway.session_count(), 0);
}

/// The answer has crossed the CANCEL: the correspondent's call is over at once. A BYE before the answer means the same (RFC 3261 §15).
#[test]
fn what_is_called_off_and_taken_is_ended() {
    for bye in [false, true] {
        let mut alone = Alone::new(Some(Transport::Udp));
        let asked = alone.calls(Transport::Udp);
        let end = if bye {
            let rings = alone.answers(Transport::Udp, &asked, 180);
            says(Transport::Udp, "BYE", &format!(";tag={}", rings[0].1.to_tag().unwrap()), "")
        } else {
            says(Transport::Udp, "CANCEL", "", "")
        };
        let sent = words(alone.hear(Transport::Udp, TERMINAL, end.as_bytes()));
        assert!(sent.contains(&format!("487 INVITE to {TERMINAL}")), "{sent:?}");
        let sent = words(&alone.answers(Transport::Udp, &asked, 200));
        assert_eq!(sent, [format!("ACK to {CORRESPONDENT}"), format!("BYE to {CORRESPONDENT}")]);
        assert_eq!(alone.gateway.session_count(), 0);
    }
}

/// A correspondent that says nothing more keeps no session (RFC 3261 §9.1).
#[test]
fn what_is_called_off_does_not_stay() {
    let mut alone = Alone::new(Some(Transport::Udp));
    let asked = alone.calls(Transport::Udp);
    alone.hear(Transport::Udp, TERMINAL, says(Transport::Udp, "CANCEL", "", "").as_bytes());
    for _ in 0..4 {
        alone.answers(Transport::Udp, &asked, 180);
        alone.pass(Duration::from_secs(10));
    }
    assert_eq!(alone.gateway.session_count(), 0);
}

/// Nobody is asked for a password for a CANCEL, so that one of nothing leaves nothing behind.
#[test]
fn who_cancels_nothing_leaves_nothing_behind() {
    let mut alone = Alone::new(Some(Transport::Udp));
    alone.calls(Transport::Udp);
    let kept = alone.gateway.agent.transactions.len();
    let cancel = says(Transport::Udp, "CANCEL", "", "");
    for (over, from, text) in [
        (Transport::Udp, "10.1.0.51", cancel.clone()),
        (Transport::Tls, TERMINAL, cancel.clone()),
        (Transport::Udp, TERMINAL, cancel.replace("z9hG4bKa", "z9hG4bKb")),
        (Transport::Udp, TERMINAL, cancel.replace(";tag=1", ";tag=2")),
    ] {
        assert_eq!(words(alone.hear(over, from, text.as_bytes())), [format!("481 CANCEL to {from}")]);
        assert_eq!(alone.gateway.agent.transactions.len(), kept);
    }
}

/// Who holds a key has read what was said in clear, and has nothing to say there; nor the other way about.
#[test]
fn a_session_is_ended_in_the_way_in_which_it_was_begun() {
    for (own, other) in [(Transport::Udp, Transport::Tls), (Transport::Tls, Transport::Udp)] {
        let mut alone = Alone::new(Some(Transport::Udp));
        let asked = alone.calls(own);
        let sent = alone.answers(own, &asked, 200);
        let accepted = &sent.iter().find(|(_, message)| message.status() == 200).unwrap().1;
        let bye = says(own, "BYE", &format!(";tag={}", accepted.to_tag().unwrap()), "");
        for method in ["BYE", "INVITE", "OPTIONS"] {
            let text = bye.replace("BYE", method).replace("abye", method);
            assert_eq!(
                words(alone.hear(other, TERMINAL, text.as_bytes())),
                [format!("481 {method} to {TERMINAL}")]
            );
        }
        let sent = words(alone.hear(own, TERMINAL, bye.as_bytes()));
        assert_eq!(sent, [format!("200 BYE to {TERMINAL}"), format!("BYE to {CORRESPONDENT}")]);
    }
}

/// One user, from however many addresses, does not use up the sessions; nor do all users who speak in clear.
#[test]
fn who_speaks_in_clear_has_a_share_of_the_sessions() {
    let mut alone = Alone::new(Some(Transport::Udp));
    let mut call = |over: Transport, user: usize, n: usize| {
        let terminal = format!("10.1.{}.{}", 1 + n / 250, 1 + n % 250);
        let application = format!("UFA_Application: sctp {terminal}:1 {CORRESPONDENT}:2\r\n");
        let invite = says(over, "INVITE", "", &application)
            .replace("alice", &format!("user{user}"))
            .replace("z9hG4bKa", &format!("z9hG4bK{over}{user}x{n}"));
        alone.hear(over, &terminal, invite.as_bytes()).last().unwrap().1.status()
    };
    let share =
        |call: &mut dyn FnMut(usize) -> u16| (0..SESSIONS_BESIDES_MAX).filter(|n| call(*n) == 100).count();
    assert_eq!(share(&mut |n| call(Transport::Udp, 0, n)), SESSIONS_PER_USER);
    let others: usize = (1..6).map(|user| share(&mut |n| call(Transport::Udp, user, 1000 * user + n))).sum();
    assert_eq!(others, SESSIONS_BESIDES_MAX - SESSIONS_PER_USER);
    assert_eq!(call(Transport::Tls, 9, 9000), 100);
}

/// There is no association without ports, nor between families, and an address of IPv4 in the clothes of IPv6 is one of IPv4 (RFC 4291 §2.5.5.2).
#[test]
fn nobody_is_called_there() {
    let mut alone = Alone::new(Some(Transport::Udp));
    for (n, (application, status)) in [
        ("10.1.0.50:1 [::ffff:127.0.0.1]:2", 488),
        ("10.1.0.50:1 [::ffff:10.0.0.1]:2", 488),
        ("10.1.0.50:1 [2001:db8::1]:2", 488),
        ("10.1.0.50:1 10.1.0.255:2", 488),
        ("10.1.0.50:1 10.0.0.1:0", 488),
        ("10.1.0.50:0 10.0.0.1:2", 488),
        ("10.1.0.50:1 10.0.0.255:2", 100),
    ]
    .into_iter()
    .enumerate()
    {
        let invite = says(Transport::Udp, "INVITE", "", &format!("UFA_Application: sctp {application}\r\n"));
        let invite = invite.replace("z9hG4bKa", &format!("z9hG4bK{n}"));
        let answer = alone.hear(Transport::Udp, TERMINAL, invite.as_bytes()).last().unwrap().1.status();
        assert_eq!(answer, status, "{application}");
    }
}

/// A gateway that does not hear UDP could tell an agent of others nothing.
#[test]
fn a_session_in_clear_is_taken_over_by_who_speaks_so() {
    for (besides, terminal, correspondent, taken) in [
        (None, "UDP", "UDP", false),
        (None, "TLS", "UDP", false),
        (None, "TLS", "TLS", true),
        (Some(Transport::Udp), "UDP", "UDP", true),
    ] {
        let mut alone = Alone::new(besides);
        let body = format!(
            "sctp {TERMINAL}:1 {CORRESPONDENT}:2\r\n1000\r\n{TERMINAL}\r\nc l 1 r 2 3 4 {TERMINAL}:5060 {terminal}\r\n\
             c l 1 r 2 3 4 {CORRESPONDENT}:5060 {correspondent}\r\n"
        );
        let transfer =
            says(Transport::Tls, "CONTEXT_TRANSFER", "", &format!("Content-Length: {}\r\n", body.len()));
        let sent = words(alone.hear(Transport::Tls, "10.2.0.1", (transfer + &body).as_bytes()));
        let expected = if taken {
            format!("OPTIONS to {CORRESPONDENT}")
        } else {
            "488 CONTEXT_TRANSFER to 10.2.0.1".into()
        };
        assert_eq!(sent, [expected]);
    }
}

/// What a correspondent says in the dialog that `asked` has begun.
fn hangs_up(asked: &Message, method: &str) -> String {
    let (over, from) = (Transport::Udp, asked.to_user());
    format!(
        "{method} sip:x@10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/{over} {CORRESPONDENT}:5060;branch=z9hG4bK{method}\r\n\
         From: <sip:{from}@x>;tag=0909090909090909\r\nTo: <sip:x@x>;tag={}\r\nCall-ID: {}\r\nCSeq: 1 {method}\r\n\r\n",
        asked.from_tag().unwrap(),
        asked.call_id()
    )
}

/// Whether the gateway takes this, from there, for a correspondent's, whose answers go where it is from.
fn is_of_correspondent(alone: &Alone, over: Transport, from: &str, text: &str) -> bool {
    let (request, remote) = (Message::parse(text.as_bytes()).unwrap(), from.parse().unwrap());
    alone.gateway.is_of_correspondent(&request, Route { local: here(over), remote }, remote)
}

/// RFC 3261 §12.2.2 and §15: in clear, too, either end may end a call, and the one that has no password needs none for that.
#[test]
fn a_correspondent_hangs_up() {
    let mut alone = Alone::new(Some(Transport::Udp));
    let asked = alone.calls(Transport::Udp);
    alone.answers(Transport::Udp, &asked, 200);
    for (method, status) in [("OPTIONS", 200), ("INVITE", 488), ("UPDATE", 405)] {
        let text = hangs_up(&asked, method);
        assert!(is_of_correspondent(&alone, Transport::Udp, "10.0.0.1:5060", &text), "{method}");
        let sent = words(alone.hear(Transport::Udp, CORRESPONDENT, text.as_bytes()));
        assert_eq!(sent, [format!("{status} {method} to {CORRESPONDENT}")]);
    }
    let bye = hangs_up(&asked, "BYE");
    assert!(is_of_correspondent(&alone, Transport::Udp, "10.0.0.1:5060", &bye));
    let sent = words(alone.hear(Transport::Udp, CORRESPONDENT, bye.as_bytes()));
    assert_eq!(sent, [format!("200 BYE to {CORRESPONDENT}"), format!("BYE to {TERMINAL}")]);
    assert_eq!(alone.gateway.session_count(), 0);
    // Its answer is lost: it comes again, and is answered again.
    assert!(is_of_correspondent(&alone, Transport::Udp, "10.0.0.1:5060", &bye));
    let sent = words(alone.hear(Transport::Udp, CORRESPONDENT, bye.as_bytes()));
    assert_eq!(sent, [format!("200 BYE to {CORRESPONDENT}")]);
    assert!(!is_of_correspondent(&alone, Transport::Udp, "10.0.0.1:5061", &bye));
    assert!(!is_of_correspondent(
        &alone,
        Transport::Udp,
        "10.0.0.1:5060",
        &bye.replace("z9hG4bKBYE", "z9hG4bKother")
    ));
}

/// Who is elsewhere, does not know both tags, or is the terminal is asked for a password.
#[test]
fn nobody_else_hangs_up_for_a_correspondent() {
    let mut alone = Alone::new(Some(Transport::Udp));
    let asked = alone.calls(Transport::Udp);
    let bye = hangs_up(&asked, "BYE");
    assert!(!is_of_correspondent(&alone, Transport::Udp, "10.0.0.1:5060", &bye), "it has not answered yet");
    let sent = alone.answers(Transport::Udp, &asked, 200);
    let accepted = &sent.iter().find(|(_, message)| message.status() == 200).unwrap().1;
    let of_terminal = says(Transport::Udp, "BYE", &format!(";tag={}", accepted.to_tag().unwrap()), "");
    for (over, from, text) in [
        (Transport::Udp, "10.0.0.2:5060", bye.clone()),
        (Transport::Udp, "10.0.0.1:5061", bye.clone()),
        (Transport::Tls, "10.0.0.1:5060", bye.clone()),
        (Transport::Udp, "10.0.0.1:5060", bye.replace(asked.from_tag().unwrap(), "guess")),
        (Transport::Udp, "10.0.0.1:5060", bye.replace("0909", "0808")),
        (Transport::Udp, "10.0.0.1:5060", bye.replace(asked.call_id(), "guess")),
        (Transport::Udp, "10.0.0.1:5060", bye.replace("sip:correspondent@", "sip:alice@")),
        (Transport::Udp, "10.1.0.50:5060", of_terminal),
    ] {
        assert!(!is_of_correspondent(&alone, over, from, &text), "{from}: {text}");
    }
}
