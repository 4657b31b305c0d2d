use super::*;

#[test]
fn text_is_read_again() {
    let key = PublicKey([7; 32]);
    let text = key.to_string();
    assert_eq!(text.len(), 56);
    assert_eq!(text.parse(), Ok(key));
    assert_eq!(text.to_uppercase().parse::<PublicKey>(), Err(PublicKeyError));
    assert_eq!(PublicKey::try_from(&key.to_peer_key()), Ok(key));
}

#[test]
fn other_text_is_refused() {
    let text = PublicKey([7; 32]).to_string();
    for other in ["", "whk1", "whk2aaaa", &text[..55], &format!("{text}a"), "whm1abc"] {
        assert_eq!(other.parse::<PublicKey>(), Err(PublicKeyError), "{other}");
    }
}

#[test]
fn only_ed25519_keys_are_read() {
    let spki = [&SPKI[..], &[9; 32]].concat();
    assert_eq!(PublicKey::from_spki(&spki), Some(PublicKey([9; 32])));
    assert_eq!(PublicKey::from_spki(&spki[..43]), None);
    let mut other = spki;
    other[8] = 0x71;
    assert_eq!(PublicKey::from_spki(&other), None);
}
