//! Why `whimbrel send` has no connection.

use whimbrel::secure::PublicKey;

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

impl NoConnection {
    pub(super) fn into_error(self) -> anyhow::Error {
        match self {
            Self::Passing(error) | Self::Final(error) | Self::Stranger(.., error) => error,
        }
    }
}
