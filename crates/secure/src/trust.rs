use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use crate::PublicKey;

/// Whose keys are accepted. Both ends of an association check the other's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Those alone.
    Keys(BTreeSet<PublicKey>),
    /// Those alone that are in it at the time.
    Keyring(Keyring),
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
            Self::Keyring(keyring) => keyring.contains(key),
            Self::Anyone => true,
        }
    }
}

/// Keys that are accepted, which may become others while endpoints run. A change counts from the next handshake on.
///
/// Its clones are the same keyring, so that a program which is refused by a host that it does not know
/// ([`KeyExchangeError::UnknownPeer`](whimbrel_proto::KeyExchangeError::UnknownPeer)) can ask its user, add the key and connect again.
///
/// ```
/// use whimbrel_secure::{Identity, Keyring, Trust};
///
/// let keyring = Keyring::default();
/// let trust = Trust::Keyring(keyring.clone());
/// let robot = Identity::generate()?.public_key();
/// assert!(!trust.accepts(&robot));
/// keyring.add(robot);
/// assert!(trust.accepts(&robot));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Keyring(Arc<RwLock<BTreeSet<PublicKey>>>);

impl Keyring {
    /// Accepts this key, too.
    pub fn add(&self, key: PublicKey) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key);
    }

    /// Accepts these keys and no others. Associations that are up go on until their keys are renewed.
    pub fn replace(&self, keys: impl IntoIterator<Item = PublicKey>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = keys.into_iter().collect();
    }

    /// Whether this key is accepted.
    #[must_use]
    pub fn contains(&self, key: &PublicKey) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(key)
    }

    /// The keys that are accepted now.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<PublicKey> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Two that accept the same keys now may differ later: each is equal to its clones alone.
impl PartialEq for Keyring {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Keyring {}
