//! Endpoint pair shared keys (RFC 4895 §6.1).

use std::collections::BTreeMap;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::interface::AuthKeyChange;

/// Shared keys at most, so that no list of them grows without end.
const MAX_KEYS: usize = 64;

/// An endpoint pair shared key: bytes that both hosts know and nobody else. Wiped from memory when no longer used,
/// and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedSecret(Arc<Zeroizing<Vec<u8>>>);

impl SharedSecret {
    /// A secret of any length. An empty one is the null key, which protects only against those who have not seen the
    /// handshake (RFC 4895 §9).
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Arc::new(Zeroizing::new(bytes.into())))
    }

    /// The null key.
    pub fn null() -> Self {
        Self::new([])
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl core::fmt::Debug for SharedSecret {
    /// Does not show the secret.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SharedSecret(..)")
    }
}

/// Endpoint pair shared keys by Shared Key Identifier, and which of them is used to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedKeys {
    keys: BTreeMap<u16, SharedSecret>,
    active: u16,
}

/// Why a change of shared keys was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AuthKeyError {
    /// No key has this identifier.
    #[error("there is no shared key with this identifier")]
    Unknown,
    /// The active key cannot be deleted: activate another one first (RFC 6458 §8.3.5).
    #[error("the active key cannot be deleted")]
    Active,
    /// As many keys as are allowed.
    #[error("there are too many shared keys")]
    TooMany,
    /// The association is unknown or gone.
    #[error("the association is closed")]
    Closed,
}

impl Default for SharedKeys {
    /// The null key under identifier 0: what RFC 4895 §6.1 prescribes where nothing was configured.
    fn default() -> Self {
        Self::new(0, SharedSecret::null())
    }
}

impl SharedKeys {
    /// One key, which is active. There is no null key besides: with one, whoever saw the handshake could forge
    /// chunks (RFC 4895 §9).
    pub fn new(id: u16, secret: SharedSecret) -> Self {
        Self { keys: BTreeMap::from([(id, secret)]), active: id }
    }

    /// Adds a key or replaces the one with this identifier (RFC 6458 §8.3.3).
    ///
    /// # Errors
    /// [`AuthKeyError::TooMany`] beyond 64 keys.
    pub fn set(&mut self, id: u16, secret: SharedSecret) -> Result<(), AuthKeyError> {
        if self.keys.len() >= MAX_KEYS && !self.keys.contains_key(&id) {
            return Err(AuthKeyError::TooMany);
        }
        self.keys.insert(id, secret);
        Ok(())
    }

    /// Chooses the key to send with (RFC 6458 §8.1.18). Others stay good for what the peer sends.
    ///
    /// # Errors
    /// [`AuthKeyError::Unknown`].
    pub fn activate(&mut self, id: u16) -> Result<(), AuthKeyError> {
        if !self.keys.contains_key(&id) {
            return Err(AuthKeyError::Unknown);
        }
        self.active = id;
        Ok(())
    }

    /// Forgets a key (RFC 6458 §8.3.5): what the peer sends with it is no longer accepted.
    ///
    /// # Errors
    /// [`AuthKeyError::Unknown`] or [`AuthKeyError::Active`].
    pub fn delete(&mut self, id: u16) -> Result<(), AuthKeyError> {
        if !self.keys.contains_key(&id) {
            return Err(AuthKeyError::Unknown);
        }
        if id == self.active {
            return Err(AuthKeyError::Active);
        }
        self.keys.remove(&id);
        Ok(())
    }

    /// Carries out a change.
    pub(crate) fn apply(&mut self, change: &AuthKeyChange) -> Result<(), AuthKeyError> {
        match change {
            AuthKeyChange::Set(id, secret) => self.set(*id, secret.clone()),
            AuthKeyChange::Activate(id) => self.activate(*id),
            AuthKeyChange::Delete(id) => self.delete(*id),
        }
    }

    /// Identifier of the key to send with.
    pub const fn active(&self) -> u16 {
        self.active
    }

    pub(crate) fn get(&self, id: u16) -> Option<&SharedSecret> {
        self.keys.get(&id)
    }
}

#[cfg(test)]
#[path = "shared_keys_tests.rs"]
mod tests;
