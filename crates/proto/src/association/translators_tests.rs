use super::*;

fn socket(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn prefix(text: &str) -> Nat64Prefix {
    text.parse().unwrap()
}

const OURS: &str = "[2001:db8::1]:9899";

/// As they are in a network that has this prefix.
fn of_network(text: &str) -> Translators {
    Translators::new([(socket(OURS).ip(), prefix(text))])
}

/// RFC 6052 §2.4, and §3.1: none with the well-known prefix for addresses that mean something in a site only.
#[test]
fn an_ipv4_address_is_the_end_of_an_ipv6_address() {
    let translators = Translators::default();
    let called = translators.names(socket("192.0.2.33:9899"));
    assert_eq!(called, [socket("[64:ff9b::192.0.2.33]:9899")]);
    assert_eq!(translators.meant(called[0].ip()), Some(socket("192.0.2.33:1").ip()));
    for local in
        ["10.0.0.1:1", "192.168.0.1:1", "100.64.0.1:1", "127.0.0.1:1", "169.254.0.1:1", "[2001:db8::1]:1"]
    {
        assert_eq!(translators.names(socket(local)), [], "{local}");
    }
    for other in ["[64:ff9b:1::192.0.2.33]:1", "[2001:db8::192.0.2.33]:1", "192.0.2.33:1"] {
        assert_eq!(translators.meant(socket(other).ip()), None, "{other}");
    }
}

/// Private addresses, too: RFC 6052 §3.1 speaks of the well-known prefix alone.
#[test]
fn a_networks_own_prefix_comes_first() {
    let translators = of_network("2001:db8:122::/48");
    let called = translators.names(socket("192.0.2.33:9899"));
    assert_eq!(called, [socket("[2001:db8:122:c000:2:2100::]:9899"), socket("[64:ff9b::192.0.2.33]:9899")]);
    assert!(called.iter().all(|name| translators.meant(name.ip()) == Some(socket("192.0.2.33:1").ip())));
    assert_eq!(translators.names(socket("10.0.0.1:1")), [socket("[2001:db8:122:a00:0:100::]:1")]);
    for nobodys in ["127.0.0.1:1", "169.254.0.1:1", "0.0.0.0:1", "224.0.0.1:1", "255.255.255.255:1"] {
        assert_eq!(translators.names(socket(nobodys)), [], "{nobodys}");
    }
    // The network says that it has the well-known one.
    assert_eq!(of_network("64:ff9b::/96").names(socket("192.0.2.33:9899")).len(), 1);
}

/// A prefix that is too wide covers addresses that are somebody's own.
#[test]
fn an_address_that_no_translator_has_made_means_itself() {
    let translators = of_network("2001:db8::/32");
    assert_eq!(translators.meant(socket("[2001:db8:62:1::2]:1").ip()), None);
    assert_eq!(translators.meant(socket("[2001:db8:c000:221::]:1").ip()), Some(socket("192.0.2.33:1").ip()));
}

#[test]
fn a_way_leads_beyond_a_translator_if_no_other_does() {
    let (ours, called) = (socket(OURS), socket("[64:ff9b::192.0.2.33]:9899"));
    let (v4, v6) = (socket("192.0.2.33:9899"), socket("[2001:db8::2]:9899"));
    let translators = Translators::default();
    assert!(translators.lead_beyond(ours, &[called]));
    assert!(translators.lead_beyond(ours, &[v4, called]));
    for remotes in [&[][..], &[v4], &[called, v6]] {
        assert!(!translators.lead_beyond(ours, remotes), "{remotes:?}");
    }
    assert!(
        !translators.lead_beyond(socket("[2001:db8::1]:0"), &[called]),
        "SCTP without UDP is not translated"
    );
    assert!(!translators.lead_beyond(v4, &[called]));
    let own = [socket("[2001:db8:64::192.0.2.33]:9899")];
    assert!(!translators.lead_beyond(ours, &own));
    assert!(of_network("2001:db8:64::/96").lead_beyond(ours, &own));
}

#[test]
fn each_network_has_names_of_its_own() {
    let (here, there, plain) =
        (socket(OURS).ip(), socket("[2001:db8:b::1]:1").ip(), socket("[2001:db8:c::1]:1").ip());
    let translators =
        Translators::new([(here, prefix("2001:db8:64::/96")), (there, prefix("2001:db8:65::/96"))]);
    let [own, others, known, native] =
        ["2001:db8:64::192.0.2.33", "2001:db8:65::192.0.2.33", "64:ff9b::192.0.2.33", "2001:db8:d::1"]
            .map(|text| text.parse().unwrap());
    let fitting = |local| [own, others, known, native].map(|remote| translators.call_it_so(local, remote));
    assert_eq!(fitting(here), [true, false, false, true]);
    assert_eq!(fitting(there), [false, true, false, true]);
    assert_eq!(fitting(plain), [false, false, true, true], "nothing is told there");
}

/// What the peer was called still means it, and is no name of it any more.
#[test]
fn a_network_that_was_left_is_remembered_while_the_peer_has_a_name_of_it() {
    let name = socket("[2001:db8:64::192.0.2.33]:9899");
    let mut translators = of_network("2001:db8:64::/96");
    translators.follow(&of_network("2001:db8:65::/96"), &[name]);
    assert_eq!(translators.meant(name.ip()), Some(socket("192.0.2.33:1").ip()));
    assert!(translators.is_past(name.ip()));
    assert!(!translators.call_it_so(socket(OURS).ip(), name.ip()));
    assert!(!translators.names(socket("192.0.2.33:9899")).contains(&name));
    translators.follow(&of_network("2001:db8:64::/96"), &[name]);
    assert!(!translators.is_past(name.ip()), "it is back");
    for n in 0..100 {
        translators.follow(&of_network(&format!("2001:db8:{n}::/96")), &[name]);
    }
    assert_eq!(translators.past, [prefix("2001:db8:64::/96")]);
    translators.follow(&Translators::default(), &[]);
    assert_eq!(translators.meant(name.ip()), None, "nobody is called so");
}

#[test]
fn prefixes_are_bounded() {
    let many =
        (0..100_u16).map(|n| (IpAddr::from([1, n, 0, 0, 0, 0, 0, 1]), prefix(&format!("2001:db8:{n}::/96"))));
    let translators = Translators::new(many);
    assert_eq!(translators.names(socket("192.0.2.33:9899")).len(), TOLD_MAX + 1);
}
