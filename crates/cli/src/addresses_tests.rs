use super::*;

async fn resolved(text: &str) -> Vec<SocketAddr> {
    resolve(&[text.parse().unwrap()]).await.unwrap().addresses
}

#[tokio::test]
async fn addresses_are_read_with_and_without_port() {
    assert_eq!(resolved("10.0.0.1").await, ["10.0.0.1:9899".parse().unwrap()]);
    assert_eq!(resolved("10.0.0.1:7").await, ["10.0.0.1:7".parse().unwrap()]);
    assert_eq!(resolved("::1").await, ["[::1]:9899".parse().unwrap()]);
    assert_eq!(resolved("[::1]").await, ["[::1]:9899".parse().unwrap()]);
    assert_eq!(resolved("[::1]:7").await, ["[::1]:7".parse().unwrap()]);
    // An IPv4-mapped IPv6 address is taken for the IPv4 address in it.
    assert_eq!(resolved("::ffff:10.0.0.1").await, ["10.0.0.1:9899".parse().unwrap()]);
    assert_eq!(resolved("[::ffff:10.0.0.1]:7").await, ["10.0.0.1:7".parse().unwrap()]);
    assert!(
        resolved("localhost:7").await.iter().all(|address| address.ip().is_loopback() && address.port() == 7)
    );
}

/// Of the peer's addresses one that works is enough.
#[tokio::test]
async fn a_name_that_has_no_address_spoils_no_other() {
    let typed = ["nowhere.invalid", "10.0.0.1:7", "no.where.invalid"].map(|text| text.parse().unwrap());
    let found = resolve(&typed).await.unwrap();
    assert_eq!(found.addresses, ["10.0.0.1:7".parse().unwrap()]);
    let unknown: Vec<String> = found.unknown.iter().map(ToString::to_string).collect();
    let text = |name| format!("cannot find the address of {name}");
    assert_eq!(unknown, [text("nowhere.invalid"), text("no.where.invalid")]);
    let error = resolve(&typed[..1]).await.unwrap_err();
    assert_eq!(error.to_string(), text("nowhere.invalid"));
}

#[test]
fn nonsense_is_refused() {
    for text in ["", ":7", "1.2.3", "1.2.3.4.5", "10.0.0.1:70000", "host:x", "a b", "300.1.1.1"] {
        assert!(text.parse::<Address>().is_err(), "{text:?}");
    }
}

/// What nobody can connect to is refused before anything is tried, and the message says what to write instead.
#[test]
fn what_cannot_be_a_peer_is_refused() {
    for (text, words) in [
        ("any", "name the peer's"),
        ("0.0.0.0", "name the peer's"),
        ("[::]:9899", "name the peer's"),
        ("224.0.0.1", "two hosts"),
        ("255.255.255.255", "two hosts"),
        ("ff02::1", "two hosts"),
        ("ff02::1%1", "two hosts"),
        ("192.0.2.7:0", "port 9899"),
        ("host.example:0", "port 9899"),
        ("fe80::1", "fe80::1%eth0"),
        ("[fe80::1]:9899", "fe80::1%eth0"),
        ("fe80::1%nowhere0", "\"nowhere0\""),
        ("[192.0.2.7]", "expected"),
        ("[host]:7", "expected"),
        ("[::1]7", "expected"),
    ] {
        let error = of_peer(text).unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
    for text in ["192.0.2.7", "192.0.2.7:7", "[2001:db8::7]:7", "host.example", "fe80::1%1"] {
        of_peer(text).unwrap();
    }
    for text in ["any", "0.0.0.0", "::", "127.0.0.1:0"] {
        of_ours(text).unwrap();
    }
    assert!(of_ours("224.0.0.1").is_err() && of_ours("[ff02::1]:9899").is_err());
}

#[tokio::test]
async fn a_link_local_address_keeps_its_link() {
    let expected: SocketAddr = SocketAddrV6::new("fe80::7".parse().unwrap(), 9899, 0, 3).into();
    assert_eq!(resolved("fe80::7%3").await, [expected]);
    assert_eq!(resolved("[fe80::7%3]").await, [expected]);
    let mut other = expected;
    other.set_port(7);
    assert_eq!(resolved("[fe80::7%3]:7").await, [other]);
    let all = if_addrs::get_if_addrs().unwrap();
    let Some(interface) = all.iter().find(|interface| interface.index.is_some()) else { return };
    let by_name = resolved(&format!("fe80::7%{}", interface.name)).await;
    assert_eq!(
        by_name,
        [SocketAddrV6::new("fe80::7".parse().unwrap(), 9899, 0, interface.index.unwrap()).into()]
    );
}

#[tokio::test]
async fn local_addresses_share_a_port() {
    let list = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Address>>();
    let two = local(&list(&["127.0.0.1", "[::1]:5", "127.0.0.1"]), 9).await.unwrap();
    assert_eq!(two, ["127.0.0.1:5".parse().unwrap(), "[::1]:5".parse().unwrap()]);
    let two_ports = local(&list(&["127.0.0.1:4", "[::1]:5"]), 9).await;
    assert!(matches!(two_ports, Err(Failure::Usage(_))));
    let any: Vec<SocketAddr> = vec!["0.0.0.0:9".parse().unwrap(), "[::]:9".parse().unwrap()];
    for typed in [&[][..], &["any"], &["0.0.0.0", "::"], &["any", "0.0.0.0"]] {
        let all = local(&list(typed), 9).await.unwrap();
        assert_eq!(all[..2], any, "{typed:?}");
        // On a host with nothing but itself, that too.
        assert!(all[2..].iter().all(|address| address.ip().is_loopback() && address.port() == 9));
    }
    assert_eq!(local(&list(&["any:7"]), 9).await.unwrap()[0].port(), 7);
    assert!(resolve(&list(&["any"])).await.unwrap_err().to_string().contains("name the peer's"));
}

#[test]
fn loopback_is_reached_from_loopback() {
    assert_eq!(towards(&["127.0.0.1:9".parse().unwrap()]).unwrap(), ["127.0.0.1:0".parse().unwrap()]);
}

#[test]
fn others_are_reached_from_wherever_the_host_is() {
    let from = towards(&["192.0.2.200:9".parse().unwrap(), "192.0.2.201:9".parse().unwrap()]).unwrap();
    // First the address that the system would use, if it has a route.
    let any = ["0.0.0.0:0", "[::]:0"].map(|any| any.parse::<SocketAddr>().unwrap());
    assert!(from.ends_with(&any) && from.len() <= 3, "of both IP versions: {from:?}");
}

#[test]
fn an_ipv6_address_with_a_port_needs_brackets() {
    for (text, meant) in [("::1:9900", "[::1]:9900"), ("::9900", "[::]:9900")] {
        let error = text.parse::<Address>().unwrap_err();
        assert!(error.contains(meant), "{text}: {error}");
    }
    assert!("::1.2.3.4".parse::<Address>().is_err());
    for text in ["::1", "::", "::ffff:192.0.2.1", "2001:db8::1:9900", "64:ff9b::1"] {
        text.parse::<Address>().unwrap();
    }
}
