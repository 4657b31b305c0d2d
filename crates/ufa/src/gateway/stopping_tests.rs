use core::time::Duration;

use crate::Event;
use crate::gateway::supervised::{supervised, talking};
use crate::sip::REASON;
use crate::testing::{CORRESPONDENT, SOURCE, Scene, TARGET, TERMINAL};

const INTERVAL: Duration = Duration::from_secs(3);

fn count(scene: &Scene, host: usize, what: fn(&Event) -> bool) -> usize {
    scene.said(host).into_iter().filter(|event| what(event)).count()
}

const fn is_ended(event: &Event) -> bool {
    matches!(event, Event::Ended(_))
}

const fn is_up(event: &Event) -> bool {
    matches!(event, Event::Established(_))
}

/// Within a few round trips, and not after the silence of two questions: the terminal decides by itself, the correspondent knows of no session.
#[test]
fn both_ends_are_told_that_the_gateway_ends() {
    let mut scene = talking(INTERVAL);
    assert!(!scene.gateway(SOURCE).has_stopped());
    scene.stop_gateway(SOURCE);
    scene.pass(Duration::from_millis(100));
    assert!(scene.gateway(SOURCE).has_stopped());
    assert_eq!(count(&scene, TERMINAL, |event| *event == Event::GatewaySilent), 1);
    assert_eq!([TERMINAL, SOURCE, CORRESPONDENT].map(|host| count(&scene, host, is_ended)), [0, 1, 1]);
    let byes = scene
        .log
        .iter()
        .filter(|(.., message)| message.method().to_string() == "BYE" && message.is_request());
    assert!(byes.clone().count() == 2 && byes.clone().all(|(.., bye)| bye.header(REASON).is_some()));
    // Nothing is answered that would be taken for a gateway which has been started anew.
    scene.pass(INTERVAL * 3);
    assert_eq!(count(&scene, TERMINAL, |event| matches!(event, Event::Refused(..))), 0);
}

/// The session comes back by itself, and can be moved.
#[test]
fn a_gateway_that_is_started_anew_has_its_sessions_again() {
    let mut scene = talking(INTERVAL);
    scene.stop_gateway(SOURCE);
    scene.pass(Duration::from_secs(1));
    scene.crash(SOURCE);
    scene.pass(Duration::from_secs(60));
    scene.replace_gateway(SOURCE, supervised(INTERVAL));
    scene.pass(INTERVAL * 3);
    assert_eq!([TERMINAL, CORRESPONDENT].map(|host| count(&scene, host, is_up)), [2, 2]);
    scene.hand_over();
    scene.pass(Duration::from_secs(2));
    assert_eq!(scene.gateway(TARGET).session_count(), 1);
    // An association that ends without a gateway takes the questions with it.
    let mut scene = talking(INTERVAL);
    scene.stop_gateway(SOURCE);
    scene.pass(Duration::from_secs(1));
    scene.crash(SOURCE);
    scene.disassociate(TERMINAL);
    scene.pass(Duration::from_secs(200));
    assert!(scene.is_quiet());
}

/// A handover goes to its end, whenever one of the gateways is told to end in its midst; the sessions of that gateway are over then.
#[test]
fn who_is_on_the_way_gets_there() {
    for host in [SOURCE, TARGET] {
        let mut gone = 0;
        for after in 0..40 {
            let mut scene = talking(INTERVAL);
            scene.hand_over();
            scene.pass(Duration::from_millis(after * 10));
            scene.stop_gateway(host);
            scene.pass(Duration::from_secs(12));
            let ends = |event: &Event| matches!(event, Event::HandedOver { .. } | Event::Stays { .. });
            assert_eq!(count(&scene, SOURCE, ends), 1, "{host} {after}");
            assert!(scene.gateway(host).has_stopped(), "{host} {after}");
            assert_eq!(
                count(&scene, TERMINAL, |event| matches!(event, Event::Lost(..))),
                0,
                "{host} {after}"
            );
            let arrived = count(&scene, TERMINAL, |event| matches!(event, Event::Arrived(_)));
            let moved = count(&scene, SOURCE, |event| matches!(event, Event::HandedOver { .. }));
            assert_eq!(arrived, moved, "{host} {after}");
            gone += moved;
        }
        assert!(gone > 20, "{host} {gone}");
    }
}

/// Nothing new begins, and another gateway hears so at once.
#[test]
fn a_gateway_that_ends_takes_nobody() {
    let mut scene = talking(INTERVAL);
    scene.stop_gateway(TARGET);
    scene.hand_over();
    scene.pass(Duration::from_millis(500));
    assert_eq!(count(&scene, SOURCE, |event| matches!(event, Event::Stays { .. })), 1);
    let mut scene = Scene::with(1, supervised(INTERVAL));
    scene.stop_gateway(SOURCE);
    scene.associate();
    scene.pass(Duration::from_secs(1));
    assert!(scene.gateway(SOURCE).has_stopped());
    scene.replace_gateway(SOURCE, supervised(INTERVAL));
    scene.pass(Duration::from_secs(5));
    assert_eq!(count(&scene, TERMINAL, is_up), 1, "the call has come again");
}

/// A call that is not answered yet is refused, and called off at the correspondent.
#[test]
fn a_call_that_rings_is_over() {
    let mut scene = Scene::with(1, supervised(INTERVAL));
    let silent = scene.stop(CORRESPONDENT);
    scene.associate();
    scene.pass(Duration::from_millis(100));
    scene.stop_gateway(SOURCE);
    scene.pass(Duration::from_millis(100));
    assert_eq!(
        count(&scene, TERMINAL, |event| *event
            == Event::Refused(scene_application(), crate::Failure::Status(503))),
        1
    );
    drop(silent);
}

fn scene_application() -> crate::Application {
    "sctp 10.1.0.2:40000 10.0.0.1:5001".parse().unwrap()
}
