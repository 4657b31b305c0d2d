use proptest::prelude::*;

use super::*;

fn read(lines: &[&str]) -> Result<Interfaces, String> {
    let mut known = Interfaces::default();
    for line in lines {
        apply(&mut known, line.as_bytes())?;
    }
    Ok(known)
}

#[test]
fn lines_add_up() {
    let known = read(&[
        r#"{"interface": "wlan0", "kind": "wifi", "up": true, "addresses": ["192.0.2.7", "2001:db8::7"]}"#,
        "",
        r#"  {"interface": "wlan0", "signal_dbm": -61.5, "handover_complete": true}"#,
        r#"{"interface": "wwan0", "metered": true, "bits_per_second": 20000000, "rank": 1, "selected": true}"#,
        r#"{"interface": "wlan0", "up": false, "going_down": true, "handover_complete": true}"#,
    ])
    .unwrap();
    let wlan = &known.0["wlan0"];
    assert_eq!(wlan.up, Some(false));
    let expected = InterfaceProperties {
        kind: Some(InterfaceKind::WirelessLan),
        signal: Some(ReceivedPower::from_dbm(-61.5)),
        going_down: true,
        warnings: 1,
        handovers: 2,
        ..InterfaceProperties::default()
    };
    assert_eq!(wlan.properties, expected);
    let expected =
        ["192.0.2.7", "2001:db8::7"].map(|ip| InterfaceAddress { ip: ip.parse().unwrap(), asked_for: true });
    assert_eq!(wlan.addresses, expected);
    let wwan = &known.0["wwan0"];
    let expected = InterfaceProperties {
        cost: Some(Cost::Metered),
        rate: Some(20_000_000),
        rank: Some(1),
        orders: 1,
        ..InterfaceProperties::default()
    };
    assert_eq!(wwan.properties, expected);
    assert_eq!(wwan.up, None);
}

#[test]
fn a_network_may_say_how_it_calls_ipv4_addresses() {
    let told = r#"{"interface": "a", "nat64": "2001:db8:64::/96"}"#;
    let prefix =
        |lines: &[&str]| read(lines).map(|known| known.0["a"].properties.nat64.map(|it| it.to_string()));
    assert_eq!(prefix(&[told]), Ok(Some("2001:db8:64::/96".into())));
    assert_eq!(prefix(&[told, r#"{"interface": "a", "up": true}"#]), prefix(&[told]));
    assert_eq!(prefix(&[told, r#"{"interface": "a", "nat64": "none"}"#]), Ok(None));
    for wrong in ["2001:db8:64::", "2001:db8:64::/97", "10.0.0.0/8", ""] {
        let error = prefix(&[&format!(r#"{{"interface": "a", "nat64": "{wrong}"}}"#)]).unwrap_err();
        assert!(error.contains("32, 40, 48, 56, 64 or 96 bits"), "{error}");
    }
}

#[test]
fn kinds_have_their_names() {
    for (name, kind) in [
        ("ethernet", InterfaceKind::Wired),
        ("wifi", InterfaceKind::WirelessLan),
        ("cellular", InterfaceKind::Cellular),
        ("tunnel", InterfaceKind::Tunnel),
        ("loopback", InterfaceKind::Loopback),
    ] {
        let known = read(&[&format!(r#"{{"interface": "a", "kind": "{name}"}}"#)]).unwrap();
        assert_eq!(known.0["a"].properties.kind, Some(kind));
    }
}

#[test]
fn warnings_can_be_repeated_and_taken_back() {
    let warning = r#"{"interface": "a", "going_down": true}"#;
    let warned = |lines: &[&str]| {
        let properties = read(lines).unwrap().0["a"].properties;
        (properties.going_down, properties.warnings)
    };
    assert_eq!(warned(&[warning, r#"{"interface": "a", "up": true}"#]), (true, 1), "as it was");
    assert_eq!(warned(&[warning, warning]), (true, 2));
    assert_eq!(warned(&[warning, r#"{"interface": "a", "going_down": false}"#]), (false, 1));
}

#[test]
fn an_interface_can_go() {
    let known = read(&[r#"{"interface": "a", "up": true}"#, r#"{"interface": "a", "gone": true}"#]).unwrap();
    assert!(known.0.is_empty());
}

#[test]
fn errors_say_what_is_wrong_and_nothing_of_the_line_counts() {
    let many: Vec<String> = (0..=ADDRESSES_MAX).map(|n| format!("\"10.0.0.{n}\"")).collect();
    let many = format!(r#"{{"interface": "a", "addresses": [{}]}}"#, many.join(","));
    let long = format!(r#"{{"interface": "{}"}}"#, "a".repeat(LINE_BYTES_MAX));
    for (line, words) in [
        ("wlan0 up", r#"column 1; expected an object like {"interface": "wlan0", "up": true}"#),
        (r#"{"interface": "a""#, "EOF"),
        (r#"{"up": true}"#, "missing field `interface`"),
        (r#"{"interface": "a", "singal_dbm": -60}"#, "unknown field `singal_dbm`, expected one of"),
        (r#"{"interface": "a", "kind": "lte"}"#, "unknown variant `lte`"),
        (r#"{"interface": "a", "signal_dbm": 61}"#, "impossible"),
        (r#"{"interface": "a", "signal_dbm": -1e9}"#, "impossible"),
        (r#"{"interface": "", "up": true}"#, "not an interface's name"),
        (r#"{"interface": "a b", "up": true}"#, "not an interface's name"),
        (r#"{"interface": "../x", "up": true}"#, "not an interface's name"),
        (r#"{"interface": "a", "addresses": ["10.0.0.1/24"]}"#, "invalid IP address"),
        (r#"{"interface": "a", "addresses": ["0.0.0.0"]}"#, "not the address of a host"),
        (r#"{"interface": "a", "addresses": ["ff02::1"]}"#, "not the address of a host"),
        (r#"{"interface": "a", "bits_per_second": -1}"#, "invalid value"),
        (&many, "more than 32 addresses"),
        (&long, "longer than 4096 bytes"),
    ] {
        let mut known = Interfaces::default();
        let error = apply(&mut known, line.as_bytes()).expect_err(line);
        assert!(error.contains(words), "{line}: {error}");
        assert_eq!(known, Interfaces::default());
    }
}

#[test]
fn there_is_an_end_to_interfaces() {
    let mut known = Interfaces::default();
    for number in 0..Interfaces::MAX {
        apply(&mut known, format!(r#"{{"interface": "i{number}", "up": true}}"#).as_bytes()).unwrap();
    }
    assert!(apply(&mut known, br#"{"interface": "more", "up": true}"#).unwrap_err().contains("256"));
    // Those that are known can still change.
    apply(&mut known, br#"{"interface": "i7", "up": false}"#).unwrap();
    assert_eq!(known.0.len(), Interfaces::MAX);
}

proptest! {
    #[test]
    fn nonsense_does_no_harm(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = apply(&mut Interfaces::default(), &line);
    }

    #[test]
    fn nearly_right_lines_do_no_harm(cut in 0_usize..90, change in any::<(usize, u8)>()) {
        let line = br#"{"interface": "wlan0", "up": true, "addresses": ["192.0.2.7"], "signal_dbm": -61.5}"#;
        let mut line = line[..cut.min(line.len())].to_vec();
        if !line.is_empty() {
            let place = change.0 % line.len();
            line[place] = change.1;
        }
        let _ = apply(&mut Interfaces::default(), &line);
    }
}
