//! What an endpoint wants of authentication.

use whimbrel_wire::chunk_type;

use super::chunk_types::can_be_required;
use super::shared_keys::SharedKeys;

/// Authentication parameters (RFC 4895). They hold for the whole life of an endpoint (§6.1), but for the keys, which
/// [`Command::ChangeAuthKey`](crate::Command::ChangeAuthKey) changes.
#[derive(Clone, Debug)]
pub struct AuthConfig {
    /// Whether authentication is offered to peers and accepted from them.
    pub support: AuthSupport,
    /// The shared keys that associations begin with.
    pub keys: SharedKeys,
    /// Digests the peer may use, most wanted first. SHA-1 must be among them (RFC 4895 §6.1). What is sent uses the
    /// first one of the peer's list that is also in this one.
    pub algorithms: Vec<HmacAlgorithm>,
    /// Chunk types (see [`whimbrel_wire::chunk_type`]) that are only accepted authenticated, in addition to those
    /// that dynamic addresses need. While this is not empty, a peer without authentication is refused: one that
    /// cannot fulfil the demand, or whose answer was tampered with so that it seems so.
    pub required: Vec<u8>,
}

/// Whether an endpoint takes part in authentication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuthSupport {
    /// AUTH is an unknown chunk.
    Off,
    /// Every INIT offers it.
    Offered,
}

/// A digest for the HMAC of AUTH chunks (RFC 4895 §3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HmacAlgorithm {
    /// Identifier 1, 20 bytes.
    Sha1,
    /// Identifier 3, 32 bytes.
    Sha256,
}

impl HmacAlgorithm {
    /// The HMAC Identifier.
    pub const fn id(self) -> u16 {
        match self {
            Self::Sha1 => 1,
            Self::Sha256 => 3,
        }
    }

    /// The algorithm with this HMAC Identifier.
    pub const fn from_id(id: u16) -> Option<Self> {
        match id {
            1 => Some(Self::Sha1),
            3 => Some(Self::Sha256),
            _ => None,
        }
    }

    /// Bytes of the HMAC.
    pub const fn mac_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// Every chunk type that is handled here and can be authenticated (RFC 4895 §3.2 forbids INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH).
const EVERYTHING: [u8; 12] = [
    chunk_type::DATA,
    chunk_type::SACK,
    chunk_type::HEARTBEAT,
    chunk_type::HEARTBEAT_ACK,
    chunk_type::ABORT,
    chunk_type::SHUTDOWN,
    chunk_type::SHUTDOWN_ACK,
    chunk_type::ERROR,
    chunk_type::COOKIE_ECHO,
    chunk_type::COOKIE_ACK,
    chunk_type::ASCONF,
    chunk_type::ASCONF_ACK,
];

/// Chunk types in [`AuthConfig::required`] at most.
const MAX_REQUIRED: usize = 32;

impl AuthConfig {
    /// No authentication.
    pub fn off() -> Self {
        Self { support: AuthSupport::Off, ..Self::offered() }
    }

    /// Authentication with the null key, SHA-256 before SHA-1, for whatever an extension in use requires.
    pub fn offered() -> Self {
        Self {
            support: AuthSupport::Offered,
            keys: SharedKeys::default(),
            algorithms: vec![HmacAlgorithm::Sha256, HmacAlgorithm::Sha1],
            required: Vec::new(),
        }
    }

    /// The same with every chunk type required that can be authenticated: what was not sent by a holder of the keys is dropped without a
    /// word, so that nobody who sees the traffic can end an association, write into it, or make its sender believe anything.
    ///
    /// A peer that has lost the association cannot say so either: its ABORT is not believed, and the association lasts until its
    /// patience is over or that peer connects again.
    ///
    /// ```
    /// let auth = whimbrel_proto::AuthConfig::offered().requiring_everything();
    /// assert!(auth.required.contains(&whimbrel_wire::chunk_type::DATA));
    /// ```
    #[must_use]
    pub fn requiring_everything(self) -> Self {
        Self { required: EVERYTHING.to_vec(), ..self }
    }

    /// What is wrong with it.
    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        let check = |ok: bool, what| if ok { Ok(()) } else { Err(what) };
        check(
            self.algorithms.contains(&HmacAlgorithm::Sha1),
            "HMAC with SHA-1 must be supported (RFC 4895 §6.1)",
        )?;
        check(self.algorithms.len() <= 2, "an HMAC algorithm must be listed once")?;
        check(
            self.required.iter().copied().all(can_be_required),
            "INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH cannot be authenticated (RFC 4895 §3.2)",
        )?;
        check(self.required.len() <= MAX_REQUIRED, "at most 32 chunk types can be required authenticated")?;
        check(
            self.support == AuthSupport::Offered || self.required.is_empty(),
            "authenticated chunks can be required only where authentication is offered",
        )
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
