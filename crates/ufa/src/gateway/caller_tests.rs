use core::net::SocketAddr;

use sip_types::Name;
use whimbrel_machine::{Input, Machine};

use super::*;
use crate::gateway::alone::{Alone, CORRESPONDENT, TERMINAL, words};
use crate::interface::Command;
use crate::sip::response;

const PROXY: &str = "10.1.0.9";

fn alone() -> Alone {
    let clear = crate::ClearSip { proxies: vec![PROXY.parse().unwrap()], domain: None };
    Alone::with(Some(Transport::Udp), |config| crate::GatewayConfig { clear: clear.clone(), ..config })
}

/// A request of the terminal as a proxy passes it on: by two of them, of which the nearer one has heard from the other one where it came from.
fn by_proxy(method: &str, n: u32, to_tag: &str, more: &str) -> String {
    format!(
        "{method} sip:b@10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP {PROXY};branch=z9hG4bKp{n}\r\n\
         Via: SIP/2.0/UDP robot.example:9;branch=z9hG4bKt{n};received={TERMINAL};rport=7, SIP/2.0/UDP 10.9.9.9;branch=z9hG4bKf\r\n\
         From: <sip:alice@x>;tag=1\r\nTo: <sip:b@x>{to_tag}\r\nCall-ID: c\r\nCSeq: {n} {method}\r\n\
         Contact: <sip:alice@robot.example:5070>\r\n{more}\r\n"
    )
}

const ROUTES: &str = "Record-Route: <sip:10.1.0.9;lr>, <sip:far.example;lr;x=1>\r\n";

fn calls(alone: &mut Alone, from: &str, more: &str) -> Vec<(Route, Message)> {
    let application = format!("UFA_Application: sctp {TERMINAL}:1 {CORRESPONDENT}:2\r\n");
    let invite = by_proxy("INVITE", 1, "", &format!("{application}{more}"));
    alone.hear(Transport::Udp, from, invite.as_bytes()).to_vec()
}

fn asked(sent: &[(Route, Message)]) -> Message {
    sent.iter().find(|(_, message)| message.is_request()).unwrap().1.clone()
}

fn routes(message: &Message) -> Vec<String> {
    message.headers().get_raw(&Name::ROUTE).map(ToString::to_string).collect()
}

/// RFC 3261 §12.1.1, §12.2.1.1 and §18.2.1: the terminal is whom the proxy has heard, and requests go back by all proxies.
#[test]
fn proxies_stay_between() {
    let mut alone = alone();
    let sent = calls(&mut alone, PROXY, ROUTES);
    assert_eq!(words(&sent), [format!("INVITE to {CORRESPONDENT}"), format!("100 INVITE to {PROXY}")]);
    let sent = alone.answers(Transport::Udp, &asked(&sent), 200);
    let accepted = &sent.iter().find(|(_, message)| message.status() == 200).unwrap().1;
    let recorded: Vec<_> = accepted.headers().get_raw(&Name::RECORD_ROUTE).map(ToString::to_string).collect();
    assert_eq!(recorded, ["<sip:10.1.0.9;lr>, <sip:far.example;lr;x=1>"]);
    assert_eq!(senders(accepted).len(), 3, "all Vias");
    let tag = format!(";tag={}", accepted.to_tag().unwrap());
    alone.hear(Transport::Udp, PROXY, by_proxy("ACK", 1, &tag, "").as_bytes());
    // Its own requests.
    alone.gateway.step(alone.now, [Input::Command(Command::Stop)], &mut alone.sent);
    let bye = alone.sent.iter().find(|(_, message)| message.method() == &Method::BYE).unwrap();
    assert_eq!(bye.0.remote.to_string(), format!("{PROXY}:5060"));
    assert_eq!(format!("{:?}", bye.1.uri().unwrap()), "sip:alice@robot.example:5070");
    assert_eq!(routes(&bye.1), ["<sip:10.1.0.9;lr>", "<sip:far.example;lr;x=1>"]);
}

/// Who is in nobody's file is a host like others, and has no sessions for another one's associations.
#[test]
fn only_proxies_of_the_file_are_believed() {
    let mut alone = alone();
    assert_eq!(words(&calls(&mut alone, "10.1.0.8", "")), ["403 INVITE to 10.1.0.8"]);
    // Nor does one have requests go to a third host.
    let elsewhere = ROUTES.replace("10.1.0.9", "10.0.0.99");
    let invite = calls(&mut alone, PROXY, &elsewhere);
    assert_eq!(words(&invite), [format!("403 INVITE to {PROXY}")]);
    let mut alone = self::alone();
    let sent = calls(&mut alone, PROXY, &"Record-Route: <sip:10.1.0.9;lr>\r\n".repeat(9));
    assert_eq!(words(&sent), [format!("400 INVITE to {PROXY}")]);
}

/// What the terminal itself says of who was before it is not believed.
#[test]
fn a_terminal_does_not_say_that_it_is_another_one() {
    let mut alone = alone();
    let application = format!("UFA_Application: sctp 10.9.9.9:1 {CORRESPONDENT}:2\r\n");
    let invite = by_proxy("INVITE", 1, "", &application);
    assert_eq!(
        words(alone.hear(Transport::Udp, PROXY, invite.as_bytes())),
        [format!("403 INVITE to {PROXY}")]
    );
}

/// Without Record-Route the proxy does not want to stay, and the terminal is asked itself: where it is by its Contact, or by what the proxy has heard.
#[test]
fn a_proxy_that_does_not_stay_is_left_out() {
    let mut alone = alone();
    let application = format!("UFA_Application: sctp {TERMINAL}:1 {CORRESPONDENT}:2\r\n");
    let invite =
        by_proxy("INVITE", 1, "", &application).replace("@robot.example:5070", &format!("@{TERMINAL}:5070"));
    let sent = alone.hear(Transport::Udp, PROXY, invite.as_bytes()).to_vec();
    alone.answers(Transport::Udp, &asked(&sent), 200);
    alone.gateway.step(alone.now, [Input::Command(Command::Stop)], &mut alone.sent);
    let (route, bye) = alone.sent.iter().find(|(_, message)| message.method() == &Method::BYE).unwrap();
    assert_eq!((route.remote.to_string(), routes(bye)), (format!("{TERMINAL}:5070"), Vec::new()));
}

/// RFC 3261 §12.1.2: the route set that the correspondent's answer has, from its end.
#[test]
fn a_correspondent_says_how_it_is_reached() {
    let mut alone = alone();
    let invited = alone.calls(Transport::Udp);
    let answer = response(&invited, 200, &crate::sip::Token::of(&[9; 32])).unwrap();
    let answer = answer
        .with("Record-Route", "<sip:far.example;lr>, <sip:10.0.0.1:5066;lr>")
        .with("Contact", "<sip:c@deep.example>");
    let sent = alone.hear(Transport::Udp, CORRESPONDENT, &answer.to_bytes()).to_vec();
    let (route, ack) = sent.iter().find(|(_, message)| message.method() == &Method::ACK).unwrap();
    assert_eq!(route.remote, SocketAddr::new(CORRESPONDENT.parse().unwrap(), 5066));
    assert_eq!(format!("{:?}", ack.uri().unwrap()), "sip:c@deep.example");
    assert_eq!(routes(ack), ["<sip:10.0.0.1:5066;lr>", "<sip:far.example;lr>"]);
    // It hangs up from there, and from nowhere else.
    let bye = format!(
        "BYE sip:x@10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 10.0.0.1:5066;branch=z9hG4bKb\r\nFrom: <sip:correspondent@x>;tag={}\r\n\
         To: <sip:x@x>;tag={}\r\nCall-ID: {}\r\nCSeq: 1 BYE\r\n\r\n",
        answer.to_tag().unwrap(),
        answer.from_tag().unwrap(),
        answer.call_id()
    );
    let bye = Message::parse(bye.as_bytes()).unwrap();
    for (over, port, known) in [
        (Transport::Udp, 5066, true),
        (Transport::Udp, 5060, false),
        // By TCP it is from any port: it has shaken hands from this address.
        (Transport::Tcp, 40_000, true),
        (Transport::Tls, 5066, false),
    ] {
        let remote = SocketAddr::new(CORRESPONDENT.parse().unwrap(), port);
        let route = Route { local: crate::gateway::alone::here(over), remote };
        assert_eq!(alone.gateway.is_of_correspondent(&bye, route, remote), known, "{over} {port}");
    }
    let elsewhere = SocketAddr::new("10.0.0.2".parse().unwrap(), 5066);
    let route = Route { local: crate::gateway::alone::here(Transport::Tcp), remote: elsewhere };
    assert!(!alone.gateway.is_of_correspondent(&bye, route, elsewhere));
}

/// RFC 3261 §17: what TCP carries is said once, but for a 2xx to INVITE, which is said until it is acknowledged (§13.3.1.4).
#[test]
fn tcp_repeats_by_itself() {
    let mut alone = alone();
    let invited = alone.calls(Transport::Tcp);
    assert!(invited.header("Via").unwrap().starts_with("SIP/2.0/TCP 10.1.0.1:5060;"));
    let contact = invited.header("Contact").unwrap();
    assert!(contact.contains("10.1.0.1:5060;transport=tcp"), "{contact}");
    let sent = alone.pass(core::time::Duration::from_secs(20)).to_vec();
    assert!(sent.is_empty(), "{:?}", words(&sent));
    alone.answers(Transport::Tcp, &invited, 200);
    let again = words(alone.pass(core::time::Duration::from_secs(1)));
    assert_eq!(again, [format!("200 INVITE to {TERMINAL}")]);
}

/// What the ends offer each other goes through as it is.
#[test]
fn bodies_are_passed_on() {
    let mut alone = alone();
    let body = "Content-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n";
    let application = format!("UFA_Application: sctp {TERMINAL}:1 {CORRESPONDENT}:2\r\n");
    let invite = by_proxy("INVITE", 1, "", &application);
    let invite = format!("{}{body}", invite.strip_suffix("\r\n").unwrap());
    let asked = asked(alone.hear(Transport::Udp, PROXY, invite.as_bytes()));
    assert_eq!((asked.header("Content-Type"), &asked.body()[..]), (Some("application/sdp"), &b"v=0\r\n"[..]));
    for status in [183, 200] {
        let answer = response(&asked, status, &crate::sip::Token::of(&[9; 32])).unwrap();
        let answer = answer.with("Content-Type", "text/x").with_body("answer");
        let sent = alone.hear(Transport::Udp, CORRESPONDENT, &answer.to_bytes()).to_vec();
        let passed = &sent.iter().find(|(_, message)| message.status() == status).unwrap().1;
        assert_eq!((passed.header("Content-Type"), &passed.body()[..]), (Some("text/x"), &b"answer"[..]));
    }
}

/// The next gateway knows how the terminal is reached.
#[test]
fn a_path_is_handed_over() {
    let mut dialog = crate::sip::Dialog::opened(
        &Message::parse(by_proxy("INVITE", 1, "", ROUTES).as_bytes()).unwrap(),
        &crate::sip::Token::of(&[1; 32]),
        Contact { address: "10.1.0.9:5060".parse().unwrap(), transport: Transport::Tcp },
    );
    let application = format!("sctp {TERMINAL}:1 {CORRESPONDENT}:2").parse().unwrap();
    let mut context = crate::sip::Context {
        application,
        throughput: 1,
        old_address: TERMINAL.parse().unwrap(),
        terminal: dialog.clone(),
        correspondent: dialog.clone(),
    };
    for carrier in [Transport::Udp, Transport::Tls] {
        assert_eq!(crate::sip::Context::read(&context.written(carrier), carrier), Ok(context.clone()));
        let request = Message::parse(by_proxy("INVITE", 1, "", ROUTES).as_bytes()).unwrap();
        dialog.set_path(Path::of_request(&request).unwrap());
        context.terminal = dialog.clone();
        assert_eq!(crate::sip::Context::read(&context.written(carrier), carrier), Ok(context.clone()));
    }
}

/// A correspondent that has been reached by TCP is acknowledged, and later called, where it was reached: it may have no port open for others.
#[test]
fn who_was_reached_by_tcp_is_called_by_that_connection() {
    let mut alone = alone();
    let invited = alone.calls(Transport::Tcp);
    let answer = response(&invited, 200, &crate::sip::Token::of(&[9; 32])).unwrap();
    let answer = answer.with("Contact", format!("<sip:c@{CORRESPONDENT}:40123;transport=tcp>"));
    let sent = alone.hear(Transport::Tcp, CORRESPONDENT, &answer.to_bytes()).to_vec();
    let (route, ack) = sent.iter().find(|(_, message)| message.method() == &Method::ACK).unwrap();
    assert_eq!(route.remote.port(), Transport::Tcp.port(), "{route:?}");
    assert_eq!(format!("{:?}", ack.uri().unwrap()), format!("sip:c@{CORRESPONDENT}:40123;transport=tcp"));
}

/// A proxy of the correspondent's that has a port of its own for what comes within dialogs is asked there, over TCP, too: it has named it for this (RFC 3261 §12.2.1.1, §13.2.2.4).
#[test]
fn a_proxy_that_stays_between_is_asked_at_the_port_that_it_names() {
    let mut alone = alone();
    let invited = alone.calls(Transport::Tcp);
    let answer = response(&invited, 200, &crate::sip::Token::of(&[9; 32])).unwrap();
    let answer = answer
        .with("Record-Route", format!("<sip:{CORRESPONDENT}:5066;transport=tcp;lr>"))
        .with("Contact", format!("<sip:c@{CORRESPONDENT}:40123;transport=tcp>"));
    let sent = alone.hear(Transport::Tcp, CORRESPONDENT, &answer.to_bytes()).to_vec();
    let (route, ack) = sent.iter().find(|(_, message)| message.method() == &Method::ACK).unwrap();
    assert_eq!(route.remote, SocketAddr::new(CORRESPONDENT.parse().unwrap(), 5066));
    assert_eq!(routes(ack), [format!("<sip:{CORRESPONDENT}:5066;transport=tcp;lr>")]);
    alone.gateway.step(alone.now, [Input::Command(Command::Stop)], &mut alone.sent);
    let to_it = |(route, message): &&(Route, Message)| {
        message.method() == &Method::BYE && route.remote.ip().to_string() == CORRESPONDENT
    };
    assert_eq!(alone.sent.iter().find(to_it).unwrap().0.remote.port(), 5066);
}
