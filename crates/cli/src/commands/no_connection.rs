//! Why `whimbrel send` has no connection.

use whimbrel::secure::PublicKey;
use whimbrel::{CloseReason, KeyExchangeError};

use crate::acquaintance::Acquaintance;

/// Why there is no connection.
pub(super) enum NoConnection {
    /// Trying again may help.
    Passing(anyhow::Error),
    /// A clear answer, or nothing that time could change.
    Final(anyhow::Error),
    /// The host that answered has not been met before.
    Stranger(Acquaintance, PublicKey, anyhow::Error),
}

/// Whether the network, or too many others who are setting up connections, may be why an attempt has failed.
pub(super) fn may_pass(reason: &CloseReason) -> bool {
    let late = CloseReason::KeyExchange(KeyExchangeError::Late);
    match reason {
        CloseReason::Unreachable => true,
        CloseReason::AbortedByPeer { reason: text, .. } => {
            reason.is_peer_out_of_resource() || *text == late.to_string().as_bytes()
        }
        reason => *reason == late,
    }
}

impl NoConnection {
    pub(super) fn into_error(self) -> anyhow::Error {
        match self {
            Self::Passing(error) | Self::Final(error) | Self::Stranger(.., error) => error,
        }
    }
}

#[cfg(test)]
#[path = "no_connection_tests.rs"]
mod tests;
