use core::net::SocketAddr;

use super::{TRANSACTIONS_MAX, Timers};

/// What those have of the transactions who speak in other ways than the usual one: they have timers of their own, and however many they are, who speaks
/// in the usual way finds room.
#[derive(Clone, Default, Debug)]
pub(super) struct Share(Vec<(SocketAddr, Timers)>);

impl Share {
    /// Transactions of each kind at most.
    pub(super) const MAX: usize = TRANSACTIONS_MAX / 2;
    /// And of one user, from however many addresses.
    pub(super) const PER_USER_MAX: usize = Self::MAX / 4;

    /// Messages to and from this address of ours are of it, too.
    pub(super) fn add(&mut self, local: SocketAddr, timers: Timers) {
        self.0.push((local, timers));
    }

    /// Whether messages to or from this address of ours are of it.
    pub(super) fn is_at(&self, local: SocketAddr) -> bool {
        self.timers(local).is_some()
    }

    /// Those of what is said there.
    pub(super) fn timers(&self, local: SocketAddr) -> Option<Timers> {
        self.0.iter().find(|(at, _)| *at == local).map(|(_, timers)| *timers)
    }
}
