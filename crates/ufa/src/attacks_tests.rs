//! Orders of those who have nothing to say, and of those who say again what was said once. All of them have read everything.

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::{Ecn, Input, Instant, Machine, Route, Seed};

use crate::sip::{CONTEXT_TRANSFER, Message, RESOURCE_QUERY, SipConfig, Timers, Transport};
use crate::testing::{CORRESPONDENT, SOURCE, Said, Scene, TARGET, TERMINAL, address, gateway_config};
use crate::{Correspondent, Event, UfaPlusPlus};

const STRANGER: &str = "10.1.0.9:5060";

/// The last request with this method from one to another.
fn said(scene: &Scene, from: usize, to: usize, method: &str) -> String {
    let of = |(_, by, whom, message): &&(Instant, usize, usize, Message)| {
        (*by, *whom) == (from, to) && message.is_request() && message.method().to_string() == method
    };
    String::from_utf8(scene.log.iter().rfind(of).unwrap().3.to_bytes()).unwrap()
}

/// The same as a later request.
fn later(text: &str, method: &str) -> String {
    let line = text.lines().find(|line| line.starts_with("CSeq")).unwrap();
    text.replace(line, &format!("CSeq: 99 {method}")).replace("z9hG4bK", "z9hG4bKf")
}

fn moves(scene: &Scene) -> usize {
    scene.said(TERMINAL).iter().filter(|event| matches!(event, Event::Move(..))).count()
}

/// A terminal that is still at the source, where a handover has come to nothing: whoever has heard of that knows all that message 5A needs.
fn one_that_stays() -> (Scene, String) {
    let mut scene = Scene::talking(1);
    let silent = scene.stop(CORRESPONDENT);
    scene.hand_over();
    scene.pass(Duration::from_secs(100));
    scene.start(CORRESPONDENT, silent);
    let mut other = Scene::talking(1);
    other.hand_over();
    other.pass(Duration::from_secs(2));
    let offer = said(&other, SOURCE, TERMINAL, "INVITE");
    assert!(scene.said(SOURCE).iter().any(|event| matches!(event, Event::Stays { .. })));
    (scene, later(&offer, "INVITE"))
}

fn nobody_goes_by_the_word_of(from: SocketAddr) {
    let (mut scene, offer) = one_that_stays();
    let here = scene.terminal_address();
    let before = scene.log.len();
    scene.deliver_sip(TERMINAL, here, from, offer.as_bytes());
    scene.pass(Duration::from_secs(2));
    let answers: Vec<_> = scene.log[before..].iter().filter(|(_, by, ..)| *by == TERMINAL).collect();
    assert!(
        !answers.is_empty() && answers.iter().all(|(.., message)| message.status() == 481),
        "{answers:?}"
    );
    let ack = later(&offer, "ACK").replace("INVITE sip", "ACK sip");
    scene.deliver_sip(TERMINAL, here, from, ack.as_bytes());
    scene.pass(Duration::from_secs(2));
    assert_eq!(moves(&scene), 0);
    // Its own gateway may say the same.
    scene.deliver_sip(TERMINAL, here, address(SOURCE, 1), offer.replace("z9hG4bKf", "z9hG4bKg").as_bytes());
    scene.pass(Duration::from_millis(1));
    assert_eq!(scene.log.last().unwrap().3.status(), 200);
}

#[test]
fn a_stranger_orders_no_handover() {
    nobody_goes_by_the_word_of(STRANGER.parse().unwrap());
}

#[test]
fn another_sessions_gateway_orders_no_handover() {
    nobody_goes_by_the_word_of(address(TARGET, 1));
}

/// Where SIP is protected a correspondent hears of its peer from the gateway that the session leads through.
#[test]
fn another_sessions_gateway_moves_nobodys_peer() {
    let sip = SipConfig { transport: Transport::Tls, timers: Timers::reliable(), ..SipConfig::default() };
    let here: SocketAddr = "10.0.0.1:5061".parse().unwrap();
    let mut correspondent = Correspondent::new(here, sip, Box::new(UfaPlusPlus), &Seed::from_u64(1));
    let mut hears = |from: &str, number: u32, to_tag: &str, more: &str| {
        let text = format!(
            "INVITE sip:x@10.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TLS {from}:5061;branch=z9hG4bK{number}\r\nFrom: <sip:t@x>;tag=1\r\n\
             To: <sip:c@x>{to_tag}\r\nCall-ID: c\r\nCSeq: {number} INVITE\r\n{more}\r\n"
        );
        let (mut said, bytes) = (Said::default(), text.as_bytes());
        let route = Route { local: here, remote: SocketAddr::new(from.parse().unwrap(), 5061) };
        let input = Input::Datagrams { route, ecn: Ecn::NotCapable, bytes, segment: bytes.len() };
        correspondent.step(Instant::ZERO, [input], &mut said);
        Message::parse(&said.sent[0].1).unwrap()
    };
    let up = hears("10.1.0.1", 1, "", "UFA_Application: sctp 10.1.0.2:7000 10.0.0.1:7000\r\n");
    let tag = format!(";tag={}", up.to_tag().unwrap());
    let five = "UFA_Appli_Config: Add_IP_Addr=10.2.0.2;Del_IP_Addr=10.1.0.2\r\n";
    assert_eq!(hears("10.2.0.1", 2, &tag, five).status(), 403);
    assert_eq!(hears("10.1.0.1", 3, &tag, five).status(), 200);
}

/// Everything that was said in a handover, said again when nobody knows its transactions any more.
#[test]
fn what_is_replayed_moves_nobody_and_keeps_no_room() {
    // There is room for more than one.
    let mut scene = Scene::with(1, |_, mut config| {
        config.resources.throughput *= 4;
        config
    });
    scene.talk();
    let before = scene.log.len();
    scene.hand_over();
    scene.pass(Duration::from_secs(200));
    let (orders, there) = (scene.orders(CORRESPONDENT), scene.terminal_address());
    let messages: Vec<_> = scene.log[before..].to_vec();
    for (_, from, to, message) in &messages {
        let place = |host: usize| match host {
            TERMINAL => there,
            host => address(host, 1),
        };
        scene.deliver_sip(*to, place(*to), place(*from), &message.to_bytes());
        scene.pass(Duration::from_secs(1));
        let expected = scene.gateway(TARGET).expected().count();
        assert_eq!(expected, 0, "{} keeps room for somebody", message.method());
    }
    let methods: Vec<_> = messages.iter().map(|(.., message)| message.method().to_string()).collect();
    for method in [RESOURCE_QUERY, CONTEXT_TRANSFER, "INVITE", "ACK"] {
        assert!(methods.iter().any(|said| said == method), "{method}");
    }
    assert_eq!((moves(&scene), scene.orders(CORRESPONDENT)), (1, orders));
    assert_eq!([SOURCE, TARGET].map(|host| scene.gateway(host).session_count()), [0, 1]);
    scene.pass(Duration::from_secs(200));
    assert!(scene.is_quiet());
}

/// Message 8 of somebody who has another address than the one that is kept: what waits is the terminal's.
#[test]
fn nobody_comes_in_anothers_place() {
    let mut scene = Scene::talking(1);
    scene.stranded = true;
    scene.hand_over();
    scene.pass(Duration::from_secs(1));
    let kept = scene.gateway(TARGET).expected().next().unwrap();
    let mut other = Scene::talking(1);
    other.hand_over();
    other.pass(Duration::from_secs(2));
    let eight = said(&other, TERMINAL, TARGET, "INVITE");
    let squatter: SocketAddr = "10.2.0.77:5060".parse().unwrap();
    let forged = eight.replace(&kept.to_string(), &squatter.ip().to_string());
    scene.deliver_sip(TARGET, address(TARGET, 1), squatter, later(&forged, "INVITE").as_bytes());
    assert_eq!(scene.log.last().unwrap().3.status(), 491);
    assert_eq!(scene.gateway(TARGET).expected().collect::<Vec<_>>(), [kept]);
    assert!(!scene.said(TARGET).iter().any(|event| matches!(event, Event::Arrived(_))));
}

/// Another gateway hands over more terminals than there is room for, none of which ever comes: what is kept is bounded, each that finds no room is refused, and
/// after 40 s there is room again.
#[test]
fn reserved_buffers_that_are_exhausted_are_free_again() {
    let places = 3;
    let mut scene = Scene::with(1, |_, mut config| {
        config.resources.buffer = places * config.resources.least_buffer + 1;
        config
    });
    scene.talk();
    let mut other = Scene::talking(1);
    other.hand_over();
    other.pass(Duration::from_secs(2));
    let three = said(&other, SOURCE, TARGET, CONTEXT_TRANSFER);
    let before = scene.log.len();
    for number in 0..50 {
        // Each of another terminal, which wants little throughput.
        let port = format!(":{}", 41_000 + number);
        let mut text = three.replace(":40000", &port).replace("1000000", "1");
        let length = text.split_once("\r\n\r\n").unwrap().1.len();
        let old =
            text.lines().find(|line| line.to_lowercase().starts_with("content-length")).unwrap().to_owned();
        text = text.replace(&old, &format!("Content-Length: {length}"));
        let call = text.lines().find(|line| line.starts_with("Call-ID")).unwrap().to_owned();
        text =
            text.replace(&call, &format!("{call}{number}")).replace("z9hG4bK", &format!("z9hG4bK{number}"));
        scene.deliver_sip(TARGET, address(TARGET, 1), address(SOURCE, 1), text.as_bytes());
        scene.pass(Duration::from_millis(1));
    }
    scene.pass(Duration::from_secs(1));
    let statuses: Vec<u16> = scene.log[before..]
        .iter()
        .filter(|(_, by, to, message)| {
            (*by, *to) == (TARGET, SOURCE) && message.method().to_string() == CONTEXT_TRANSFER
        })
        .map(|(.., message)| message.status())
        .collect();
    let count = |status| statuses.iter().filter(|of| **of == status).count();
    assert_eq!((count(200), count(480)), (places as usize, 50 - places as usize), "{statuses:?}");
    assert_eq!(scene.gateway(TARGET).given().len(), places as usize);
    // What is sent to one of them takes no room from the others.
    let kept = scene.gateway(TARGET).expected().next().unwrap();
    let (to, from) = (SocketAddr::new(kept, 0), SocketAddr::new(address(CORRESPONDENT, 0).ip(), 0));
    for _ in 0..100 {
        scene.deliver(TARGET, Route { local: to, remote: from }, &[0; 1000]);
    }
    assert!(scene.gateway(TARGET).held_bytes() <= gateway_config(TARGET).resources.least_buffer);
    scene.hand_over();
    scene.pass(Duration::from_secs(3));
    assert_eq!(moves(&scene), 0);
    scene.pass(Duration::from_secs(40));
    assert_eq!((scene.gateway(TARGET).given().len(), scene.gateway(TARGET).held_bytes()), (0, 0));
    scene.hand_over();
    scene.pass(Duration::from_secs(2));
    assert!(scene.said(TERMINAL).iter().any(|event| matches!(event, Event::Arrived(_))));
}
