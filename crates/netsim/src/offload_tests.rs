use super::*;

/// An IPv4 packet whose header has no checksum, with a TCP segment whose checksum covers the segment alone.
fn inner() -> Vec<u8> {
    let mut segment = vec![0x5a; 33];
    segment[16..18].fill(0);
    let checksum = !fold(sum(0, &segment));
    segment[16..18].copy_from_slice(&checksum.to_be_bytes());
    let mut packet = vec![0x45, 0, 0, 53, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 1, 9];
    packet.append(&mut segment);
    packet
}

/// What a receiver adds up: a header, and a segment with its pseudo-header.
fn sums(packet: &[u8]) -> [u16; 2] {
    [fold(sum(0, &packet[..20])), fold(sum(6 + 33, &packet[12..]))]
}

#[test]
fn a_tunnelled_packet_is_completed_in_both_layers() {
    let mut packet = inner();
    assert!(sums(&packet).iter().all(|&sum| sum != 0xffff));
    complete(IpProtocol::Ipv4, 0, &mut packet);
    assert_eq!(sums(&packet), [0xffff; 2]);
    // Nothing but the checksums is different.
    packet[10..12].fill(0);
    packet[36..38].copy_from_slice(&inner()[36..38]);
    assert_eq!(packet, inner());
}

/// Whatever bit of a segment was flipped on the way, the checksum that is written shows it. (That of a tunnel's inner header, which
/// nobody has computed before, is right for the header as it came.)
#[test]
fn flipped_bits_stay_visible() {
    for bit in 0..33 * 8 {
        let mut packet = inner();
        packet[20 + bit / 8] ^= 1 << (bit % 8);
        complete(IpProtocol::Ipv4, 0, &mut packet);
        assert_ne!(sums(&packet)[1], 0xffff, "bit {bit}");
    }
}

#[test]
fn a_header_with_a_checksum_keeps_it() {
    let mut packet = inner();
    packet[10..12].copy_from_slice(&[1, 2]);
    complete(IpProtocol::Ipv4, 0, &mut packet);
    assert_eq!(packet[10..12], [1, 2]);
}

#[test]
fn what_is_too_short_or_of_no_known_protocol_is_left_alone() {
    for protocol in [IpProtocol::Tcp, IpProtocol::Ipv4] {
        for length in 0..18 {
            let mut bytes = vec![0x45; length];
            complete(protocol, 77, &mut bytes);
            assert_eq!(bytes, vec![0x45; length]);
        }
    }
    for protocol in [IpProtocol::Sctp, IpProtocol::Simplified("")] {
        let mut packet = inner();
        complete(protocol, 77, &mut packet);
        assert_eq!(packet, inner());
    }
    let mut no_ip = inner();
    no_ip[0] = 0x46;
    let before = no_ip.clone();
    complete(IpProtocol::Ipv4, 0, &mut no_ip);
    assert_eq!(no_ip, before);
}
