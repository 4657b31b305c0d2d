//! What only gateways may say.

use whimbrel_ufa::sip::{CONTEXT_TRANSFER, Message, RESOURCE_QUERY};

use crate::acquaintances::Acquaintances;
use crate::connections::Arrival;

/// What becomes of a SIP message that has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The machine hears it.
    Heard,
    /// Nobody does.
    Dropped,
    /// Nobody does, and whoever runs the gateway is told so.
    Refused(String),
}

/// Whether whoever has sent a message may say that.
pub(crate) fn judge(known: &Acquaintances, arrival: &Arrival) -> Verdict {
    // It may have come before the file was read anew.
    if !known.trusted().contains(&arrival.key) {
        return Verdict::Dropped;
    }
    // The machine refuses what is no message.
    if is_of_gateways(&arrival.message) == Some(true) && !known.is_gateway(&arrival.key) {
        return Verdict::Refused(format!(
            "{} asks for what only gateways may, with the key {}",
            arrival.route.remote, arrival.key
        ));
    }
    Verdict::Heard
}

/// Whether a SIP message is a request that only gateways may make. `None` if it is no message: the machine does not read it, either.
fn is_of_gateways(message: &[u8]) -> Option<bool> {
    // As the machine reads it: whatever stands between the words.
    let message = Message::parse(message).ok()?;
    let method = message.method().to_string();
    Some(message.is_request() && [RESOURCE_QUERY, CONTEXT_TRANSFER].contains(&method.as_str()))
}

#[cfg(test)]
#[path = "authority_tests.rs"]
mod tests;
