//! Texts that are meant to be tickets and keys, and bytes that have the check of a ticket: the body of a fuzz target and of a test.

use crate::ticket::check;
use crate::{PublicKey, Ticket};

/// # Panics
/// If a text that is read as a ticket or as a key is not what that is written as, or if bytes are.
pub(crate) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(ticket) = text.parse::<Ticket>() {
        assert!(Ticket::is_meant_by(&text));
        assert_eq!(ticket.to_string(), text.trim().to_ascii_lowercase());
    }
    if let Ok(key) = text.parse::<PublicKey>() {
        assert!(key.to_string().eq_ignore_ascii_case(&text));
    }
    // Hardly any bytes have the right check by chance.
    let bytes = [bytes, &check(bytes)].concat();
    if let Ok(ticket) = Ticket::from_bytes(&bytes) {
        assert_eq!(ticket.to_bytes()[..], bytes);
        assert_eq!(ticket.to_string().parse().as_ref(), Ok(&ticket));
        assert!(ticket.trust().accepts(&ticket.key()));
        assert_ne!(ticket.port(), 0);
    }
}

#[cfg(test)]
#[path = "ticket_operations_tests.rs"]
mod tests;
