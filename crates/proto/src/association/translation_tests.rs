use super::*;

fn socket(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn naming(wanted: AddressNaming) -> Naming<'static> {
    static NONE: std::sync::LazyLock<Translators> = std::sync::LazyLock::new(Translators::default);
    Naming { wanted, translators: &NONE }
}

fn by_scope(local: &str, remotes: &[&str]) -> bool {
    let remotes: Vec<SocketAddr> = remotes.iter().map(|remote| socket(remote)).collect();
    may_be_translated(naming(AddressNaming::ByScope), socket(local), &remotes)
}

/// RFC 6951 §5.7: private and shared addresses are translated on the way to public ones, and nowhere else.
#[test]
fn private_addresses_are_translated_towards_public_ones() {
    for private in [
        "10.1.2.3:9899",
        "172.31.0.1:9899",
        "192.168.1.1:9899",
        "100.64.0.1:9899",
        "100.127.0.1:1",
        "192.0.0.2:9899",
    ] {
        assert!(by_scope(private, &["198.51.100.1:9899"]), "{private}");
        assert!(by_scope(private, &["10.0.0.1:9899", "198.51.100.1:9899"]), "{private}");
        assert!(!by_scope(private, &["10.0.0.1:9899"]), "{private}");
        assert!(!by_scope(private, &["[2001:db8::1]:9899"]), "{private}: another family");
        assert!(!by_scope(private, &["127.0.0.1:9899"]), "{private}");
    }
    assert!(by_scope("[fd00::1]:9899", &["[2001:db8::1]:9899"]));
    for public in
        ["198.51.100.1:9899", "100.128.0.1:9899", "172.32.0.1:9899", "127.0.0.1:9899", "192.0.0.8:9899"]
    {
        assert!(!by_scope(public, &["203.0.113.1:9899"]), "{public}");
    }
    assert!(!by_scope("[2001:db8::2]:9899", &["[2001:db8::1]:9899"]));
}

#[test]
fn without_udp_nothing_is_taken_for_translated() {
    assert!(!by_scope("10.1.2.3:0", &["198.51.100.1:0"]));
}

#[test]
fn the_user_may_know_better() {
    let (private, public) = (socket("10.1.2.3:9899"), socket("198.51.100.1:9899"));
    assert!(!may_be_translated(naming(AddressNaming::Literal), private, &[public]));
    assert!(may_be_translated(naming(AddressNaming::Wildcards), public, &[private]));
}

/// RFC 6951 §5.7: the peer knows the source of the handshake only, and what needs no translation.
#[test]
fn after_the_handshake_the_peer_knows_its_source_and_what_was_listed() {
    let locals = ["10.1.2.3:9899", "10.2.2.3:9899", "[2001:db8::2]:9899"].map(socket);
    let remotes = [socket("198.51.100.1:9899")];
    assert_eq!(nameable(naming(AddressNaming::ByScope), &locals, &remotes), [locals[2]]);
    let known = known_after_handshake(naming(AddressNaming::ByScope), &locals, &remotes, locals[1].ip());
    assert_eq!(known, [locals[1], locals[2]]);
}
