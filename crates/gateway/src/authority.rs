//! What only gateways may say.

use whimbrel_ufa::sip::{CONTEXT_TRANSFER, Message, RESOURCE_QUERY};

/// Whether a SIP message is a request that only gateways may make. `None` if it is no message: the machine does not read it, either.
pub(crate) fn is_of_gateways(message: &[u8]) -> Option<bool> {
    // As the machine reads it: whatever stands between the words.
    let message = Message::parse(message).ok()?;
    let method = message.method().to_string();
    Some(message.is_request() && [RESOURCE_QUERY, CONTEXT_TRANSFER].contains(&method.as_str()))
}

#[cfg(test)]
#[path = "authority_tests.rs"]
mod tests;
