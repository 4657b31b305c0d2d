//! Whatever is lost, doubled or late, and whoever crashes: every machine ends in a state that is described.

use core::net::IpAddr;
use core::time::Duration;

use crate::testing::{CORRESPONDENT, Faults, SOURCE, Scene, TARGET, TERMINAL, address};
use crate::{Event, Failure};

/// Longer than any timer of SIP and any patience of a gateway, one after the other.
const LONG: Duration = Duration::from_secs(200);

/// How a handover has ended, as the source tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    HandedOver,
    Stays,
    Astray,
}

fn end(scene: &Scene) -> Option<End> {
    let ends = scene.said(SOURCE).into_iter().filter_map(|event| match event {
        Event::HandedOver { .. } => Some(End::HandedOver),
        Event::Stays { .. } => Some(End::Stays),
        Event::Astray { .. } => Some(End::Astray),
        _ => None,
    });
    let ends: Vec<End> = ends.collect();
    assert!(ends.len() <= 1, "{ends:?}");
    ends.first().copied()
}

fn says(scene: &Scene, host: usize, what: impl Fn(&Event) -> bool) -> usize {
    scene.said(host).into_iter().filter(|event| what(event)).count()
}

#[test]
fn with_losses_copies_and_delays_every_handover_has_one_end() {
    let mut ends = [0; 3];
    for seed in 0..300 {
        let mut scene = Scene::talking(seed);
        scene.faults = Faults {
            loss: [0.0, 0.1, 0.3, 0.6, 0.9][seed as usize % 5],
            duplicate: 0.3,
            jitter: Duration::from_millis(200),
        };
        scene.hand_over();
        scene.pass(LONG);
        let end = end(&scene).unwrap_or_else(|| panic!("seed {seed}: the source never ends"));
        ends[end as usize] += 1;
        // SCTP is told once, of one move, and perhaps of one back.
        let at_correspondent = scene.orders(CORRESPONDENT).len();
        let at_terminal = says(&scene, TERMINAL, |event| matches!(event, Event::Move(..)));
        assert!(at_terminal <= 1, "seed {seed}: the terminal moves {at_terminal} times");
        match end {
            End::HandedOver => assert_eq!(at_correspondent.max(1), 1, "seed {seed}"),
            End::Stays => assert!([0, 3].contains(&at_correspondent), "seed {seed}: {at_correspondent}"),
            End::Astray => assert!(at_correspondent <= 3, "seed {seed}"),
        }
        // Whoever has moved knows whether it has arrived.
        let known = says(&scene, TERMINAL, |event| matches!(event, Event::Arrived(_) | Event::Lost(..)));
        assert_eq!(known, at_terminal, "seed {seed}");
        assert!(scene.is_quiet(), "seed {seed}: somebody still waits");
        assert_eq!(scene.gateway(TARGET).held_bytes(), 0);
    }
    assert!(ends[..2].iter().all(|count| *count > 5), "not both ends have been seen: {ends:?}");
}

/// The correspondent has gone to the new address, the terminal does not answer, and then the correspondent does not, either.
#[test]
fn where_nobody_answers_any_more_the_session_ends() {
    let mut scene = Scene::talking(1);
    scene.hand_over();
    scene.crash(TERMINAL);
    while scene.orders(CORRESPONDENT).is_empty() {
        scene.pass(Duration::from_millis(1));
    }
    scene.crash(CORRESPONDENT);
    scene.pass(LONG);
    assert_eq!(end(&scene), Some(End::Astray));
    assert_eq!((scene.gateway(SOURCE).session_count(), scene.gateway(TARGET).session_count()), (0, 0));
    assert!(scene.is_quiet());
}

#[test]
fn handovers_with_moderate_losses_come_about() {
    let mut arrived = 0;
    for seed in 0..100 {
        let mut scene = Scene::talking(seed);
        scene.faults.loss = 0.1;
        scene.hand_over();
        scene.pass(LONG);
        arrived += says(&scene, TERMINAL, |event| matches!(event, Event::Arrived(_)));
    }
    assert!(arrived >= 97, "{arrived} of 100");
}

/// The same seed, the same bytes.
#[test]
fn runs_can_be_repeated() {
    let run = |seed| {
        let mut scene = Scene::talking(seed);
        scene.faults = Faults { loss: 0.3, duplicate: 0.3, jitter: Duration::from_millis(100) };
        scene.hand_over();
        scene.pass(LONG);
        scene
            .log
            .iter()
            .map(|(at, from, to, message)| (*at, *from, *to, message.to_bytes()))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

/// At any moment of a handover.
#[test]
fn whoever_crashes_the_others_come_to_an_end() {
    for host in [TERMINAL, SOURCE, TARGET, CORRESPONDENT] {
        for after in (0..40).map(|step| Duration::from_millis(10 * step + 5)) {
            let mut scene = Scene::talking(1);
            scene.hand_over();
            scene.pass(after);
            scene.crash(host);
            scene.pass(LONG);
            assert!(scene.is_quiet(), "{host} crashes after {after:?}: somebody still waits");
            if host != SOURCE {
                assert!(end(&scene).is_some(), "{host} crashes after {after:?}: the source never ends");
            }
            if host != TARGET {
                assert_eq!(scene.gateway(TARGET).held_bytes(), 0);
            }
            let moved = says(&scene, TERMINAL, |event| matches!(event, Event::Move(..)));
            let known = says(&scene, TERMINAL, |event| matches!(event, Event::Arrived(_) | Event::Lost(..)));
            assert!(host == TERMINAL || moved == known, "{host} crashes after {after:?}");
        }
    }
}

#[test]
fn a_terminal_that_does_not_answer_stays_and_the_correspondent_is_told() {
    let mut scene = Scene::talking(1);
    scene.hand_over();
    scene.crash(TERMINAL);
    scene.pass(LONG);
    let (new, old) = (address(TARGET, 2).ip(), address(TERMINAL, 0).ip());
    let orders = scene.orders(CORRESPONDENT);
    assert_eq!(orders.len(), 3, "{orders:?}");
    let vouched = |address: IpAddr| format!("AddVouchedPeer {{ address: {address}:0");
    let expected = [vouched(new), format!("DeletePeer({new})"), vouched(old)];
    for (order, expected) in orders.iter().zip(expected) {
        assert!(order.contains(&expected), "{orders:?}");
    }
    let stays = Event::Stays { terminal: old, failure: Failure::NoAnswer };
    assert!(scene.said(SOURCE).contains(&&stays));
}

/// What was refused once can be asked again: numbers of dialogs go on.
#[test]
fn after_a_failure_another_handover_comes_about() {
    let mut scene = Scene::talking(1);
    scene.faults.loss = 1.0;
    scene.hand_over();
    scene.pass(LONG);
    assert_eq!(end(&scene), Some(End::Stays));
    scene.faults.loss = 0.0;
    scene.hand_over();
    scene.pass(LONG);
    assert!(says(&scene, TERMINAL, |event| matches!(event, Event::Arrived(_))) == 1);
}
