use core::net::SocketAddr;

use super::{TRANSACTIONS_MAX, Timers};

/// What those have of the transactions who speak in the other one of two ways: they have timers of their own, and however many they are, who speaks
/// in the usual way finds room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    local: SocketAddr,
    timers: Timers,
}

impl Share {
    /// Transactions of each kind at most.
    pub(super) const MAX: usize = TRANSACTIONS_MAX / 2;
    /// And of one user, from however many addresses.
    pub(super) const PER_USER_MAX: usize = Self::MAX / 4;

    pub(super) const fn new(local: SocketAddr, timers: Timers) -> Self {
        Self { local, timers }
    }

    /// Whether messages to or from this address of ours are of it.
    pub(super) fn is_at(&self, local: SocketAddr) -> bool {
        self.local == local
    }

    pub(super) const fn timers(&self) -> Timers {
        self.timers
    }
}
