use proptest::prelude::*;

use super::*;

fn ticket() -> Ticket {
    let key = Identity::from_seed(&[1; 32]).public_key();
    let addresses = ["192.0.2.7:9899", "[2001:db8::7]:9899"].map(|text| text.parse().unwrap());
    Ticket::new(key, 7, addresses.to_vec()).unwrap()
}

#[test]
fn text_is_read_again() {
    for ticket in [ticket(), ticket().at(Vec::new())] {
        let text = ticket.to_string();
        assert_eq!(text.parse::<Ticket>().as_ref(), Ok(&ticket));
        assert_eq!(format!("  {text}\n").parse::<Ticket>().as_ref(), Ok(&ticket));
        assert!(text.len() < 160, "{}", text.len());
    }
}

#[test]
fn both_ends_derive_the_same_sender() {
    let ticket = ticket();
    let read: Ticket = ticket.to_string().parse().unwrap();
    assert_eq!(read.sender().public_key(), ticket.sender().public_key());
    assert_ne!(ticket.sender().public_key(), self::ticket().sender().public_key(), "another secret");
    let elsewhere = Ticket { key: Identity::from_seed(&[2; 32]).public_key(), ..ticket.clone() };
    assert_ne!(elsewhere.sender().public_key(), ticket.sender().public_key(), "another receiver");
    assert!(ticket.trust().accepts(&ticket.key()) && !ticket.trust().accepts(&elsewhere.key()));
}

/// One letter, wherever it is, and a part of the ticket.
#[test]
fn slips_are_noticed() {
    let text = ticket().to_string();
    let mut unnoticed = 0;
    for at in PREFIX.len()..text.len() {
        let mut bent = text.clone().into_bytes();
        bent[at] = if bent[at] == b'a' { b'b' } else { b'a' };
        unnoticed += i32::from(String::from_utf8(bent).unwrap().parse::<Ticket>().is_ok());
        assert!(text[..at].parse::<Ticket>().is_err(), "cut at {at}");
    }
    assert_eq!(unnoticed, 0);
    assert_eq!("whk1abc".parse::<Ticket>(), Err(TicketError::Form));
}

#[test]
fn the_secret_is_not_shown() {
    let ticket = ticket();
    let secret = base32::encode(&*ticket.secret);
    assert!(!format!("{ticket:?}").contains(&secret[..8]));
}

proptest! {
    /// Whatever is in it, with a check that is right: an error or a ticket that is written as it was read.
    #[test]
    fn nothing_panics(body in proptest::collection::vec(any::<u8>(), 0..120)) {
        let mut bytes = body;
        let check = Sha256::digest(&bytes);
        bytes.extend_from_slice(&check[..CHECK_LEN]);
        let text = format!("{PREFIX}{}", base32::encode(&bytes));
        if let Ok(ticket) = text.parse::<Ticket>() {
            prop_assert_eq!(ticket.to_string(), text);
        }
    }
}
