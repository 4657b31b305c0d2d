//! Why the receiving end of a transfer stops.

use super::protocol::{Malformed, VERSION};

/// Why a transfer cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    /// The peer broke the protocol.
    #[error("the peer does not speak the file-transfer protocol: {0}")]
    Malformed(Malformed),
    /// The peer speaks another version.
    #[error("the peer speaks version {0} of the file-transfer protocol, we speak {VERSION}")]
    Version(u16),
    /// The peer gave up.
    #[error("the peer gave up: {0}")]
    Fatal(String),
    /// Our own side of the connection is gone; nobody listens any more.
    #[error("the connection is gone")]
    Gone,
}

// Not `#[from]`: the text has its reason in it already, and as a source it would be told twice.
impl From<Malformed> for Stop {
    fn from(reason: Malformed) -> Self {
        Self::Malformed(reason)
    }
}
