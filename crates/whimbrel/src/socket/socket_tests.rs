use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;

use tokio::time::timeout;
use whimbrel_machine::{Ecn, Fragmentation, Input, IpProtocol, Transmit};

use super::*;

const PATIENCE: Duration = Duration::from_secs(60);

/// Two sockets that can reach each other.
fn pair(address: &str) -> (Socket, Socket) {
    let open = || Socket::open_udp(address.parse().unwrap(), Member::ALONE).unwrap();
    (open(), open())
}

fn towards(from: &Socket, remote: SocketAddr, ecn: Ecn, segment: usize) -> Transmit {
    let fragmentation = Fragmentation::Forbidden;
    let protocol = IpProtocol::Sctp;
    Transmit { route: Route { local: from.local, remote }, ecn, fragmentation, protocol, segment }
}

/// What came in: ECN bits, sender and content of each datagram.
async fn receive(socket: &mut Socket, datagrams: usize) -> Vec<(Ecn, SocketAddr, Vec<u8>)> {
    let mut received = Vec::new();
    let mut buffers = ReceiveBuffers::new();
    let all = poll_fn(|cx| {
        buffers.clear();
        socket.receive(cx, &mut buffers);
        if buffers.is_full() {
            cx.waker().wake_by_ref();
        }
        for input in buffers.inputs::<()>() {
            let Input::Datagrams { route, ecn, bytes, segment } = input else { panic!("{input:?}") };
            assert_eq!(route.local, socket.local);
            received.extend(bytes.chunks(segment).map(|one| (ecn, route.remote, one.to_vec())));
        }
        if received.len() >= datagrams { Poll::Ready(()) } else { Poll::Pending }
    });
    timeout(PATIENCE, all).await.expect("datagrams arrive");
    received
}

/// quinn-udp 0.6.3 loses the ECN bits of coalesced trains unless time stamps are off.
#[tokio::test]
async fn a_train_keeps_its_ecn_bits() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::CongestionExperienced, Ecn::NotCapable] {
            let (mut from, mut to) = pair(address);
            let train: Vec<u8> = (0..10_500_u32).map(|i| i as u8).collect();
            from.send(&towards(&from, to.local, ecn, 1000), &train);
            let received = receive(&mut to, 11).await;
            let whole: Vec<u8> = received.iter().flat_map(|(_, _, bytes)| bytes.clone()).collect();
            assert_eq!(whole, train);
            assert!(
                received.iter().all(|(bits, sender, _)| *bits == ecn && *sender == from.local),
                "{ecn:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_train_too_long_for_one_call_is_split() {
    let (mut from, mut to) = pair("127.0.0.1:0");
    let train: Vec<u8> = (0..150_000_u32).map(|i| (i / 1000) as u8).collect();
    from.send(&towards(&from, to.local, Ecn::NotCapable, 1000), &train);
    let received = receive(&mut to, 150).await;
    assert_eq!(received.len(), 150);
    assert!(received.iter().enumerate().all(|(i, (_, _, bytes))| *bytes == vec![i as u8; 1000]));
}

/// Single packets of equal length to one peer leave together, in order, and nothing is held back.
#[tokio::test]
async fn single_packets_are_gathered_in_order() {
    let (mut from, mut to) = pair("127.0.0.1:0");
    let mut expected = Vec::new();
    for number in 0..200_u16 {
        // Lengths change now and then; a train cuts in.
        let length = if number % 50 < 45 { 100 } else { 60 + usize::from(number) };
        let packet = vec![number as u8; length];
        from.send(&towards(&from, to.local, Ecn::NotCapable, 1452), &packet);
        expected.push(packet);
        if number % 70 == 0 {
            from.send(&towards(&from, to.local, Ecn::NotCapable, 30), &[7; 90]);
            expected.extend([vec![7; 30], vec![7; 30], vec![7; 30]]);
        }
    }
    from.send_gathered();
    let received = receive(&mut to, expected.len()).await;
    assert_eq!(received.into_iter().map(|(_, _, bytes)| bytes).collect::<Vec<_>>(), expected);
}

/// RFC 6951 §5.5: ICMP port unreachable means that the host does not speak SCTP.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn port_unreachable_comes_with_the_packet_it_quotes() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (mut from, gone) = pair(address);
        let nobody = gone.local;
        drop(gone);
        from.send(&towards(&from, nobody, Ecn::NotCapable, 100), &[7; 100]);
        from.send_gathered();
        let noticed = poll_fn(|cx| if from.watch_errors(cx) { Poll::Ready(()) } else { Poll::Pending });
        timeout(PATIENCE, noticed).await.expect("an ICMP error wakes the task");
        let errors: Vec<_> = from.take_errors().collect();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].route, Route { local: from.local, remote: nobody });
        assert_eq!(errors[0].reason, Unreachable::Protocol);
        assert_eq!(errors[0].quoted, [7; 100]);
    }
}

/// An error about one peer must not swallow a packet to another.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_pending_error_costs_no_packet() {
    let (mut from, mut to) = pair("127.0.0.1:0");
    // An address of its own, or the next socket of another test could get the port.
    let nobody = pair("127.0.0.92:0").0.local;
    for number in 0..20 {
        from.send(&towards(&from, nobody, Ecn::NotCapable, 100), &[0; 100]);
        from.send(&towards(&from, to.local, Ecn::NotCapable, 100), &[number; 100]);
        from.send_gathered();
    }
    let received = receive(&mut to, 20).await;
    assert!(received.iter().enumerate().all(|(i, (_, _, bytes))| bytes[0] == i as u8));
}

/// Nobody has to read ICMP errors: what is kept of them is bounded.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn errors_are_bounded() {
    let (mut from, gone) = pair("127.0.0.1:0");
    let nobody = gone.local;
    drop(gone);
    for _ in 0..500 {
        from.send(&towards(&from, nobody, Ecn::NotCapable, 100), &[7; 100]);
        from.send_gathered();
    }
    assert!(from.take_errors().count() <= ERRORS_MAX);
}

/// The largest datagram the interface takes goes; a larger one is reported with the packet, and GSO stays in use.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_packet_too_big_for_the_interface_is_reported() {
    let (mut from, to) = pair("127.0.0.1:0");
    from.send(&towards(&from, to.local, Ecn::NotCapable, 65_530), &[7; 65_530]);
    from.send_gathered();
    let errors: Vec<_> = from.take_errors().collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(matches!(errors[0].reason, Unreachable::PacketTooBig { .. }));
    assert_eq!(errors[0].quoted[..8], [7; 8]);
    assert!(from.state.max_gso_segments() > 1);
}

/// What may be fragmented arrives whatever the interface's MTU (RFC 9260 §6.9), and only that. Loopback interfaces
/// carry anything up to 64 KiB; with a smaller MTU, as in a network namespace, this shows more.
#[tokio::test]
async fn datagrams_may_be_fragmented_one_by_one() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (mut from, mut to) = pair(address);
        let whole = towards(&from, to.local, Ecn::NotCapable, 3000);
        let fragments = Transmit { fragmentation: Fragmentation::Allowed, ..whole };
        from.send(&fragments, &[1; 3000]);
        from.send(&fragments, &[[2; 3000], [3; 3000]].concat());
        from.send(&Transmit { segment: 500, ..whole }, &[4; 500]);
        from.send_gathered();
        let first: Vec<u8> = receive(&mut to, 4).await.into_iter().map(|(_, _, bytes)| bytes[0]).collect();
        assert_eq!(first, [1, 2, 3, 4], "{address}");
        from.send(&whole, &[5; 3000]);
        from.send(&fragments, &[6; 3000]);
        let refused = from.take_errors().count();
        let rest = receive(&mut to, 2 - refused).await;
        assert_eq!(rest.last().map(|(_, _, bytes)| bytes[0]), Some(6), "{address}");
    }
}

/// Raw sockets need a right that a test may not have.
fn open_raw(address: &str) -> Option<Socket> {
    match Socket::open_raw(address.parse().unwrap(), Member::ALONE) {
        Ok(socket) => Some(socket),
        Err(crate::BindError::RawNotPermitted) => {
            println!("skipped: no right to open raw sockets");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Every raw socket at an address hears all that comes there, and IPv6 has one loopback address only: one test at a time.
static LOOPBACK_V6: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

async fn alone_at(address: &str) -> Option<tokio::sync::MutexGuard<'static, ()>> {
    if address.starts_with('[') { Some(LOOPBACK_V6.lock().await) } else { None }
}

#[tokio::test]
async fn raw_ip_carries_bare_packets() {
    for (a, b) in [("127.0.0.61:0", "127.0.0.62:0"), ("[::1]:0", "[::1]:0")] {
        let _alone = alone_at(a).await;
        let (Some(mut from), Some(mut to)) = (open_raw(a), open_raw(b)) else { return };
        from.send(&towards(&from, to.local, Ecn::Ect0, 50), &[[1; 50], [2; 50]].concat());
        let received = receive(&mut to, 2).await;
        assert_eq!(received[0], (Ecn::Ect0, from.local, vec![1; 50]), "{a}");
        assert_eq!(received[1].2, [2; 50]);
    }
}

/// What a full buffer cannot take is lost, and the system does not tell the peer that there is no SCTP here.
#[tokio::test]
async fn a_full_raw_socket_is_not_called_unreachable() {
    // More than twice the buffer, as the system counts it.
    const PACKETS: usize = 2 * super::open::BUFFER / 1000;
    for (a, b) in [("127.0.0.63:0", "127.0.0.64:0"), ("[::1]:0", "[::1]:0")] {
        let _alone = alone_at(a).await;
        let (Some(mut from), Some(to)) = (open_raw(a), open_raw(b)) else { return };
        for _ in 0..PACKETS {
            from.send(&towards(&from, to.local, Ecn::NotCapable, 1000), &[1; 1000]);
        }
        from.send_gathered();
        // On loopback the answer would be there before the send call returns.
        from.collect_errors();
        assert!(from.take_errors().next().is_none(), "{b}");
    }
}

/// A raw socket hears what is for any address until it is bound, but nobody reads that.
#[tokio::test]
async fn what_comes_before_a_raw_socket_is_bound_is_dropped() {
    let (Some(mut from), Some(to)) = (open_raw("127.0.0.65:0"), open_raw("127.0.0.66:0")) else { return };
    let address: SocketAddr = "127.0.0.67:0".parse().unwrap();
    let sctp = socket2::Protocol::from(132);
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::RAW, Some(sctp)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut waiting = [core::mem::MaybeUninit::uninit(); 2000];
    let mut send_to = |remote| {
        from.send(&towards(&from, remote, Ecn::NotCapable, 50), &[1; 50]);
        from.send_gathered();
    };
    send_to(to.local);
    let heard = async {
        while socket.peek(&mut waiting).is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, heard).await.expect("what is for another address is heard");
    super::open::bind_raw(&socket, address, Member::ALONE).unwrap();
    assert_eq!(socket.recv(&mut waiting).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    send_to(address);
    let heard = async {
        while socket.recv(&mut waiting).is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, heard).await.expect("what is for its own address is heard");
}

/// Once a packet waits for room, those behind it wait, too; the runtime says when there is room. (On loopback a send buffer is
/// never full, so the first one is made to wait.)
#[tokio::test]
async fn what_the_socket_cannot_take_waits_for_room() {
    const PACKETS: u16 = 200;
    let (mut from, mut to) = pair("127.0.0.1:0");
    let packet = |number: u16| vec![number as u8; 500 + usize::from(number)];
    from.outbox.push(towards(&from, to.local, Ecn::NotCapable, 1452), &packet(0));
    for number in 1..PACKETS {
        from.send(&towards(&from, to.local, Ecn::NotCapable, 1452), &packet(number));
    }
    from.send_gathered();
    let mut received = Vec::new();
    let mut buffers = ReceiveBuffers::new();
    let all = poll_fn(|cx| {
        buffers.clear();
        from.flush(cx);
        to.receive(cx, &mut buffers);
        if buffers.is_full() {
            cx.waker().wake_by_ref();
        }
        for input in buffers.inputs::<()>() {
            let Input::Datagrams { bytes, segment, .. } = input else { panic!("{input:?}") };
            received.extend(bytes.chunks(segment).map(<[u8]>::to_vec));
        }
        if received.len() >= usize::from(PACKETS) { Poll::Ready(()) } else { Poll::Pending }
    });
    timeout(PATIENCE, all).await.expect("every packet arrives");
    assert!(received.iter().zip(0..).all(|(bytes, number)| *bytes == packet(number)));
    assert!(from.outbox.is_empty());
}
