use tokio::sync::mpsc;
use whimbrel::Route;
use whimbrel::secure::PublicKey;

use super::*;
use crate::settings::Settings;

fn message(first: &str, method: &str) -> Vec<u8> {
    let headers =
        "Via: SIP/2.0/TLS x;branch=z9hG4bKa\r\nFrom: <sip:a@x>;tag=1\r\nTo: <sip:b@x>\r\nCall-ID: c";
    format!("{first}\r\n{headers}\r\nCSeq: 1 {method}\r\n\r\n").into_bytes()
}

/// However the words of the first line are told apart.
#[test]
fn queries_and_transfers_are_of_gateways_alone() {
    for method in [RESOURCE_QUERY, CONTEXT_TRANSFER] {
        for space in [" ", "\t", "  ", " \t"] {
            let first = format!("{method}{space}sip:target@10.2.0.1 SIP/2.0");
            assert_ne!(is_of_gateways(&message(&first, method)), Some(false), "{first:?}");
        }
        assert_eq!(is_of_gateways(&message(&format!("{method} sip:x SIP/2.0"), method)), Some(true));
        assert_eq!(is_of_gateways(&message("SIP/2.0 200 OK", method)), Some(false), "an answer");
    }
    for method in ["INVITE", "OPTIONS", "BYE"] {
        assert_eq!(is_of_gateways(&message(&format!("{method} sip:x SIP/2.0"), method)), Some(false));
    }
    assert_eq!(is_of_gateways(b"RESOURCE_QUERY"), None);
}

/// Messages 1 and 3 of a gateway that is not in the file, of one that has been taken out of it, and of a host that is.
#[test]
fn a_session_of_an_unknown_gateway_is_not_taken() {
    let mut settings: Settings = toml::from_str(include_str!("../examples/north.toml")).unwrap();
    let (news, _) = mpsc::unbounded_channel();
    let known = Acquaintances::new(&settings, news);
    let (gateway, host) = (settings.gateways[0].key, settings.hosts[0].key);
    let stranger = whimbrel::secure::Identity::generate().unwrap().public_key();
    let says = |key: PublicKey, method: &str| {
        let route =
            Route { local: "10.1.0.1:5061".parse().unwrap(), remote: "10.2.0.1:5061".parse().unwrap() };
        Arrival { route, key, message: message(&format!("{method} sip:target@10.1.0.1 SIP/2.0"), method) }
    };
    for method in [RESOURCE_QUERY, CONTEXT_TRANSFER] {
        assert_eq!(judge(&known, &says(gateway, method)), Verdict::Heard);
        assert_eq!(judge(&known, &says(stranger, method)), Verdict::Dropped);
        let Verdict::Refused(text) = judge(&known, &says(host, method)) else { panic!("a host is heard") };
        assert!(text.contains("only gateways may") && text.contains(&host.to_string()), "{text}");
    }
    assert_eq!(judge(&known, &says(host, "INVITE")), Verdict::Heard);
    settings.gateways.clear();
    known.learn(&settings);
    assert_eq!(judge(&known, &says(gateway, CONTEXT_TRANSFER)), Verdict::Dropped);
}
