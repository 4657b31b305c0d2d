use super::*;
use crate::sip::{SipConfig, Transactions};

const INTERVAL: Duration = Duration::from_secs(10);

/// A response with this status, and the name of the request that it answers.
fn question() -> ClientId {
    let route = whimbrel_machine::Route {
        local: "10.1.0.2:5060".parse().unwrap(),
        remote: "10.1.0.1:5060".parse().unwrap(),
    };
    Transactions::new(SipConfig::default().timers)
        .request(Instant::ZERO, route, &message("OPTIONS sip:x SIP/2.0"))
        .unwrap()
}

fn message(first: &str) -> Message {
    let text = format!(
        "{first}\r\nVia: SIP/2.0/UDP x;branch=z9hG4bKa\r\nFrom: <sip:a@x>;tag=1\r\nTo: <sip:b@x>;tag=2\r\nCall-ID: c\r\nCSeq: 1 OPTIONS\r\n\r\n"
    );
    Message::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_gateway_that_does_not_answer_is_silent_once_and_back_once() {
    let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
    let mut supervision = Supervision::new(Some(INTERVAL), Instant::ZERO);
    assert_eq!(supervision.pass(at(9)), (false, None));
    assert_eq!(supervision.pass(at(10)), (true, None));
    supervision.ask(Some(question()));
    assert_eq!(supervision.next_deadline(), Some(at(20)));
    assert_eq!(supervision.pass(at(20)), (true, Some(Finding::Silent)));
    supervision.ask(Some(question()));
    assert_eq!(supervision.pass(at(30)), (true, None));
    let asked = question();
    supervision.ask(Some(asked));
    assert_eq!(supervision.answered(asked, Some(&message("SIP/2.0 200 OK"))), Some(Some(Finding::Back)));
    assert_eq!(supervision.pass(at(40)), (true, None));
}

#[test]
fn a_gateway_that_was_started_anew_knows_no_session() {
    let mut supervision = Supervision::new(Some(INTERVAL), Instant::ZERO);
    let asked = question();
    supervision.ask(Some(asked));
    let unknown = message("SIP/2.0 481 Call/Transaction Does Not Exist");
    assert_eq!(supervision.answered(asked, Some(&unknown)), Some(Some(Finding::Forgotten)));
    assert_eq!(supervision.answered(asked, Some(&unknown)), None, "it was answered");
}

#[test]
fn nobody_is_asked_without_an_interval() {
    let mut supervision = Supervision::new(None, Instant::ZERO);
    assert_eq!(supervision.pass(Instant::ZERO + INTERVAL * 100), (false, None));
    assert_eq!(supervision.next_deadline(), None);
}
