//! Who may say what: gateways of before, gateways of others, and terminals that claim too much.

use core::net::SocketAddr;
use core::time::Duration;

use crate::Event;
use crate::testing::{CORRESPONDENT, SOURCE, Scene, TARGET, TERMINAL, address};

/// A gateway that has handed a terminal on knows the dialog, and has nothing to say any more.
#[test]
fn a_gateway_of_before_moves_nobody() {
    let mut scene = Scene::talking(1);
    let before = scene.log.len();
    scene.hand_over();
    scene.pass(Duration::from_secs(2));
    let offer = scene.log[before..].iter().find(|(_, from, to, message)| {
        (*from, *to) == (SOURCE, TERMINAL) && message.is_request() && message.method().to_string() == "INVITE"
    });
    let again = offer.unwrap().3.to_bytes();
    // As later as may be: the numbers of the dialog are no protection against who has handed them on.
    let text = String::from_utf8(again).unwrap();
    let line = text.lines().find(|line| line.starts_with("CSeq")).unwrap().to_owned();
    let forged = text.replace(&line, "CSeq: 99 INVITE").replace("z9hG4bK", "z9hG4bKf");
    let moves =
        |scene: &Scene| scene.said(TERMINAL).iter().filter(|event| matches!(event, Event::Move(..))).count();
    assert_eq!(moves(&scene), 1);
    let here = scene.terminal_address();
    scene.deliver_sip(TERMINAL, here, address(SOURCE, 1), forged.as_bytes());
    scene.pass(Duration::from_secs(2));
    let refused = scene
        .log
        .iter()
        .filter(|(_, from, to, message)| (*from, *to, message.status()) == (TERMINAL, SOURCE, 481));
    assert!(refused.count() > 0);
    assert_eq!(moves(&scene), 1);
}

/// Another gateway that knows what an association is called has no session of it.
#[test]
fn a_session_of_another_gateway_is_not_taken() {
    let mut scene = Scene::talking(1);
    let invite = scene.log.iter().find(|(_, from, to, message)| {
        (*from, *to) == (SOURCE, CORRESPONDENT)
            && message.is_request()
            && message.method().to_string() == "INVITE"
    });
    let text = String::from_utf8(invite.unwrap().3.to_bytes()).unwrap();
    let forged = text.replace("z9hG4bK", "z9hG4bKf");
    let here = address(CORRESPONDENT, 0);
    scene.deliver_sip(CORRESPONDENT, here, address(TARGET, 1), forged.as_bytes());
    scene.pass(Duration::from_secs(1));
    assert!(
        scene
            .log
            .iter()
            .any(|(_, from, to, message)| (*from, *to, message.status()) == (CORRESPONDENT, TARGET, 403))
    );
    scene.hand_over();
    scene.pass(Duration::from_secs(2));
    assert!(scene.said(SOURCE).iter().any(|event| matches!(event, Event::HandedOver { .. })));
}

/// A session decides where an association goes: nobody gets one for that of another host, and nobody sits down at the place that is kept for somebody else.
#[test]
fn a_terminal_that_claims_what_is_not_its_own_has_no_session() {
    let mut scene = Scene::talking(1);
    let invite = scene.log.iter().find(|(_, from, to, message)| {
        (*from, *to) == (TERMINAL, SOURCE) && message.is_request() && message.method().to_string() == "INVITE"
    });
    let text = String::from_utf8(invite.unwrap().3.to_bytes()).unwrap();
    let status_of = |scene: &mut Scene, host: usize, from: SocketAddr, text: &str| {
        let before = scene.log.len();
        scene.deliver_sip(host, address(host, 1), from, text.as_bytes());
        scene.pass(Duration::from_millis(5));
        scene.log[before..].iter().find(|(_, by, ..)| *by == host).map(|(.., message)| message.status())
    };
    // Another host, for the association of the first one.
    let stranger: SocketAddr = "10.1.0.9:5060".parse().unwrap();
    let forged = text.replace("z9hG4bK", "z9hG4bKf");
    assert_eq!(status_of(&mut scene, SOURCE, stranger, &forged), Some(403));
    // One that has the address which is kept for a terminal on its way.
    scene.hand_over();
    while scene.gateway(TARGET).expected().count() == 0 {
        scene.pass(Duration::from_millis(1));
    }
    let kept = SocketAddr::new(scene.gateway(TARGET).expected().next().unwrap(), 5060);
    let own = text
        .replace("z9hG4bK", "z9hG4bKg")
        .replace(&address(TERMINAL, 0).ip().to_string(), &kept.ip().to_string());
    assert_eq!(status_of(&mut scene, TARGET, kept, &own), Some(403));
    scene.pass(Duration::from_secs(2));
    assert!(scene.said(TARGET).iter().any(|event| matches!(event, Event::Arrived(_))));
}
