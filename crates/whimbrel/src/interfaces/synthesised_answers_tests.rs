use super::*;

fn found(answers: &[&str]) -> Vec<String> {
    let answers: Vec<Ipv6Addr> = answers.iter().map(|answer| answer.parse().unwrap()).collect();
    prefixes(&answers).iter().map(Nat64Prefix::to_string).collect()
}

fn made_with(prefix: &str) -> Vec<Ipv6Addr> {
    let prefix: Nat64Prefix = prefix.parse().unwrap();
    ADDRESSES.iter().map(|address| prefix.synthesise(*address)).collect()
}

#[test]
fn prefixes_of_every_length_are_found() {
    for prefix in [
        "2001:db8::/32",
        "2001:db8:100::/40",
        "2001:db8:122::/48",
        "2001:db8:122:300::/56",
        "2001:db8:122:344::/64",
        "2001:db8:122:344::/96",
        "64:ff9b::/96",
    ] {
        let answers = made_with(prefix);
        let found =
            |answers: &[Ipv6Addr]| prefixes(answers).iter().map(Nat64Prefix::to_string).collect::<Vec<_>>();
        assert_eq!(found(&answers), [prefix]);
        assert_eq!(found(&answers[1..]), [prefix], "one is enough");
    }
}

#[test]
fn what_was_made_of_nothing_says_nothing() {
    assert!(found(&[]).is_empty());
    assert!(
        found(&["2001:db8::1", "::", "64:ff9b::192.0.2.33", "2001:db8:c000:aa::"]).len() == 1,
        "RFC 7050 §3"
    );
    assert!(found(&["::ffff:192.0.0.170", "::192.0.0.170", "fe80::1"]).is_empty());
}

/// A prefix that has the well-known address in itself.
#[test]
fn where_it_is_not_clear_both_addresses_decide() {
    let answers = made_with("2001:db8:c000:aa::/96");
    assert_eq!(prefixes(&answers), ["2001:db8:c000:aa::/96".parse().unwrap()]);
    assert!(prefixes(&answers[..1]).is_empty(), "one of two");
}

#[test]
fn several_prefixes_come_in_the_order_of_the_answers() {
    let answers =
        [made_with("2001:db8:2::/96"), made_with("2001:db8:1::/48"), made_with("2001:db8:2::/96")].concat();
    let found: Vec<String> = prefixes(&answers).iter().map(Nat64Prefix::to_string).collect();
    assert_eq!(found, ["2001:db8:2::/96", "2001:db8:1::/48"]);
    let many: Vec<Ipv6Addr> = (0..100).flat_map(|n| made_with(&format!("2001:db8:{n}::/96"))).collect();
    assert_eq!(prefixes(&many).len(), ANSWERS_MAX / 2);
}
