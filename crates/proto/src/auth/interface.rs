//! How users change shared keys, and what they hear of them (RFC 6458 §6.1.8, §8.1.18, §8.3).

use super::shared_keys::{AuthKeyError, SharedSecret};
use crate::interface::AssociationId;

/// Whose shared keys change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuthScope {
    /// Those of one association.
    Association(AssociationId),
    /// Those that associations to come begin with.
    Future,
    /// Those of every association there is, and of those to come.
    All,
}

/// A change of shared keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthKeyChange {
    /// Add a key, or replace the one with this Shared Key Identifier (RFC 6458 §8.3.3). It is accepted from the peer from
    /// now on, and used to send once it is activated.
    Set(u16, SharedSecret),
    /// Send with this key from now on (RFC 6458 §8.1.18).
    Activate(u16),
    /// Forget this key, which must not be the active one (RFC 6458 §8.3.5). What the peer still sends with it is
    /// dropped.
    Delete(u16),
}

impl AuthKeyChange {
    /// The Shared Key Identifier.
    pub const fn key(&self) -> u16 {
        match self {
            Self::Set(id, _) | Self::Activate(id) | Self::Delete(id) => *id,
        }
    }
}

/// What there is to say about a shared key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuthKeyNews {
    /// The peer sends with this key now, and has not done so before (SCTP_AUTH_NEW_KEY of RFC 6458 §6.1.8).
    InUse,
    /// The peer has sent with a key that is not known here; what it authenticated was dropped (RFC 4895 §6.3). Time to
    /// provide it, or someone guesses.
    Unknown,
    /// A [`AuthKeyChange`] was refused.
    Refused(AuthKeyError),
}
