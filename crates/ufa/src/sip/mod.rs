//! SIP (RFC 3261) as far as handovers need it: messages, the headers of paper d10, dialogs and transactions. Syntax is `ezk-sip-types`'.

mod bad_request;
mod config;
mod context;
mod dialog;
mod headers;
mod message;
mod parameters;
mod path;
mod transaction;
mod via;

pub use bad_request::BadRequest;
pub(crate) use bad_request::is_recognized;
pub use config::{SipConfig, Transport};
pub use context::{BadContext, Context};
pub use dialog::{Contact, Dialog};
pub use headers::{
    ALLOCATED_THROUGHPUT, APPLI_CONFIG, APPLICATION, AppliConfig, BDP, BadHeader, HardwareAddress,
    TERMINAL_CONFIG, TerminalSettings, number,
};
pub use message::{Message, NotSip, Token, addressed, is_user, response};
pub use path::{BadPath, Path, place};
pub(crate) use path::{uri_text, values};
pub use transaction::{ClientId, Happening, RINGING, RINGING_MAX, Repeats, ServerId, Timers, Transactions};
pub(crate) use via::senders;

/// The port of SIP over UDP.
pub const SIP_PORT: u16 = Transport::Udp.port();

/// The method of messages 1 and 2.
pub const RESOURCE_QUERY: &str = "RESOURCE_QUERY";

/// Why a session ends (RFC 3326).
pub(crate) const REASON: &str = "Reason";

/// The gateway ends, and the association goes on: service is unavailable (RFC 3261 §21.5.4).
pub(crate) const GATEWAY_ENDS: &str = "SIP;cause=503;text=\"the gateway ends\"";

/// The method of messages 3 and 4.
pub const CONTEXT_TRANSFER: &str = "CONTEXT_TRANSFER";

#[cfg(test)]
mod bad_request_tests;
#[cfg(test)]
mod rfc4475_tests;
