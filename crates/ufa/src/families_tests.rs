//! Hosts go from IPv4 to IPv4 and from IPv6 to IPv6: an association goes on where its peer's family is.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{Ecn, Input, Instant, Machine, Route, Seed};

use crate::sip::{CONTEXT_TRANSFER, Message};
use crate::testing::{CORRESPONDENT, SOURCE, Said, Scene, TARGET, TERMINAL, address, gateway_config};
use crate::{Access, Command, Event, Failure, Gateway, GatewayConfig};

const OTHER: &str = "[fd02::1]:5060";

fn stays(scene: &Scene) -> Vec<Failure> {
    let of = |event: &Event| match event {
        Event::Stays { failure, .. } => Some(*failure),
        _ => None,
    };
    scene.said(SOURCE).into_iter().filter_map(of).collect()
}

fn hand_over_to(scene: &mut Scene, candidates: Vec<SocketAddr>) {
    let terminal = address(TERMINAL, 0).ip();
    scene.command(SOURCE, Command::HandOver { terminal, candidates });
    scene.pass(Duration::from_secs(2));
}

#[test]
fn a_host_stays_where_all_other_gateways_have_the_other_family() {
    let mut scene = Scene::talking(1);
    hand_over_to(&mut scene, vec![OTHER.parse().unwrap()]);
    assert_eq!(stays(&scene), [Failure::OtherFamily]);
    assert!(Failure::OtherFamily.to_string().contains("from IPv4 to IPv4 and from IPv6 to IPv6"));
    assert_eq!(scene.gateway(SOURCE).sessions().next().unwrap().state, "here");
    // One of them may have the same.
    hand_over_to(&mut scene, vec![OTHER.parse().unwrap(), address(TARGET, 1)]);
    assert!(scene.said(TERMINAL).contains(&&Event::Arrived(address(TARGET, 2).ip())));
}

/// In both directions: an IPv4 host to a gateway that has IPv6, and the reverse.
#[test]
fn a_gateway_takes_nobody_of_the_other_family() {
    let mut scene = Scene::talking(1);
    scene.hand_over();
    scene.pass(Duration::from_secs(2));
    let of = |(_, from, to, message): &&(Instant, usize, usize, Message)| {
        (*from, *to, message.method().to_string().as_str(), message.is_request())
            == (SOURCE, TARGET, CONTEXT_TRANSFER, true)
    };
    let v4 = String::from_utf8(scene.log.iter().find(of).unwrap().3.to_bytes()).unwrap();
    let (head, body) = v4.split_once("\r\n\r\n").unwrap();
    let lines: Vec<&str> = body.lines().collect();
    // The application, the throughput, the terminal's address, and the dialogs with the terminal and with the correspondent.
    let in_v6 = |line: &str| {
        line.replace("10.1.0.2:", "[fd01::2]:")
            .replace("10.0.0.1:", "[fd00::1]:")
            .replace("10.1.0.2", "fd01::2")
    };
    let with = |changed: &[usize]| {
        let line = |(at, line): (usize, &&str)| match changed.contains(&at) {
            true => in_v6(line),
            false => (*line).to_owned(),
        };
        let body = lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\r\n") + "\r\n";
        let length = head.lines().find(|line| line.to_lowercase().starts_with("content-length")).unwrap();
        format!("{}\r\n\r\n{body}", head.replace(length, &format!("Content-Length: {}", body.len())))
    };
    let v6 = |config: GatewayConfig| GatewayConfig {
        address: OTHER.parse().unwrap(),
        access: Access {
            netmask: "ffff:ffff:ffff:ffff::".parse().unwrap(),
            addresses: vec!["fd02::2".parse().unwrap()],
            ..config.access
        },
        ..config
    };
    for (config, text, refused) in [
        (gateway_config(TARGET), with(&[]), false),
        (gateway_config(TARGET), with(&[2]), true),
        (gateway_config(TARGET), with(&[3]), true),
        (gateway_config(TARGET), with(&[4]), true),
        (v6(gateway_config(TARGET)), with(&[]), true),
        (v6(gateway_config(TARGET)), with(&[0, 2, 3, 4]), false),
    ] {
        let (local, remote) = (config.address, SocketAddr::new(config.address.ip(), 5060));
        let mut gateway = Gateway::new(config, &Seed::from_u64(1));
        let (mut said, bytes) = (Said::default(), text.as_bytes());
        let input = Input::Datagrams {
            route: Route { local, remote },
            ecn: Ecn::NotCapable,
            bytes,
            segment: bytes.len(),
        };
        gateway.step(Instant::ZERO, [input], &mut said);
        let statuses: Vec<u16> =
            said.sent.iter().map(|(_, bytes)| Message::parse(bytes).unwrap().status()).collect();
        // Who is taken has the way to its correspondent measured.
        assert_eq!(statuses, [if refused { 488 } else { 0 }], "{text}");
        assert_eq!((gateway.session_count(), gateway.given().len()), (usize::from(!refused), 0));
    }
}

/// A correspondent and a terminal agree to no such move, whether or not they have the other family themselves.
#[test]
fn no_end_agrees_to_a_move_to_the_other_family() {
    let mut other = Scene::talking(1);
    other.hand_over();
    other.pass(Duration::from_secs(2));
    for to in [CORRESPONDENT, TERMINAL] {
        let of = |(_, from, whom, message): &&(Instant, usize, usize, Message)| {
            (*from, *whom, message.method().to_string().as_str(), message.is_request())
                == (SOURCE, to, "INVITE", true)
        };
        let text = String::from_utf8(other.log.iter().rfind(of).unwrap().3.to_bytes()).unwrap();
        let new: IpAddr = address(TARGET, 2).ip();
        let mut scene = Scene::talking(1);
        let text = text.replace(&new.to_string(), "fd02::2");
        let before = scene.log.len();
        scene.deliver_sip(to, address(to, 0), address(SOURCE, 1), text.as_bytes());
        scene.pass(Duration::from_millis(1));
        assert_eq!(
            scene.log[before..].iter().map(|(.., message)| message.status()).collect::<Vec<_>>(),
            [488]
        );
        assert!(scene.orders(to).is_empty());
    }
}
