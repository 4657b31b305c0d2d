use super::*;

fn seen(via: &str) -> Vec<Option<IpAddr>> {
    let text = format!(
        "INVITE sip:a@10.1.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 10.0.0.9;branch=z9hG4bK1\r\nVia: SIP/2.0/UDP {via};branch=z9hG4bK2\r\n\
         From: <sip:a@x>;tag=1\r\nTo: <sip:b@x>\r\nCall-ID: c\r\nCSeq: 1 INVITE\r\n\r\n"
    );
    senders(&Message::parse(text.as_bytes()).unwrap()).split_off(1)
}

/// A proxy that replaces what a sender has said of itself replaces one parameter.
#[test]
fn two_addresses_of_a_sender_are_none() {
    let [there, made_up] = ["10.1.0.66", "10.1.0.50"].map(|ip| ip.parse::<IpAddr>().ok());
    assert_eq!(seen("10.1.0.66:5077"), [there]);
    assert_eq!(seen("10.1.0.50:5077;received=10.1.0.66"), [there]);
    assert_eq!(seen("alice.example;received=10.1.0.66"), [there]);
    assert_ne!(there, made_up);
    for both in ["received=10.1.0.50;received=10.1.0.66", "Received=10.1.0.66;received=10.1.0.50"] {
        assert_eq!(seen(&format!("10.1.0.66:5077;{both}")), [None], "{both}");
    }
}
