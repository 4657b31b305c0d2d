use super::*;

fn prefix(text: &str) -> Nat64Prefix {
    text.parse().unwrap()
}

fn v6(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

/// RFC 6052 §2.4.
const TABLE: [(&str, &str); 7] = [
    ("2001:db8::/32", "2001:db8:c000:221::"),
    ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
    ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
    ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
    ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
    ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
    ("64:ff9b::/96", "64:ff9b::192.0.2.33"),
];

#[test]
fn addresses_are_called_as_the_rfc_says() {
    let v4 = Ipv4Addr::new(192, 0, 2, 33);
    for (text, called) in TABLE {
        assert_eq!(prefix(text).synthesise(v4), v6(called), "{text}");
        assert_eq!(prefix(text).extract(v6(called)), Some(v4), "{text}");
        assert_eq!(prefix(text).to_string(), text);
    }
    assert_eq!(prefix("64:ff9b::/96"), Nat64Prefix::WELL_KNOWN);
}

#[test]
fn every_bit_of_an_address_comes_back() {
    for (text, _) in TABLE {
        for v4 in (0..32).map(|bit| Ipv4Addr::from_bits(1 << bit)).chain([Ipv4Addr::BROADCAST]) {
            assert_eq!(prefix(text).extract(prefix(text).synthesise(v4)), Some(v4), "{text} {v4}");
        }
    }
}

/// RFC 6052 §2.2: bits 64 to 71 must be zero; those behind the IPv4 address are for later, and ignored.
#[test]
fn other_addresses_mean_nothing() {
    let short = prefix("2001:db8:122::/48");
    assert_eq!(short.extract(v6("2001:db8:122:c000:102:2100::")), None);
    assert_eq!(short.extract(v6("2001:db8:123:c000:2:2100::")), None);
    assert_eq!(short.extract(v6("2001:db8:122:c000:2:2100::1")), Some(Ipv4Addr::new(192, 0, 2, 33)));
}

#[test]
fn what_no_translator_can_have_is_no_prefix() {
    for text in [
        "2001:db8::/33",
        "2001:db8::/128",
        "2001:db8::",
        "2001:db8::1/64",
        "2001:db8:0:0:100::/96",
        "10.0.0.0/32",
    ] {
        assert_eq!(text.parse::<Nat64Prefix>(), Err(NotANat64Prefix), "{text}");
    }
    for length in 0..=255 {
        let is_one = Nat64Prefix::LENGTHS.contains(&length);
        assert_eq!(Nat64Prefix::new(v6("2001:db8::"), length).is_ok(), is_one, "{length}");
    }
}
