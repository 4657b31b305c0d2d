use core::time::Duration;

use super::*;
use crate::error::BindError;
use crate::socket::Member;

/// The loopback device.
const LO: Option<NonZeroU32> = NonZeroU32::new(1);

#[tokio::test]
async fn a_second_socket_on_the_device_leaves_the_port_to_nobody_else() {
    let socket = Socket::open_udp("127.0.0.41:0".parse().unwrap(), Member::ALONE).unwrap();
    let mut local = LocalAddress::new(socket);
    local.set_device(LO);
    assert!(local.device.is_some(), "any process may bind a socket to a device since Linux 5.7");
    let address = local.local();
    assert!(matches!(Socket::open_udp(address, Member::ALONE), Err(BindError::PortInUse { .. })));
    local.set_device(None);
    assert!(local.device.is_none());
    assert!(matches!(Socket::open_udp(address, Member::ALONE), Err(BindError::PortInUse { .. })));
    drop(local);
    Socket::open_udp(address, Member::ALONE).unwrap();
}

#[tokio::test]
async fn what_arrives_by_the_device_reaches_the_socket_on_the_device() {
    let mut local =
        LocalAddress::new(Socket::open_udp("127.0.0.42:0".parse().unwrap(), Member::ALONE).unwrap());
    local.set_device(LO);
    let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    peer.send_to(b"hello", local.local()).unwrap();
    let device = local.device.as_mut().unwrap();
    let mut buffers = ReceiveBuffers::new();
    let received = core::future::poll_fn(|cx| {
        device.socket.receive(cx, &mut buffers);
        if buffers.is_empty() { core::task::Poll::Pending } else { core::task::Poll::Ready(buffers.len()) }
    });
    let count = tokio::time::timeout(Duration::from_secs(10), received).await.expect("it arrives");
    assert_eq!(count, 1);
}

#[tokio::test]
async fn peers_that_came_another_way_are_remembered_within_bounds() {
    let mut local =
        LocalAddress::new(Socket::open_udp("127.0.0.43:0".parse().unwrap(), Member::ALONE).unwrap());
    local.set_device(LO);
    let device = local.device.as_mut().unwrap();
    let ip = |n: u32| IpAddr::from((n + (10 << 24)).to_be_bytes());
    let own = BTreeSet::from([ip(5)]);
    device.came_elsewhere((0..10_000).map(ip), &own);
    assert_eq!(device.elsewhere.len(), ELSEWHERE_MAX);
    assert!(device.elsewhere.contains(&ip(9_999)));
    device.came_back([ip(9_999)].into_iter());
    assert!(!device.elsewhere.contains(&ip(9_999)));
    device.came_elsewhere([ip(5)].into_iter(), &own);
    assert!(!device.elsewhere.contains(&ip(5)), "our own addresses are known anyway");
}

#[tokio::test]
async fn an_address_has_another_port_and_keeps_its_name() {
    let mut local =
        LocalAddress::new(Socket::open_udp("127.0.0.44:0".parse().unwrap(), Member::ALONE).unwrap());
    local.set_device(LO);
    let name = local.local();
    for _ in 0..10 {
        assert!(local.renew_port());
        assert_eq!(local.local(), name);
        assert!(local.first.len() + local.former.len() <= 4);
    }
    let port = |socket: &Socket| socket.bound().unwrap().port();
    assert_ne!(port(&local.socket), name.port());
    assert_eq!(port(&local.device.as_ref().unwrap().socket), port(&local.socket));
    let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for port in [name.port(), port(&local.socket)] {
        peer.send_to(b"hello", (name.ip(), port)).unwrap();
        let mut buffers = ReceiveBuffers::new();
        let mut errors = Vec::new();
        let received = core::future::poll_fn(|cx| {
            local.exchange(cx, &mut buffers, &mut errors);
            if buffers.is_empty() { core::task::Poll::Pending } else { core::task::Poll::Ready(()) }
        });
        tokio::time::timeout(Duration::from_secs(10), received).await.expect("it arrives");
        let named =
            |input| matches!(input, whimbrel_machine::Input::Datagrams { route, .. } if route.local == name);
        assert!(buffers.inputs::<whimbrel_proto::Command>().all(named));
    }
}

/// As many strangers as are remembered, before the peer.
#[tokio::test]
async fn strangers_on_the_first_port_leave_room_for_the_peer() {
    let mut local =
        LocalAddress::new(Socket::open_udp("127.0.0.45:0".parse().unwrap(), Member::ALONE).unwrap());
    assert!(local.renew_port());
    let strangers: Vec<_> = (1..=HEARD_MAX).map(|n| format!("127.0.1.{n}")).collect();
    for senders in [strangers, vec!["127.0.2.1".to_owned()]] {
        for sender in &senders {
            let socket = std::net::UdpSocket::bind((sender.as_str(), 0)).unwrap();
            socket.send_to(b"hello", local.local()).unwrap();
        }
        let mut buffers = ReceiveBuffers::new();
        let all = core::future::poll_fn(|cx| {
            local.exchange(cx, &mut buffers, &mut Vec::new());
            buffers.clear();
            let heard = local.heard.len() == senders.len();
            if heard { core::task::Poll::Ready(()) } else { core::task::Poll::Pending }
        });
        tokio::time::timeout(Duration::from_secs(10), all).await.expect("they are heard");
        let heard: Vec<_> = local.take_heard_on_first_port().iter().map(IpAddr::to_string).collect();
        assert_eq!(heard, senders);
        assert!(!local.is_heard_on_first_port());
    }
}
