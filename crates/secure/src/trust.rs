use std::collections::BTreeSet;

use crate::PublicKey;

/// Whose keys are accepted. Both ends of an association check the other's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Those alone.
    Keys(BTreeSet<PublicKey>),
    /// Everybody's. Packets are encrypted, for whoever is at the other end: what comes is from anyone, and who sends does not know to whom.
    Anyone,
}

impl Trust {
    /// These keys alone.
    pub fn keys(keys: impl IntoIterator<Item = PublicKey>) -> Self {
        Self::Keys(keys.into_iter().collect())
    }

    /// Whether the owner of this key is accepted.
    #[must_use]
    pub fn accepts(&self, key: &PublicKey) -> bool {
        match self {
            Self::Keys(keys) => keys.contains(key),
            Self::Anyone => true,
        }
    }
}
