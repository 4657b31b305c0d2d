use super::*;
use crate::values::prefix_length;

const NORTH: &str = include_str!("../examples/north.toml");

fn settings(text: &str) -> Result<Settings, SettingsError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gateway.toml");
    std::fs::write(&path, text).unwrap();
    Settings::read(&path)
}

#[test]
fn the_example_is_good_and_means_what_it_says() {
    let settings = settings(NORTH).unwrap();
    let config = settings.machine(HardwareAddress([2; 6]), settings.hosts[0].key);
    assert_eq!(config.address, "10.1.0.1:5061".parse().unwrap());
    assert_eq!(config.access.netmask, "255.255.255.0".parse::<IpAddr>().unwrap());
    assert_eq!(config.access.addresses.len(), 100);
    assert_eq!(config.access.addresses[99], "10.1.0.199".parse::<IpAddr>().unwrap());
    assert_eq!(config.resources.throughput, 20_000_000);
    assert_eq!(config.resources.per_terminal, 5_000_000);
    assert_eq!(config.resources.buffer, 4 << 20);
}

/// Each mistake is named, by the key that it is in.
#[test]
fn mistakes_are_named() {
    for (from, to, complaint) in [
        ("prefix-length = 24", "prefix-length = 33", "access.prefix-length: 33"),
        ("10.1.0.100-10.1.0.199", "10.1.0.100-10.1.1.199", "not in the network of 10.1.0.1/24"),
        ("10.1.0.100-10.1.0.199", "10.1.0.1-10.1.0.199", "contains the gateway's own address"),
        ("10.1.0.100-10.1.0.199", "10.1.0.199-10.1.0.100", "is no range"),
        ("10.1.0.100-10.1.0.199", "10.1.0.100/25", "not an IP address"),
        ("least-buffer = \"64Ki\"", "least-buffer = \"64Gi\"", "resources.least-buffer"),
        ("throughput = \"20M\"", "throughput = \"20 Mbit\"", "is no amount"),
        ("throughput = \"20M\"", "thruput = \"20M\"", "unknown field `thruput`"),
        ("name = \"south\"", "name = \"robot\"", "two entries are called robot"),
        ("name = \"south\"", "name = \"south,east\"", "is no name"),
        ("supervision = 10", "supervision = 2", "supervision"),
        ("per-terminal = \"5M\"", "per-terminal = 0", "resources.per-terminal"),
        ("delay-ms = 5", "delay-ms = 5\nmtu = 1500", "unknown field `mtu`"),
        ("10.2.0.1", "10.1.0.1", "two gateways have the address 10.1.0.1"),
        ("10.2.0.1", "fd02::1", "south has the address fd02::1, and this one 10.1.0.1"),
        ("key = \"whk1", "key = \"whk", "not a key"),
        ("delay-ms = 5", "delay-ms = -5", "access.delay-ms"),
        ("[access]", "[plain-sip]\ndigests = []\n[access]", "plain-sip.digests"),
        ("[access]", "[plain-sip]\n[access]", "plain-sip.users: there is none"),
        ("[access]", "[plain-sip]\ndigests = [\"MD5\", \"MD5\"]\n[access]", "MD5 is there twice"),
        ("[access]", "[plain-sip]\ndigests = [\"SHA-1\"]\n[access]", "unknown variant `SHA-1`"),
        (
            "[access]",
            "[[plain-sip.users]]\nname = \"a b\"\npassword = \"p\"\n[access]",
            "no name of a SIP user",
        ),
        (
            "[access]",
            "[[plain-sip.users]]\nname = \"a\"\npassword = \"\"\n[access]",
            "a has an empty password",
        ),
    ] {
        assert!(NORTH.contains(from), "{from}");
        let text = settings(&NORTH.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(text.contains(complaint) && text.contains("gateway.toml"), "{text}");
    }
}

/// Who speaks in clear must not be taken for somebody with a key.
#[test]
fn names_of_the_machines_and_of_gateways_are_no_users() {
    for name in ["terminal", "correspondent", "source", "target", "south"] {
        let user = format!("[[plain-sip.users]]\nname = \"{name}\"\npassword = \"p\"\n[access]");
        let text = settings(&NORTH.replacen("[access]", &user, 1)).unwrap_err().to_string();
        assert!(text.contains(&format!("no user can be called {name}")), "{text}");
    }
}

/// What is wrong with a file goes to logs.
#[test]
fn no_mistake_shows_a_password() {
    for line in [
        "passwort = \"xyzzy1\"",
        "password = xyzzy1",
        "password = \"xyzzy1",
        "password = [\"xyzzy1\"]",
        "password = \"xyzzy1\" 5",
        "password = 77123451",
    ] {
        let user = format!("[[plain-sip.users]]\nname = \"alice\"\n{line}\n[access]");
        let error = settings(&NORTH.replacen("[access]", &user, 1)).unwrap_err();
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(!text.contains("xyzzy1") && !text.contains("77123451"), "{text}");
            assert!(text.contains("line 1"), "{text}");
        }
    }
}

#[test]
fn masks_have_a_length_or_are_none() {
    for length in [1, 8, 24, 31, 32] {
        assert_eq!(prefix_length(netmask("10.0.0.1".parse().unwrap(), length)), Some(length));
        assert_eq!(prefix_length(netmask("fd00::1".parse().unwrap(), length + 64)), Some(length + 64));
    }
    assert_eq!(prefix_length("255.0.255.0".parse().unwrap()), None);
}

/// What a file that is read anew cannot change is named.
#[test]
fn parts_that_differ_are_named() {
    let before = settings(NORTH).unwrap();
    let mut after = before.clone();
    after.hosts.clear();
    assert!(after.differs(&before).is_empty());
    after.supervision += 1;
    after.resources.buffer.0 += 1;
    assert_eq!(after.differs(&before), ["supervision", "resources"]);
}

#[test]
fn sip_in_clear_is_only_for_those_who_want_it() {
    let plain = settings(NORTH).unwrap();
    assert_eq!(plain.machine(HardwareAddress([2; 6]), plain.hosts[0].key).sip.besides, None);
    let user = "[[plain-sip.users]]\nname = \"alice\"\npassword = \"secret\"\n[access]";
    let with = settings(&NORTH.replacen("[access]", user, 1)).unwrap();
    assert_eq!(with.machine(HardwareAddress([2; 6]), with.hosts[0].key).sip.besides, Some(Transport::Udp));
    assert_eq!(with.machine(HardwareAddress([2; 6]), with.hosts[0].key).sip.timers, Timers::reliable());
    assert_eq!(with.plain_sip.as_ref().unwrap().digests, [DigestAlgorithm::Sha256]);
    assert_eq!(with.differs(&plain), ["plain-sip"]);
    assert!(!format!("{with:?}").contains("secret"));
    let more = "[plain-sip]\nproxies = [\"10.1.0.9\"]\ndomain = \"net.example\"\n".to_owned() + user;
    let more = settings(&NORTH.replacen("[access]", &more, 1)).unwrap();
    let clear = more.machine(HardwareAddress([2; 6]), more.hosts[0].key).clear;
    assert_eq!((clear.proxies.len(), clear.domain.as_deref()), (1, Some("net.example")));
    assert_eq!(more.differs(&with), ["plain-sip"], "it is read once");
}
