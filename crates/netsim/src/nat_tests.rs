use super::*;

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn socket(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn nat() -> Nat {
    Nat::new("203.0.113.1".parse().unwrap(), Duration::from_secs(30))
}

fn out(remote: &str) -> Route {
    Route { local: socket("10.0.0.1:9899"), remote: socket(remote) }
}

#[test]
fn who_is_asked_may_answer_and_nobody_else() {
    let mut nat = nat();
    let outside = nat.translate_out(at(0), out("198.51.100.1:9899")).unwrap();
    assert_eq!(outside.local.ip(), "203.0.113.1".parse::<IpAddr>().unwrap());
    assert_ne!(outside.local.port(), 9899);
    assert_eq!(nat.translate_in(at(1), outside.reversed()), Some(out("198.51.100.1:9899").reversed()));
    for stranger in ["198.51.100.1:9898", "198.51.100.2:9899"] {
        let route = Route { local: socket(stranger), remote: outside.local };
        assert_eq!(nat.translate_in(at(1), route), None, "{stranger}");
    }
    let elsewhere = Route { remote: socket("203.0.113.2:20000"), ..outside.reversed() };
    assert_eq!(nat.translate_in(at(1), elsewhere), None);
    let second = nat.translate_out(at(1), out("198.51.100.2:9899")).unwrap();
    assert_ne!(second.local, outside.local, "a port for each peer");
}

#[test]
fn a_mapping_lives_by_what_goes_out() {
    let mut nat = nat();
    let first = nat.translate_out(at(0), out("198.51.100.1:9899")).unwrap();
    assert_eq!(nat.translate_out(at(29), out("198.51.100.1:9899")), Some(first));
    assert!(nat.translate_in(at(58), first.reversed()).is_some());
    assert!(nat.translate_in(at(59), first.reversed()).is_none(), "what came in has not kept it");
    assert_ne!(nat.translate_out(at(59), out("198.51.100.1:9899")), Some(first));
}

#[test]
fn what_is_forgotten_gets_another_port() {
    let mut nat = nat();
    let first = nat.translate_out(at(0), out("198.51.100.1:9899")).unwrap();
    nat.forget();
    assert!(nat.translate_in(at(0), first.reversed()).is_none());
    assert_ne!(nat.translate_out(at(0), out("198.51.100.1:9899")), Some(first));
}

#[test]
fn only_udp_gets_through() {
    let raw = Route { local: socket("10.0.0.1:0"), remote: socket("198.51.100.1:0") };
    assert_eq!(nat().translate_out(at(0), raw), None);
}

#[test]
fn mappings_are_bounded() {
    let mut nat = nat();
    for n in 0..MAPPINGS_MAX as u32 + 100 {
        let remote = SocketAddr::new(IpAddr::from((0xC633_6400 + n).to_be_bytes()), 9899);
        nat.translate_out(at(0), Route { remote, ..out("198.51.100.1:1") }).unwrap();
    }
    assert_eq!(nat.mappings.len(), MAPPINGS_MAX);
}

/// RFC 6052 §2.4: the last 32 bits are the IPv4 address.
#[test]
fn an_address_with_the_prefix_is_an_ipv4_address() {
    let mut nat = nat().with_prefix(Nat64Prefix::WELL_KNOWN);
    let from = |remote: &str| Route { local: socket("[2001:db8::1]:9899"), remote: socket(remote) };
    let inside = from("[64:ff9b::c633:6401]:9899");
    let outside = nat.translate_out(at(0), inside).unwrap();
    assert_eq!(outside.remote, socket("198.51.100.1:9899"));
    assert_eq!(outside.local.ip(), "203.0.113.1".parse::<IpAddr>().unwrap());
    assert_eq!(nat.translate_in(at(1), outside.reversed()), Some(inside.reversed()));
    let four = nat.translate_out(at(1), out("198.51.100.1:9899")).unwrap();
    assert_eq!(nat.translate_in(at(1), four.reversed()), Some(out("198.51.100.1:9899").reversed()));
    let native = from("[2001:db8::2]:9899");
    assert_eq!(nat.translate_out(at(1), native), Some(native), "IPv6 passes as it is");
    assert_eq!(nat.translate_in(at(1), native.reversed()), Some(native.reversed()));
}
