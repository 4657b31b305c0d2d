use core::time::Duration;

use crate::Event;
use crate::gateway::supervised::{supervised, talking};
use crate::testing::{CORRESPONDENT, Mishap, SOURCE, Scene, TARGET, TERMINAL, Victim, address};

const INTERVAL: Duration = Duration::from_secs(10);

fn has_ended(scene: &Scene, host: usize) -> usize {
    scene.said(host).iter().filter(|event| matches!(event, Event::Ended(_))).count()
}

#[test]
fn a_session_ends_with_its_association_at_all_three() {
    for host in [TERMINAL, CORRESPONDENT] {
        let mut scene = talking(INTERVAL);
        scene.disassociate(host);
        scene.pass(Duration::from_secs(1));
        assert_eq!(scene.gateway(SOURCE).session_count(), 0);
        for host in [TERMINAL, SOURCE, CORRESPONDENT] {
            assert_eq!(has_ended(&scene, host), 1, "{host}");
        }
        scene.pass(Duration::from_secs(200));
        assert!(scene.is_quiet(), "nobody asks any more");
    }
}

/// Both ends know where the session leads now.
#[test]
fn after_a_handover_it_ends_at_the_target() {
    for host in [TERMINAL, CORRESPONDENT] {
        let mut scene = talking(INTERVAL);
        scene.hand_over();
        scene.pass(Duration::from_secs(2));
        scene.disassociate(host);
        scene.pass(Duration::from_secs(1));
        assert_eq!([SOURCE, TARGET].map(|host| scene.gateway(host).session_count()), [0, 0], "{host}");
        assert_eq!((has_ended(&scene, CORRESPONDENT), has_ended(&scene, TERMINAL)), (1, 1), "{host}");
    }
}

#[test]
fn a_terminal_that_answers_keeps_its_session_and_one_that_vanishes_loses_it() {
    let mut scene = talking(INTERVAL);
    scene.pass(INTERVAL * 50);
    assert_eq!(scene.gateway(SOURCE).session_count(), 1);
    scene.crash(TERMINAL);
    scene.pass(INTERVAL * 6);
    assert_eq!(scene.gateway(SOURCE).session_count(), 0);
    assert_eq!((has_ended(&scene, SOURCE), has_ended(&scene, CORRESPONDENT)), (1, 1));
}

#[test]
fn a_terminal_notices_that_its_gateway_is_gone_and_that_it_was_started_anew() {
    let mut scene = talking(INTERVAL);
    let gone = scene.stop(SOURCE);
    scene.pass(INTERVAL * 3);
    let count =
        |scene: &Scene, what: &Event| scene.said(TERMINAL).iter().filter(|event| **event == what).count();
    assert_eq!(count(&scene, &Event::GatewaySilent), 1);
    scene.start(SOURCE, gone);
    scene.pass(INTERVAL * 2);
    assert_eq!(count(&scene, &Event::GatewayBack), 1);

    // The new one knows nobody, and is told anew.
    scene.replace_gateway(SOURCE, supervised(INTERVAL));
    scene.pass(INTERVAL * 2);
    assert_eq!(scene.gateway(SOURCE).session_count(), 1);
    let up = scene.said(TERMINAL).iter().filter(|event| matches!(event, Event::Established(_))).count();
    assert_eq!(up, 2);
    assert!(scene.said(TERMINAL).iter().all(|event| !matches!(event, Event::Ended(_))));
    let address = address(TERMINAL, 0).ip();
    scene.hand_over();
    scene.pass(Duration::from_secs(2));
    assert!(
        scene
            .said(SOURCE)
            .iter()
            .any(|event| matches!(event, Event::HandedOver { terminal, .. } if *terminal == address))
    );
}

/// What was given to a terminal is free again when its session is over: one gateway has throughput for one, and takes it again and again.
#[test]
fn what_a_terminal_had_is_free_again() {
    let mut scene = talking(INTERVAL);
    for _ in 0..3 {
        assert_eq!(scene.gateway(SOURCE).free_throughput(), 0);
        scene.disassociate(TERMINAL);
        scene.pass(Duration::from_secs(1));
        assert!(scene.gateway(SOURCE).free_throughput() > 0);
        scene.talk();
    }
}

/// A handover that is under way ends, too, and whoever has ordered it hears of that.
#[test]
fn an_association_that_ends_in_mid_handover_takes_its_handover_with_it() {
    for after in 0..30 {
        let mut scene = talking(INTERVAL);
        scene.hand_over();
        scene.pass(Duration::from_millis(after * 10));
        scene.disassociate(TERMINAL);
        scene.pass(Duration::from_secs(200));
        let ends = scene.said(SOURCE).into_iter().filter(|event| {
            matches!(event, Event::HandedOver { .. } | Event::Stays { .. } | Event::Astray { .. })
        });
        assert_eq!(ends.count(), 1, "{after}");
        assert_eq!([SOURCE, TARGET].map(|host| scene.gateway(host).session_count()), [0, 0], "{after}");
        assert_eq!(scene.gateway(TARGET).expected().count(), 0, "{after}");
        assert!(scene.is_quiet(), "{after}");
    }
}

/// A gateway that falls silent between messages 5A and 7A is noticed as soon as any other.
#[test]
fn a_gateway_that_is_gone_in_mid_handover_is_noticed() {
    let mut scene = talking(INTERVAL);
    scene.hand_over();
    while !scene.exchange(whimbrel_machine::Instant::ZERO).contains(&(
        TERMINAL,
        SOURCE,
        "200 INVITE".to_owned(),
    )) {
        scene.pass(Duration::from_millis(1));
    }
    scene.crash(SOURCE);
    scene.pass(INTERVAL * 2);
    assert!(scene.said(TERMINAL).contains(&&Event::GatewaySilent));
}

/// A host that has been sent away and has not got there decides by itself, whatever the gateway that it has left says later.
#[test]
fn an_answer_that_comes_after_the_host_has_left_counts_for_nothing() {
    let mut scene = talking(INTERVAL);
    let message = (SOURCE, TERMINAL, "200 OPTIONS");
    scene.victim = Some(Victim { message, mishap: Mishap::Lost, seen: 0 });
    scene.pass(INTERVAL * 2);
    assert!(scene.said(TERMINAL).contains(&&Event::GatewaySilent));
    scene.stranded = true;
    scene.hand_over();
    scene.pass(Duration::from_secs(1));
    scene.command(TERMINAL, crate::Command::CannotMove);
    let lost = |event: &&Event| matches!(event, Event::Lost(..));
    assert_eq!(scene.said(TERMINAL).into_iter().filter(lost).count(), 1);
    scene.victim = None;
    scene.come_back();
    let before = scene.log.len();
    scene.pass(INTERVAL * 10);
    let answered = scene.log[before..]
        .iter()
        .any(|(_, from, to, message)| (*from, *to, message.status()) == (SOURCE, TERMINAL, 200));
    assert!(answered && !scene.said(TERMINAL).contains(&&Event::GatewayBack));
}
