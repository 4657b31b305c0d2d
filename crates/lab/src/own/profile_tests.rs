use super::*;

fn file(tables: &str) -> File {
    let text = format!(
        "title = \"t\"\nduration = 10\npolicies = []\n[network.n]\nrate = 1\ndelay = 1\nkind = \"wlan\"\n[host.h]\n{tables}"
    );
    toml::from_str(&text).unwrap()
}

fn of(tables: &str, policy: &str) -> Result<Config, String> {
    let file = file(tables);
    let chosen = Chosen::named(&file, policy, "policies")?;
    config(&file, &file.host["h"], "h", &chosen, policy)
}

fn said(tables: &str) -> String {
    of(tables, "seamless").unwrap_err()
}

#[test]
fn a_profile_changes_what_it_names_and_the_nearer_table_wins() {
    let config = of("[profile]\nRTO.Min = 0.3\nSACK.Delay = 0.1\n", "seamless").unwrap();
    let ms = Duration::from_millis;
    assert_eq!(
        (config.rto.min, config.sack.delay, config.rto.max),
        (ms(300), ms(100), Config::mobile().rto.max)
    );
    let tables = "profile = { Path.Max.Retrans = 3 }\n[profile]\nPath.Max.Retrans = 1\nMax.Burst = 7\n\
                  [policy.seamless.profile]\nPath.Max.Retrans = 2\nMax.Burst = \"off\"\n";
    let config = of(tables, "seamless").unwrap();
    assert_eq!(config.failure.path_max_retrans, 3, "the host's, before the policy's, before that of all");
    assert_eq!(config.congestion.burst, BurstLimit::AckClocked(u32::MAX / 2));
    let failover = of(tables, "failover").unwrap();
    assert_eq!(failover.congestion.burst, BurstLimit::AckClocked(7), "another policy has its own");
    let based = of("[profile]\nbase = \"rfc\"\nASCONF = \"on\"\n", "seamless").unwrap();
    assert_eq!(based.rto.min, Config::rfc().rto.min);
    assert_eq!(of("", "rfc").unwrap().rto.min, Config::rfc().rto.min);
}

/// Each value that is listed reaches the protocol.
#[test]
fn every_value_makes_another_configuration() {
    let usual = format!("{:?}", of("[profile]\nRTO.Initial = 1\n", "seamless").unwrap());
    for parameter in of_hosts() {
        let value = match parameter.name {
            "base" => "\"rfc\"\nASCONF = \"on\"",
            "ASCONF" | "Path.Verification" | "HB.interval" => "\"off\"",
            "Packet.Trains" => "\"on\"",
            "Start.Up" => "\"estimate\"\nPacket.Trains = \"on\"",
            "RTO.Initial" => "3",
            "SACK.Delay" | "RTO.Min" | "Clock.Granularity" => "0.15",
            "a_rwnd" => "65_536",
            "PMTU" => "600",
            "Congestion.Control" => "\"cubic\"",
            _ => "12",
        };
        let initial = if parameter.name == "RTO.Initial" { "" } else { "RTO.Initial = 1\n" };
        let tables = format!("[profile]\n{initial}{} = {value}\n", parameter.name);
        let changed = format!("{:?}", of(&tables, "seamless").unwrap());
        assert_ne!(changed, usual, "{}", parameter.name);
        assert_eq!(meaning(parameter.name), Some(parameter.says), "one name, one meaning");
    }
}

#[test]
fn what_cannot_be_is_said() {
    for (tables, expected) in [
        (
            "[profile]\nRTO.Least = 1\n",
            "profile: SCTP has no parameter called RTO.Least; there are: base, RTO.Initial (s), RTO.Min (s)",
        ),
        ("[profile]\nRTO.Min = 1\n\"RTO.Min\" = 2\n", "profile has RTO.Min twice"),
        (
            "[profile]\nRTO.Min = 2\n",
            "RTO.Initial must lie between RTO.Min and RTO.Max (RTO.Initial is 0.5, RTO.Min 2, RTO.Max 10 s)",
        ),
        ("[profile]\nSACK.Delay = 0.6\n", "profile.SACK.Delay is 0.6, and must be from 0 to 0.5 s"),
        (
            "[profile]\nHB.interval = \"never\"\n",
            "profile.HB.interval is \"never\", and must be a number, or \"off\"",
        ),
        (
            "[profile]\nbase = \"rfc\"\n",
            "the policy seamless moves a host by ASCONF, which base = \"rfc\" has not",
        ),
        (
            "[profile]\nStart.Up = \"estimate\"\n",
            "profile: Start.Up = \"estimate\" goes by what packet trains measure; say Packet.Trains = \"on\"",
        ),
        ("[profile]\nbase = \"fast\"\n", "profile.base is \"fast\", and may be mobile, rfc"),
        ("profile = { a_rwnd = 5 }\n", "host.h.profile.a_rwnd is 5.0, and must be from 4096"),
        (
            "[policy.seamless.profile]\nRTO = 1\n",
            "policy.seamless.profile: SCTP has no parameter called RTO;",
        ),
    ] {
        let error = said(tables);
        assert!(error.contains(expected), "{tables}: {error}");
    }
}

#[test]
fn a_network_has_what_a_path_has() {
    let address = IpAddr::from([10, 0, 0, 2]);
    let under = |table: &str, config: &Config| {
        let mut network = file("").network.remove("n").unwrap();
        network.profile = Some(table.parse().unwrap());
        fresh_path(("n", &network), address, config, "seamless")
    };
    let refused = under("ssthresh = 9000", &Config::mobile()).unwrap_err();
    assert!(refused.contains("no slow-start threshold") && refused.contains("\"reno\""), "{refused}");
    let mut reno = Config::mobile();
    reno.congestion.controller = Config::rfc().congestion.controller;
    let of = |table: &str| under(table, &reno);
    let path = of("Initial.Window = 3\nssthresh = 9000\nRTO.Initial = 2").unwrap().unwrap();
    let expected = FreshPath {
        address,
        initial_window: Some(InitialWindow::Packets(3)),
        ssthresh: Some(9000),
        rto_initial: Some(Duration::from_secs(2)),
    };
    assert_eq!(path, expected);
    for rto in ["0.1", "11"] {
        let error = of(&format!("RTO.Initial = {rto}")).unwrap_err();
        let expected = format!(
            "network.n.profile.RTO.Initial is {rto}, and must lie between RTO.Min and RTO.Max, which are 0.2 and 10 s under seamless"
        );
        assert!(error.contains(&expected), "{error}");
    }
    let error = of("RTO.Min = 1").unwrap_err();
    assert!(
        error.contains("a path has no parameter called RTO.Min; there are: Initial.Window (packets)"),
        "{error}"
    );
    assert!(error.contains("SCTP has once for all paths: it stands in [profile]"), "{error}");
    let error = of("speed = 1").unwrap_err();
    assert!(!error.contains("once for all paths"), "{error}");
}

/// How long a cookie has to be good for is nobody's concern who writes a file.
#[test]
fn a_handshake_may_take_as_long_as_its_values_say() {
    let config = of("[profile]\nMax.Init.Retransmits = 1000\nRTO.Max = 3600\n", "rfc").unwrap();
    assert_eq!((config.failure.max_init_retransmits, config.validate()), (1000, Ok(())));
    let usual = of("", "rfc").unwrap();
    assert_eq!(usual.cookie.key_period, Config::rfc().cookie.key_period);
    let rto = said("[profile]\nRTO.Min = 7\n");
    assert!(rto.contains("RTO.Min 7"), "{rto}");
    let other = said("[profile]\nPotentiallyFailed.Max.Retrans = 4\nPrimary.Switchover.Max.Retrans = 1\n");
    assert!(other.contains("Primary.Switchover") && !other.contains("RTO."), "{other}");
}
