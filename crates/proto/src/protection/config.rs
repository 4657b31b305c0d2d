use std::sync::Arc;

use super::exchange::KeyExchanges;

/// Whether packets are protected. There is nothing in between: what is protected only if the peer likes is not protected from whoever changes
/// what the peer says.
#[derive(Clone, Debug, Default)]
pub enum Security {
    /// Packets go in clear, or authenticated as [`AuthConfig`](crate::AuthConfig) says. A peer that requires protection is refused by itself.
    #[default]
    Off,
    /// Associations are encrypted and both ends authenticated, with keys that these exchanges agree on; a peer that cannot is refused.
    /// [`AuthConfig`](crate::AuthConfig) does not count: the two exclude each other (chunk draft §3.2).
    Required(Arc<dyn KeyExchanges>),
}

impl Security {
    /// Whether peers without protection are refused.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        matches!(self, Self::Required(_))
    }
}
