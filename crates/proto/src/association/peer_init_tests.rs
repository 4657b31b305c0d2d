use core::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;

const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

fn encoded(parameters: &[Parameter<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for parameter in parameters {
        parameter.emit(&mut out);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    out
}

/// A parameter of any type.
fn raw(parameter_type: u16, value: &[u8]) -> Vec<u8> {
    let mut out = parameter_type.to_be_bytes().to_vec();
    out.extend_from_slice(&(4 + value.len() as u16).to_be_bytes());
    out.extend_from_slice(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

fn read(bytes: &[u8]) -> Result<PeerParameters<'_>, Problem> {
    PeerParameters::read(Parameters::from_wire(bytes), SOURCE, 4)
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// RFC 9260 §5.1.2 C: the source counts even if it is not listed.
#[test]
fn addresses_are_those_listed_and_the_source() {
    let bytes = encoded(&[ip("198.51.100.1").into(), ip("2001:db8::1").into()]);
    let remotes = read(&bytes).unwrap().remotes(SocketAddr::new(SOURCE, 9000));
    let expected = ["192.0.2.1:9000", "198.51.100.1:9000", "[2001:db8::1]:9000"];
    assert_eq!(remotes, expected.map(|address| address.parse().unwrap()));
}

/// Or the pairs of addresses would depend on which of them the handshake happened to use.
#[test]
fn a_listed_source_keeps_its_place() {
    let bytes = encoded(&[ip("198.51.100.1").into(), SOURCE.into()]);
    let remotes = read(&bytes).unwrap().remotes(SocketAddr::new(SOURCE, 9000));
    assert_eq!(remotes, ["198.51.100.1:9000", "192.0.2.1:9000"].map(|address| address.parse().unwrap()));
}

/// RFC 5062 §4: a list is no way to make us send to groups, to ourselves or to thousands.
#[test]
fn unusable_and_surplus_addresses_are_ignored() {
    let unusable = [
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "127.0.0.1",
        "169.254.1.1",
        "::",
        "ff02::1",
        "::1",
        "fe80::1",
    ];
    let parameters: Vec<Parameter<'_>> = unusable.iter().map(|text| ip(text).into()).collect();
    assert!(read(&encoded(&parameters)).unwrap().addresses.is_empty());
    let many: Vec<Parameter<'_>> = (0..200).map(|n| IpAddr::from([198, 51, 100, n]).into()).collect();
    assert_eq!(read(&encoded(&many)).unwrap().addresses.len(), 4);
    let same: Vec<Parameter<'_>> = (0..9).map(|_| ip("198.51.100.1").into()).collect();
    assert_eq!(read(&encoded(&same)).unwrap().addresses.len(), 1);
}

/// Among programs on one host, loopback addresses are as good as any.
#[test]
fn scopes_follow_the_source() {
    assert!(is_usable(ip("127.0.0.2"), ip("127.0.0.1")));
    assert!(is_usable(ip("10.1.2.3"), ip("127.0.0.1")));
    assert!(is_usable(ip("169.254.1.1"), ip("169.254.1.1")));
    assert!(!is_usable(ip("169.254.1.2"), ip("169.254.1.1")));
}

/// RFC 9260 §5.1.2 B.
#[test]
fn a_host_name_is_refused_and_quoted() {
    let bytes = encoded(&[Parameter::HostName(b"example.org\0")]);
    assert_eq!(read(&bytes).unwrap_err(), Problem::HostName(bytes.clone()));
}

/// RFC 9260 §3.2.1: the two high bits of an unknown type.
#[test]
fn unknown_parameters_obey_their_high_bits() {
    for (high, stops, reports) in [(0, true, false), (1, true, true), (2, false, false), (3, false, true)] {
        let unknown = raw(high << 14 | 0x3abc, b"xyz");
        let mut bytes = unknown.clone();
        bytes.extend(encoded(&[ip("198.51.100.1").into()]));
        let parameters = read(&bytes).unwrap();
        assert_eq!(parameters.addresses.is_empty(), stops, "{high}");
        assert_eq!(parameters.unrecognized, if reports { unknown } else { Vec::new() }, "{high}");
    }
}

/// An answer does not grow with the question (RFC 5062 §9).
#[test]
fn reports_are_bounded() {
    let mut bytes = Vec::new();
    (0..100).for_each(|_| bytes.extend(raw(0xffee, &[1; 16])));
    bytes.extend(raw(0xffef, &[1; 1000]));
    let reported = read(&bytes).unwrap().unrecognized.len();
    assert!(reported > 200 && reported <= MAX_UNRECOGNIZED);
}

/// RFC 9260 §3.3.3.1.1, §3.3.2.1.3; RFC 9653 §4.
#[test]
fn cookie_preservative_and_zero_checksum_are_read() {
    let bytes = encoded(&[
        Parameter::CookiePreservative(1500),
        Parameter::ZeroChecksumAcceptable(1),
        Parameter::StateCookie(b"cookie"),
    ]);
    let parameters = read(&bytes).unwrap();
    assert_eq!(parameters.cookie_preservative, 1500);
    assert_eq!(parameters.zero_checksum, Some(1));
    assert_eq!(parameters.cookie, Some(&b"cookie"[..]));
}

#[test]
fn a_length_that_leads_nowhere_is_malformed() {
    let mut bytes = encoded(&[ip("198.51.100.1").into()]);
    bytes.extend_from_slice(&[0, 5, 0, 3]);
    assert_eq!(read(&bytes).unwrap_err(), Problem::Malformed);
    let end = bytes.len() - 1;
    bytes[end] = 200;
    assert_eq!(read(&bytes).unwrap_err(), Problem::Malformed);
}

/// Known to the codec but of no use here: neither an error nor reported.
#[test]
fn known_parameters_without_meaning_here_are_skipped() {
    let bytes = [raw(0xc000, &[]), raw(0x8008, &[0xc1]), encoded(&[ip("198.51.100.1").into()])].concat();
    let parameters = read(&bytes).unwrap();
    assert_eq!((parameters.addresses.len(), parameters.unrecognized.len()), (1, 0));
}

/// RFC 9260 §3.3.2.1.5: a family that is not named is not used, but for the one that the peer is heard from.
#[test]
fn address_families_are_those_named_and_the_sources() {
    let families = |types: &[u16]| {
        let bytes = encoded(&[Parameter::SupportedAddressTypes(List::from(types))]);
        let families = read(&bytes).unwrap().families;
        (families.include(SOURCE), families.include(ip("2001:db8::1")))
    };
    assert_eq!(families(&[parameter_type::IPV4_ADDRESS]), (true, false));
    assert_eq!(families(&[parameter_type::IPV6_ADDRESS]), (true, true));
    assert_eq!(families(&[]), (true, false));
    assert!(read(&[]).unwrap().families.include(ip("2001:db8::1")), "who says nothing uses both");
}

proptest! {
    #[test]
    fn any_bytes_are_read_within_bounds(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(parameters) = read(&bytes) {
            prop_assert!(parameters.addresses.len() <= 4);
            prop_assert!(parameters.unrecognized.len() <= MAX_UNRECOGNIZED);
            prop_assert!(parameters.addresses.iter().all(|&address| is_usable(address, SOURCE)));
        }
    }
}
