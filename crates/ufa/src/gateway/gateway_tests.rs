use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Route;

use crate::sip::{AppliConfig, BDP, TerminalSettings, number};
use crate::testing::{CORRESPONDENT, SOURCE, Scene, TARGET, TERMINAL, address, gateway_config};
use crate::{Event, Failure, Order};

const SECOND: Duration = Duration::from_secs(1);

fn handed_over() -> (Scene, whimbrel_machine::Instant) {
    let mut scene = Scene::talking(1);
    let since = scene.now;
    scene.hand_over();
    scene.pass(SECOND);
    (scene, since)
}

/// Figure 2 of the paper, with the measurement that formula 2 needs between messages 3 and 4.
#[test]
fn the_eight_messages_go_in_the_papers_order() {
    let (scene, since) = handed_over();
    let exchange = scene.exchange(since);
    let expected = [
        (SOURCE, TARGET, "RESOURCE_QUERY"),
        (TARGET, SOURCE, "200 RESOURCE_QUERY"),
        (SOURCE, TARGET, "CONTEXT_TRANSFER"),
        (TARGET, CORRESPONDENT, "OPTIONS"),
        (CORRESPONDENT, TARGET, "200 OPTIONS"),
        (TARGET, SOURCE, "200 CONTEXT_TRANSFER"),
        (SOURCE, CORRESPONDENT, "INVITE"),
        (CORRESPONDENT, SOURCE, "200 INVITE"),
        (SOURCE, CORRESPONDENT, "ACK"),
        (SOURCE, TERMINAL, "INVITE"),
        (TERMINAL, SOURCE, "200 INVITE"),
        (SOURCE, TERMINAL, "ACK"),
        (TERMINAL, TARGET, "INVITE"),
        (TARGET, TERMINAL, "200 INVITE"),
        (TERMINAL, TARGET, "ACK"),
    ];
    let expected = expected.map(|(from, to, what)| (from, to, what.to_owned()));
    assert_eq!(exchange, expected);
    assert!(scene.said(TERMINAL).contains(&&Event::Arrived(address(TARGET, 2).ip())));
}

#[test]
fn both_ends_can_be_told_at_once() {
    let at_once = |_, config| crate::GatewayConfig { order: Order::AtOnce, ..config };
    let mut scene = Scene::with(1, at_once);
    scene.talk();
    let since = scene.now;
    scene.hand_over();
    scene.pass(SECOND);
    let invites: Vec<_> = scene.exchange(since).into_iter().filter(|(.., what)| what == "INVITE").collect();
    let expected = [(SOURCE, CORRESPONDENT), (SOURCE, TERMINAL), (TERMINAL, TARGET)];
    assert_eq!(invites, expected.map(|(from, to)| (from, to, "INVITE".to_owned())));
    let at = |to| {
        scene.log.iter().rfind(|(_, from, of, message)| {
            *from == SOURCE && *of == to && message.method().to_string() == "INVITE"
        })
    };
    assert_eq!(at(CORRESPONDENT).unwrap().0, at(TERMINAL).unwrap().0);
}

#[test]
fn messages_5_and_5a_carry_what_tables_1_and_2_say() {
    let (scene, since) = handed_over();
    let invites: Vec<_> = scene
        .log
        .iter()
        .filter(|(at, _, _, message)| {
            *at >= since && message.method().to_string() == "INVITE" && message.is_request()
        })
        .collect();
    let appli = AppliConfig { add: address(TARGET, 2).ip(), delete: address(TERMINAL, 0).ip() };
    let [(.., five), (.., five_a), ..] = invites[..] else { panic!("{invites:?}") };
    assert_eq!(AppliConfig::of(five), Ok(appli));
    assert_eq!(AppliConfig::of(five_a), Ok(appli));
    assert!(TerminalSettings::of(five).is_err(), "the correspondent has no business with layer 2");
    let access = gateway_config(TARGET).access;
    let settings = TerminalSettings {
        mac: access.mac,
        essid: access.essid,
        channel: 11,
        gateway: address(TARGET, 1).ip(),
        netmask: access.netmask,
        address: appli.add,
        key: None,
    };
    assert_eq!(TerminalSettings::of(five_a), Ok(settings));
    // 20 ms to the correspondent, 4 ms and 12 ms on the air, at 1 Mbit/s.
    assert_eq!(number(five, BDP), Ok(4500));
    assert!(number(five_a, BDP).is_err());
}

#[test]
fn sctp_is_told_at_message_7_and_at_message_7a() {
    let (scene, _) = handed_over();
    let new = SocketAddr::new(address(TARGET, 2).ip(), 0);
    let orders = scene.orders(CORRESPONDENT);
    // As many bytes as message 5 has named (above) may go there before it has answered.
    let change = format!("AddVouchedPeer {{ address: {new}, bytes: 4500 }}");
    assert_eq!(orders, [format!("AgreeAddresses {{ association: AssociationId(7), changes: [{change}] }}")]);
    let old = address(TERMINAL, 0).ip();
    let agree =
        |change: String| format!("AgreeAddresses {{ association: AssociationId(7), changes: [{change}] }}");
    let expected = [agree(format!("AddOwn({new})")), agree(format!("DeleteOwn({old})"))];
    assert_eq!(scene.orders(TERMINAL), expected);
}

#[test]
fn data_waits_at_the_target_until_message_8_and_leaves_in_order() {
    let mut scene = Scene::talking(1);
    let seven = scene.now;
    scene.hand_over();
    while !scene.said(TERMINAL).iter().any(|event| matches!(event, Event::Move(..))) {
        scene.pass(Duration::from_millis(1));
    }
    assert!(scene.now > seven);
    let new = SocketAddr::new(address(TARGET, 2).ip(), 0);
    let cn = SocketAddr::new(address(CORRESPONDENT, 0).ip(), 0);
    let route = Route { local: new, remote: cn };
    for n in 0..3_u8 {
        assert_eq!(scene.deliver(TARGET, route, &[n; 1000]), []);
    }
    // One more packet than the bandwidth-delay product of 4500 bytes: four of 1020.
    for n in 3..5_u8 {
        assert_eq!(scene.deliver(TARGET, route, &[n; 1000]), []);
    }
    assert_eq!((scene.gateway(TARGET).held_bytes(), scene.gateway(TARGET).overflowed()), (4080, 1));
    scene.released.clear();
    scene.pass(SECOND);
    let released: Vec<u8> = scene.released.iter().map(|(_, bytes)| bytes[0]).collect();
    assert_eq!(released, [0, 1, 2, 3]);
    assert!(scene.released.iter().all(|(onwards, _)| *onwards == route.reversed()));
    assert_eq!(scene.gateway(TARGET).held_bytes(), 0);
    // From now on packets pass.
    assert_eq!(scene.deliver(TARGET, route, &[9; 1000]).len(), 1);
}

#[test]
fn a_terminal_that_does_not_come_is_waited_for_so_long() {
    let mut scene = Scene::talking(1);
    scene.stranded = true;
    scene.hand_over();
    scene.pass(SECOND);
    let route = Route {
        local: SocketAddr::new(address(TARGET, 2).ip(), 0),
        remote: SocketAddr::new(address(CORRESPONDENT, 0).ip(), 0),
    };
    scene.deliver(TARGET, route, &[1; 1000]);
    assert_eq!(scene.gateway(TARGET).held_bytes(), 1020);
    scene.pass(Duration::from_secs(50));
    let lost = Event::Lost(address(TARGET, 2).ip(), Failure::NotCome);
    assert!(scene.said(TARGET).contains(&&lost));
    assert_eq!((scene.gateway(TARGET).held_bytes(), scene.gateway(TARGET).session_count()), (0, 0));
}

#[test]
fn without_room_for_one_bandwidth_delay_product_a_target_refuses() {
    let small = |host, mut config: crate::GatewayConfig| {
        if host == TARGET {
            config.resources.buffer = 4499;
        }
        config
    };
    let mut scene = Scene::with(1, small);
    scene.talk();
    scene.hand_over();
    scene.pass(SECOND);
    let stays = Event::Stays { terminal: address(TERMINAL, 0).ip(), failure: Failure::NoTarget };
    assert!(scene.said(SOURCE).contains(&&stays));
    assert_eq!(scene.orders(CORRESPONDENT), [""; 0]);
}

#[test]
fn an_address_that_somebody_uses_is_given_to_nobody() {
    let mut scene = Scene::talking(1);
    let squatter = SocketAddr::new(address(TARGET, 2).ip(), 0);
    let route = Route { local: SocketAddr::new(address(CORRESPONDENT, 0).ip(), 0), remote: squatter };
    scene.deliver(TARGET, route, &[1; 100]);
    scene.hand_over();
    scene.pass(SECOND);
    assert!(scene.said(TERMINAL).contains(&&Event::Arrived(address(TARGET, 3).ip())));
}

#[test]
fn who_is_not_here_is_not_handed_over() {
    let mut scene = Scene::new(1);
    scene.hand_over();
    let stays = Event::Stays { terminal: address(TERMINAL, 0).ip(), failure: Failure::NoSession };
    assert_eq!(scene.said(SOURCE), [&stays]);
}
