//! SIP (RFC 3261) as far as handovers need it: messages, the headers of paper d10, dialogs and transactions. Syntax is `ezk-sip-types`'.

mod context;
mod dialog;
mod headers;
mod message;
mod parameters;
mod transaction;

pub use context::{BadContext, Context};
pub use dialog::Dialog;
pub use headers::{
    ALLOCATED_THROUGHPUT, APPLI_CONFIG, APPLICATION, AppliConfig, BDP, BadHeader, HardwareAddress,
    TERMINAL_CONFIG, TerminalSettings, number,
};
pub use message::{Message, NotSip, Token, addressed, response};
pub use transaction::{ClientId, Happening, ServerId, Timers, Transactions};

/// The port of SIP over UDP (RFC 3261 §19.1.2).
pub const SIP_PORT: u16 = 5060;

/// The method of messages 1 and 2.
pub const RESOURCE_QUERY: &str = "RESOURCE_QUERY";

/// The method of messages 3 and 4.
pub const CONTEXT_TRANSFER: &str = "CONTEXT_TRANSFER";
