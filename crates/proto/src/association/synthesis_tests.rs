use super::*;

fn socket(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// RFC 6052 §2.4, and §3.1: none for addresses that mean something in a site only.
#[test]
fn an_ipv4_address_is_the_end_of_an_ipv6_address() {
    let called = synthesised(socket("192.0.2.33:9899"));
    assert_eq!(called, Some(socket("[64:ff9b::192.0.2.33]:9899")));
    assert_eq!(called.and_then(|called| meant(called.ip())), Some(socket("192.0.2.33:1").ip()));
    for local in
        ["10.0.0.1:1", "192.168.0.1:1", "100.64.0.1:1", "127.0.0.1:1", "169.254.0.1:1", "[2001:db8::1]:1"]
    {
        assert_eq!(synthesised(socket(local)), None, "{local}");
    }
    for other in ["[64:ff9b:1::192.0.2.33]:1", "[2001:db8::192.0.2.33]:1", "192.0.2.33:1"] {
        assert_eq!(meant(socket(other).ip()), None, "{other}");
    }
}

#[test]
fn a_way_leads_beyond_a_translator_if_no_other_does() {
    let (ours, called) = (socket("[2001:db8::1]:9899"), socket("[64:ff9b::192.0.2.33]:9899"));
    let (v4, v6) = (socket("192.0.2.33:9899"), socket("[2001:db8::2]:9899"));
    assert!(leads_beyond(ours, &[called]));
    assert!(leads_beyond(ours, &[v4, called]));
    for remotes in [&[][..], &[v4], &[called, v6]] {
        assert!(!leads_beyond(ours, remotes), "{remotes:?}");
    }
    assert!(!leads_beyond(socket("[2001:db8::1]:0"), &[called]), "SCTP without UDP is not translated");
    assert!(!leads_beyond(v4, &[called]));
}
