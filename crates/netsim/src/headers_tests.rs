use super::*;

fn packet(source: &str, destination: &str, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_ip_packet(&mut out, source.parse().unwrap(), destination.parse().unwrap(), Ecn::Ect0, payload);
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
fn mixed_families_and_giants_are_no_packet() {
    assert!(packet("10.0.0.1:1", "[::1]:1", b"x").is_empty());
    assert!(packet("10.0.0.1:1", "10.0.0.2:1", &vec![0; MAX_PAYLOAD + 1]).is_empty());
    assert_eq!(packet("10.0.0.1:1", "10.0.0.2:1", &vec![0; MAX_PAYLOAD]).len(), 65_535);
}
