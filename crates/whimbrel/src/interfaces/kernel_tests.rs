use rtnetlink::packet_route::link::LinkHeader;
use rtnetlink::packet_route::route::RouteHeader;

use super::*;

fn link(index: u32, name: &str, flags: LinkFlags, state: State) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header = LinkHeader { index, flags, ..LinkHeader::default() };
    message.attributes = vec![LinkAttribute::IfName(name.into()), LinkAttribute::OperState(state)];
    message
}

fn address(index: u32, ip: &str, flags: AddressFlags) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.index = index;
    message.attributes = vec![AddressAttribute::Address(ip.parse().unwrap()), AddressAttribute::Flags(flags)];
    message
}

fn route(oif: u32, prefix: u8, protocol: RouteProtocol, metric: u32) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: AddressFamily::Inet,
        destination_prefix_length: prefix,
        protocol,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    message.attributes = vec![RouteAttribute::Oif(oif), RouteAttribute::Priority(metric)];
    message
}

fn up() -> LinkFlags {
    LinkFlags::Up | LinkFlags::LowerUp | LinkFlags::Broadcast
}

fn all(links: &[LinkMessage], addresses: &[AddressMessage], routes: &[RouteMessage]) -> Interfaces {
    assemble(links, addresses, routes, |name| name.strip_suffix('0').map(str::to_owned))
}

#[test]
fn carrier_and_switch_decide_whether_a_link_is_up() {
    for (flags, state, expected) in [
        (up(), State::Up, true),
        // Carrier lost: the addresses stay.
        (LinkFlags::Up, State::LowerLayerDown, false),
        // The operational state has not followed the carrier yet.
        (LinkFlags::Up, State::Up, false),
        (up(), State::Down, true),
        (up(), State::LowerLayerDown, true),
        // Somebody has to be authenticated first.
        (up(), State::Dormant, false),
        (LinkFlags::LowerUp, State::Up, false),
        // Drivers without operational states.
        (up(), State::Unknown, true),
        (LinkFlags::Up, State::Unknown, false),
    ] {
        let interfaces = all(&[link(2, "eth0", flags, state)], &[], &[]);
        assert_eq!(interfaces.0["eth0"].up, Some(expected), "{flags:?} {state:?}");
    }
}

/// A wireless LAN has its carrier when it is associated, and is dormant until the keys are there.
#[test]
fn a_carrier_is_not_enough_where_somebody_has_to_be_authenticated() {
    for (state, expected) in [(State::Down, false), (State::Dormant, false), (State::Up, true)] {
        let mut message = link(3, "wlan0", up(), state);
        message.attributes.push(LinkAttribute::Mode(LinkMode::Dormant));
        assert_eq!(all(&[message], &[], &[]).0["wlan0"].up, Some(expected), "{state:?}");
    }
}

#[test]
fn kinds_are_told_apart() {
    for (name, flags, kind) in [
        ("wlan0", up(), Some(InterfaceKind::WirelessLan)),
        ("wwan0", up(), Some(InterfaceKind::Cellular)),
        ("eth0", up(), Some(InterfaceKind::Wired)),
        ("lo", LinkFlags::Loopback, Some(InterfaceKind::Loopback)),
        ("tun0", LinkFlags::Pointopoint, Some(InterfaceKind::Tunnel)),
        ("can0", LinkFlags::Up, None),
    ] {
        assert_eq!(all(&[link(1, name, flags, State::Up)], &[], &[]).0[name].properties.kind, kind, "{name}");
    }
}

/// RFC 4862 §5.4: an address is not used before its uniqueness is known.
#[test]
fn addresses_count_when_duplicate_address_detection_is_done() {
    let links = [link(2, "eth0", up(), State::Up)];
    for (flags, usable) in [
        (AddressFlags::Permanent, true),
        (AddressFlags::Tentative, false),
        (AddressFlags::Tentative | AddressFlags::Optimistic, true),
        (AddressFlags::Dadfailed, false),
        (AddressFlags::Tentative | AddressFlags::Dadfailed | AddressFlags::Optimistic, false),
    ] {
        let interfaces = all(&links, &[address(2, "2001:db8::1", flags)], &[]);
        assert_eq!(interfaces.0["eth0"].addresses.len(), usize::from(usable), "{flags:?}");
    }
}

#[test]
fn our_end_of_a_point_to_point_link_is_ours() {
    let mut message = address(2, "10.64.0.1", AddressFlags::Permanent);
    message.attributes.push(AddressAttribute::Local("10.64.0.2".parse().unwrap()));
    let interfaces = all(&[link(2, "wwan0", up(), State::Unknown)], &[message], &[]);
    let ip = "10.64.0.2".parse().unwrap();
    assert_eq!(interfaces.0["wwan0"].addresses, [InterfaceAddress { ip, asked_for: false }]);
}

#[test]
fn the_best_route_that_is_not_the_kernels_own_is_the_way_out() {
    let links = [link(2, "eth0", up(), State::Up), link(3, "wlan0", up(), State::Up)];
    let routes = [
        route(2, 24, RouteProtocol::Kernel, 0),
        route(3, 24, RouteProtocol::Kernel, 0),
        route(3, 16, RouteProtocol::Static, 1),
        route(3, 0, RouteProtocol::Boot, 600),
        route(99, 0, RouteProtocol::Boot, 1),
    ];
    let interfaces = all(&links, &[], &routes);
    assert_eq!(interfaces.0["eth0"].way_out_v4, None);
    assert_eq!(interfaces.0["wlan0"].way_out_v4, Some(RouteRank { specific: false, metric: 600 }));
    assert_eq!(interfaces.0["wlan0"].way_out_v6, None);
}

#[test]
fn names_do_not_lead_out_of_the_directory() {
    assert_eq!(device_type("../../../etc"), None);
    assert_eq!(device_type(".."), None);
}

/// The real kernel, as far as any machine goes.
#[tokio::test]
async fn the_kernel_tells_of_loopback() {
    let board = crate::interfaces::Board::new(|| {});
    let _running = board.start(vec![Box::new(Kernel)]);
    tokio::time::timeout(Duration::from_secs(30), board.all_have_spoken()).await.expect("the kernel answers");
    let interfaces = board.read();
    let lo = &interfaces.0["lo"];
    assert_eq!((lo.properties.kind, lo.index), (Some(InterfaceKind::Loopback), NonZeroU32::new(1)));
}
