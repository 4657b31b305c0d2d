use super::*;

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
