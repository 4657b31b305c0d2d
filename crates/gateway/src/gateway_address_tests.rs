use whimbrel::secure::Identity;

use super::*;

#[test]
fn gateways_are_named_by_key_and_address() {
    let key = Identity::generate().unwrap().public_key();
    for (text, address) in [
        (format!("sip:{key}@10.1.0.1"), "10.1.0.1"),
        (format!("{key}@10.1.0.1"), "10.1.0.1"),
        (format!("sip:{key}@[fd00::1]"), "fd00::1"),
    ] {
        let parsed: GatewayAddress = text.parse().unwrap();
        assert_eq!(parsed, GatewayAddress { address: address.parse().unwrap(), key });
        assert_eq!(parsed.to_string().parse(), Ok(parsed));
    }
    for (bad, complaint) in [
        ("sip:10.1.0.1".to_owned(), "sip:KEY@ADDRESS"),
        (format!("sip:{key}@north"), "no IP address"),
        ("sip:robot@10.1.0.1".to_owned(), "not a key"),
    ] {
        let text = bad.parse::<GatewayAddress>().unwrap_err();
        assert!(text.contains(complaint), "{text}");
    }
}
