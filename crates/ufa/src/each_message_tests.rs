//! Each message of a handover, lost, doubled and late; a gateway that is started anew at each of them. All end in a state that is described, with nothing kept for
//! anybody who is not there.

use core::net::IpAddr;
use core::time::Duration;

use crate::Event;
use crate::gateway::supervised::{supervised, talking};
use crate::testing::{CORRESPONDENT, Data, Mishap, SOURCE, Scene, TARGET, TERMINAL, Victim, address};

const SUPERVISION: Duration = Duration::from_secs(10);
/// All is settled then: longer than all that a gateway, SIP and a terminal wait, one after the other.
const SETTLED: Duration = Duration::from_secs(300);

/// The messages as paper d10 numbers them, with what is between them here: the way to the correspondent is measured before message 4, and message 8 has an
/// answer, an ACK, and an UPDATE that tells the correspondent of the target.
const MESSAGES: [(&str, (usize, usize, &str)); 17] = [
    ("1", (SOURCE, TARGET, "RESOURCE_QUERY")),
    ("2", (TARGET, SOURCE, "200 RESOURCE_QUERY")),
    ("3", (SOURCE, TARGET, "CONTEXT_TRANSFER")),
    ("question", (TARGET, CORRESPONDENT, "OPTIONS")),
    ("its answer", (CORRESPONDENT, TARGET, "200 OPTIONS")),
    ("4", (TARGET, SOURCE, "200 CONTEXT_TRANSFER")),
    ("5", (SOURCE, CORRESPONDENT, "INVITE")),
    ("6", (CORRESPONDENT, SOURCE, "200 INVITE")),
    ("7", (SOURCE, CORRESPONDENT, "ACK")),
    ("5A", (SOURCE, TERMINAL, "INVITE")),
    ("6A", (TERMINAL, SOURCE, "200 INVITE")),
    ("7A", (SOURCE, TERMINAL, "ACK")),
    ("8", (TERMINAL, TARGET, "INVITE")),
    ("answer to 8", (TARGET, TERMINAL, "200 INVITE")),
    ("ACK of 8", (TERMINAL, TARGET, "ACK")),
    ("UPDATE", (TARGET, CORRESPONDENT, "UPDATE")),
    ("answer to UPDATE", (CORRESPONDENT, TARGET, "200 UPDATE")),
];

/// Who says how it has ended: the source, and the terminal.
fn ends(scene: &Scene) -> (Vec<&'static str>, Vec<&'static str>) {
    let of_source = scene.said(SOURCE).into_iter().filter_map(|event| match event {
        Event::HandedOver { .. } => Some("handed over"),
        Event::Stays { .. } => Some("stays"),
        Event::Astray { .. } => Some("astray"),
        _ => None,
    });
    let of_terminal = scene.said(TERMINAL).into_iter().filter_map(|event| match event {
        Event::Arrived(_) => Some("arrived"),
        Event::Lost(..) => Some("lost"),
        _ => None,
    });
    (of_source.collect(), of_terminal.collect())
}

/// Nothing waits, nobody is expected, and what gateways have given away is what those have who are there and have a session.
fn nothing_is_left_over(scene: &Scene, label: &str) {
    let here = scene.terminal_address().ip();
    let mut sessions = 0;
    for host in [SOURCE, TARGET] {
        let gateway = scene.gateway(host);
        assert_eq!((gateway.held_bytes(), gateway.expected().count()), (0, 0), "{label}: {host}");
        let of: Vec<_> = gateway.sessions().map(|session| (session.terminal, session.state)).collect();
        assert!(
            of.is_empty() || of == [(here, "here")],
            "{label}: {host} has {of:?}, the terminal is at {here}"
        );
        sessions += of.len();
        let given = gateway.given();
        let all = of.iter().map(|(address, _)| *address).collect::<Vec<_>>();
        assert_eq!(given, all, "{label}: {host}");
        let free = if of.is_empty() { 1_000_000 } else { 0 };
        assert_eq!(gateway.free_throughput(), free, "{label}: {host}");
    }
    assert!(sessions <= 1, "{label}: {sessions} sessions");
    assert_eq!(decides(scene), sessions == 0, "{label}: a terminal has a session, or decides by itself");
}

/// Whether the terminal decides by itself.
fn decides(scene: &Scene) -> bool {
    let last = scene.said(TERMINAL).into_iter().rev().find_map(|event| match event {
        Event::Established(_) | Event::Arrived(_) | Event::GatewayBack => Some(false),
        Event::Lost(..) | Event::Refused(..) | Event::Ended(_) | Event::GatewaySilent => Some(true),
        _ => None,
    });
    last.expect("it has had a session")
}

/// Hands over, has data come, and lets all settle.
fn play(scene: &mut Scene) -> Data {
    let mut data = Data::default();
    scene.hand_over();
    let begin = scene.now;
    while scene.now < begin + SETTLED {
        let step = if scene.now < begin + Duration::from_secs(3) { 20 } else { 500 };
        scene.pass(Duration::from_millis(step));
        data.collect(scene);
        if scene.now < begin + Duration::from_secs(60) {
            data.send(scene);
        }
    }
    assert!(data.out.is_sorted_by(|a, b| a < b), "out of order: {:?}", data.out);
    data
}

/// What the source and the terminal say of a handover one of whose messages never comes, or so late that nobody waits for it any more.
fn end_without(message: &str) -> [&'static [&'static str]; 2] {
    match message {
        "1" | "2" | "3" | "question" | "its answer" | "4" | "5" | "6" | "5A" | "6A" => [&["stays"], &[]],
        // The source cannot know. The terminal stays, and gets a session there anew when it asks next.
        "7A" => [&["handed over"], &[]],
        "8" | "answer to 8" => [&["handed over"], &["lost"]],
        _ => [&["handed over"], &["arrived"]],
    }
}

#[test]
fn each_message_may_be_lost_doubled_or_late() {
    for (name, message) in MESSAGES {
        for mishap in Mishap::ALL {
            let label = format!("{name}, {mishap:?}");
            let mut scene = talking(SUPERVISION);
            scene.victim = Some(Victim { message, mishap, seen: 0 });
            let data = play(&mut scene);
            assert!(scene.victim.is_some_and(|victim| victim.seen > 0), "{label}: there is no such message");
            nothing_is_left_over(&scene, &label);
            let (source, terminal) = ends(&scene);
            let expected = match mishap {
                Mishap::Lost | Mishap::Late => end_without(name),
                _ => [&["handed over"][..], &["arrived"]],
            };
            assert_eq!([source.as_slice(), &terminal], expected, "{label}");
            // A correspondent sends to where its peer is, but where nobody could tell it.
            if name != "7A" || expected[1] == ["arrived"] {
                assert_eq!(sends_to(&scene), scene.terminal_address().ip(), "{label}");
            }
            if terminal == ["arrived"] {
                let overflowed = scene.gateway(TARGET).overflowed();
                assert_eq!(u64::from(data.sent) - data.out.len() as u64, overflowed, "{label}: lost");
            }
        }
    }
}

/// Where message 7 has sent the correspondent last.
fn sends_to(scene: &Scene) -> IpAddr {
    let told = scene.orders(CORRESPONDENT).into_iter().rev().find_map(|order| {
        let (_, rest) = order.split_once("AddVouchedPeer { address: ")?;
        rest.split_once(':')?.0.parse().ok()
    });
    told.unwrap_or(address(TERMINAL, 0).ip())
}

/// A gateway that is started anew when a message has just left: it has forgotten what it was about.
#[test]
fn a_gateway_may_be_started_anew_at_each_message() {
    for (name, message) in MESSAGES {
        for host in [SOURCE, TARGET] {
            for later in [0, 5, 25] {
                let label = format!("{name}, {host}, {later} ms later");
                let mut scene = talking(SUPERVISION);
                scene.victim = Some(Victim { message, mishap: Mishap::None, seen: 0 });
                scene.hand_over();
                while scene.victim.is_some_and(|victim| victim.seen == 0) {
                    scene.pass(Duration::from_millis(1));
                }
                scene.pass(Duration::from_millis(later));
                scene.replace_gateway(host, supervised(SUPERVISION));
                scene.pass(SETTLED);
                nothing_is_left_over(&scene, &label);
                let (source, terminal) = ends(&scene);
                // Who was there when it forgot is known to it again.
                assert!(terminal != ["arrived"] || !decides(&scene), "{label}");
                assert!(source.len() == 1 || host == SOURCE && source.is_empty(), "{label}: {source:?}");
            }
        }
    }
}
