use core::net::SocketAddr;
use std::net::UdpSocket;

use socket2::{Domain, Protocol, Type};

use super::*;

fn member(number: u32, count: u32) -> Member {
    Member { number, count: NonZeroU32::new(count).unwrap() }
}

fn open(address: SocketAddr, member: Member) -> io::Result<UdpSocket> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    member.join(&socket)?;
    socket.bind(&address.into())?;
    member.share(&socket)?;
    Ok(socket.into())
}

fn group(address: &str, count: u32) -> Vec<UdpSocket> {
    let first = open(address.parse().unwrap(), member(0, count)).unwrap();
    let address = first.local_addr().unwrap();
    core::iter::once(first)
        .chain((1..count).map(|number| open(address, member(number, count)).unwrap()))
        .collect()
}

/// The beginning of an SCTP packet.
fn packet(tag: u32) -> [u8; 12] {
    let mut packet = [0; 12];
    packet[4..8].copy_from_slice(&tag.to_be_bytes());
    packet
}

/// The tags that have arrived.
fn tags(socket: &UdpSocket) -> Vec<u32> {
    let mut buffer = [0; 64];
    let next = || {
        let length = socket.recv(&mut buffer).ok()?;
        Some(u32::from_be_bytes(*buffer[..length].get(4..)?.first_chunk()?))
    };
    core::iter::from_fn(next).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn every_packet_comes_to_the_shard_that_issued_its_tag() {
    for (address, from) in [("127.0.0.85:0", "127.0.0.1:0"), ("[::1]:0", "[::1]:0")] {
        for count in [2, 3, 5] {
            let sockets = group(address, count);
            let to = sockets[0].local_addr().unwrap();
            // From several addresses, each with its own hash: it is the tag alone that counts.
            for _ in 0..10 {
                let from = UdpSocket::bind(from).unwrap();
                for tag in (1..u32::MAX).step_by(200_000_003) {
                    from.send_to(&packet(tag), to).unwrap();
                }
            }
            for (number, socket) in sockets.iter().enumerate() {
                let tags = tags(socket);
                assert!(tags.len() > 20);
                assert!(tags.iter().all(|tag| tag % count == number as u32), "{number}: {tags:?}");
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_has_no_tag_comes_to_any() {
    let sockets = group("127.0.0.86:0", 2);
    let to = sockets[0].local_addr().unwrap();
    for _ in 0..100 {
        UdpSocket::bind("127.0.0.1:0").unwrap().send_to(&packet(0), to).unwrap();
    }
    let counts: Vec<_> = sockets.iter().map(|socket| tags(socket).len()).collect();
    assert_eq!(counts.iter().sum::<usize>(), 100);
    assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
}

#[test]
fn another_endpoint_does_not_get_the_port() {
    let sockets = group("127.0.0.87:0", 2);
    let address = sockets[0].local_addr().unwrap();
    for other in [Member::ALONE, member(0, 2)] {
        let error = open(address, other).expect_err("the first member shares with nobody it does not know");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
    drop(sockets);
    open(address, member(0, 2)).unwrap();
}

#[test]
fn an_endpoint_with_shards_does_not_get_a_port_in_use() {
    let alone = open("127.0.0.88:0".parse().unwrap(), Member::ALONE).unwrap();
    let error = open(alone.local_addr().unwrap(), member(0, 2)).expect_err("in use");
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    let error = open(alone.local_addr().unwrap(), member(1, 2)).expect_err("in use");
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
}
