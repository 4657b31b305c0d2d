use super::*;

fn packet(source: &str, destination: &str, payload: &[u8]) -> Vec<u8> {
    packet_of(IpProtocol::Sctp, source, destination, payload)
}

fn packet_of(protocol: IpProtocol, source: &str, destination: &str, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (source, destination) = (source.parse().unwrap(), destination.parse().unwrap());
    write_ip_packet(&mut out, source, destination, Ecn::Ect0, protocol, payload);
    out
}

/// A receiver's check: the sum over a header and its checksum is all ones.
fn ones(total: u64) -> bool {
    fold(total) == 0xffff
}

#[test]
fn ipv4_udp_checks_out() {
    let packet = packet("10.1.2.3:9899", "192.0.2.7:5000", b"odd");
    assert_eq!(packet.len(), 20 + 8 + 3);
    assert_eq!(packet[1], 2, "ECT(0)");
    assert_eq!(packet[9], 17);
    assert!(ones(sum(0, &packet[..20])));
    assert!(ones(sum(17 + 11, &packet[12..])));
    assert_eq!(packet[28..], *b"odd");
}

#[test]
fn ipv6_udp_checks_out() {
    let packet = packet("[2001:db8::1]:9899", "[2001:db8::2]:9899", b"four");
    assert_eq!(packet.len(), 40 + 8 + 4);
    assert_eq!(packet[..2], [0x60, 0x20], "ECT(0) is in the traffic class");
    assert_eq!(packet[4..6], [0, 12]);
    assert!(ones(sum(17 + 12, &packet[8..])));
}

#[test]
fn no_port_is_raw_ip() {
    let packet = packet("10.0.0.1:0", "10.0.0.2:0", &[7; 12]);
    assert_eq!(packet.len(), 32);
    assert_eq!(packet[9], 132);
    let v6 = Framing { v6: true, udp: false };
    assert_eq!(v6.header_bytes(), 40);
}

#[test]
fn raw_ip_says_what_it_carries_and_udp_that_it_is_udp() {
    for (protocol, number) in [
        (IpProtocol::Sctp, 132),
        (IpProtocol::Tcp, 6),
        (IpProtocol::Ipv4, 4),
        (IpProtocol::Simplified("a remark"), 253),
    ] {
        assert_eq!(packet_of(protocol, "10.0.0.1:0", "10.0.0.2:0", &[7; 40])[9], number);
        assert_eq!(packet_of(protocol, "[fd00::1]:0", "[fd00::2]:0", &[7; 40])[6], number);
        let in_udp = packet_of(protocol, "10.0.0.1:9", "10.0.0.2:9", &[7; 40]);
        assert_eq!((in_udp[9], &in_udp[28..]), (17, &[7; 40][..]), "{protocol:?}");
    }
}

/// A TCP segment whose checksum does not cover the addresses leaves with one that does, in either family.
#[test]
fn tcp_checks_out_with_its_addresses() {
    let mut segment = *b"\xc0\x00\x00\x50....4321\x50\x10.!\x00\x00\x00\x00odd";
    let checksum = !fold(sum(0, &segment));
    segment[16..18].copy_from_slice(&checksum.to_be_bytes());
    let v4 = packet_of(IpProtocol::Tcp, "10.1.2.3:0", "192.0.2.7:0", &segment);
    assert!(ones(sum(6 + 23, &v4[12..])));
    let v6 = packet_of(IpProtocol::Tcp, "[2001:db8::1]:0", "[2001:db8::2]:0", &segment);
    assert!(ones(sum(6 + 23, &v6[8..])));
    assert_eq!((v4.len(), v6.len()), (20 + 23, 40 + 23), "nothing is longer than it was in the world");
}

#[test]
fn mixed_families_and_giants_are_no_packet() {
    assert!(packet("10.0.0.1:1", "[::1]:1", b"x").is_empty());
    assert!(packet("10.0.0.1:1", "10.0.0.2:1", &vec![0; MAX_PAYLOAD + 1]).is_empty());
    assert_eq!(packet("10.0.0.1:1", "10.0.0.2:1", &vec![0; MAX_PAYLOAD]).len(), 65_535);
}
