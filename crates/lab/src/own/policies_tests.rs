use super::*;

fn file(tables: &str) -> File {
    let text = format!(
        "title = \"t\"\nduration = 10\npolicies = []\n[network.n]\nrate = 1\ndelay = 1\nkind = \"wlan\"\n{tables}"
    );
    toml::from_str(&text).unwrap()
}

fn said(tables: &str, name: &str) -> String {
    match Chosen::named(&file(tables), name, "policies") {
        Ok(chosen) => format!("{:?}", chosen.policy(&Seed::from_u64(1))),
        Err(error) => error,
    }
}

#[test]
fn a_policy_is_as_usual_unless_told_otherwise() {
    for (name, usual) in [
        ("seamless", format!("{:?}", Seamless::policy(Pace::MOBILE))),
        ("failover", format!("{:?}", Failover::policy(Pace::MOBILE))),
        ("fastest-network", format!("{:?}", FastestNetwork::policy(Pace::MOBILE))),
    ] {
        assert_eq!(said("", name), format!("Some({usual})"), "{name}");
    }
    assert_eq!((said("", "rfc"), said("", "mobile-ip")), ("None".to_owned(), "None".to_owned()));
}

/// Each parameter that a policy lists reaches the policy.
#[test]
fn every_parameter_makes_another_policy() {
    for (name, kind) in KINDS {
        let usual = said("", name);
        for parameter in kind.parameters() {
            let value = match parameter.name {
                "high_from" => "-70",
                _ if parameter.says.starts_with("dBm") => "-85",
                _ => "7",
            };
            let changed =
                said(&format!("[policy.mine]\nkind = \"{name}\"\n{} = {value}\n", parameter.name), "mine");
            assert!(
                changed.starts_with("Some(") && changed != usual,
                "{name}: {}: {changed}",
                parameter.name
            );
            assert_eq!(meaning(parameter.name), Some(parameter.says), "one name, one meaning");
        }
    }
}

#[test]
fn what_is_unknown_is_answered_with_what_there_is() {
    for (tables, name, expected) in [
        (
            "",
            "magic",
            "policies: there is no policy called magic; there are: seamless, failover, fastest-network",
        ),
        (
            "[policy.mine]\nkind = \"magic\"\n",
            "mine",
            "policy.mine: its kind is magic, and may be seamless, failover",
        ),
        (
            "[policy.mine]\nkind = \"seamless\"\nlow = -70\n",
            "mine",
            "seamless has no parameter called low; there are: low_below (dBm), high_from (dBm), horizon (s), dwell (s)",
        ),
        ("[policy.rfc]\ndwell = 1\n", "rfc", "rfc has no parameter called dwell; there are: it has none"),
        (
            "[policy.seamless]\ndwell = -1\n",
            "seamless",
            "policy.seamless.dwell is -1.0, and must be from 0 to 86400 s",
        ),
        (
            "[policy.seamless]\nmoves = 1.5\n",
            "seamless",
            "policy.seamless.moves is 1.5, and must be a whole number",
        ),
        (
            "[policy.seamless]\ndwell = \"long\"\n",
            "seamless",
            "policy.seamless.dwell is \"long\", and must be a number",
        ),
        ("[policy.seamless]\nlow_below = -70\n", "seamless", "low_below must not be above high_from"),
        (
            "[policy.signal-strength]\nprimary = -99\n",
            "signal-strength",
            "reception must not be above primary",
        ),
        ("[policy.mobile-ip.profile]\nRTO.Min = 1\n", "mobile-ip", "a profile is SCTP's"),
    ] {
        let error = said(tables, name);
        assert!(error.contains(expected), "{tables}: {error}");
    }
}

/// What the radio does is not said twice.
#[test]
fn address_management_is_told_of_the_radio() {
    let cell = |radio: &str| format!("cell = {{ at = [0, 0], radius = 9{radio} }}\n");
    let network = |name: &str, radio: &str| {
        format!("[network.{name}]\nrate = 1\ndelay = 1\nkind = \"wlan\"\n{}", cell(radio))
    };
    let radio = ", radio = \"r\"";
    // The first line is of the network that every file here has.
    let two = cell(radio) + &network("b", radio);
    let handover = |tables: &str| said(tables, "signal-strength");
    assert!(handover(&two).contains("handover: Hard"), "{}", handover(&two));
    assert!(handover(&format!("{two}[radio.r]\nhandover = \"soft\"\n")).contains("handover: Soft"));
    let one = cell(radio) + &network("b", "");
    assert!(handover(&one).contains("handover: Soft"), "of one cell there is no handover");
    let beside = two + &network("c", "");
    assert!(handover(&beside).contains("give the radio handover = \"soft\""), "{}", handover(&beside));
}
