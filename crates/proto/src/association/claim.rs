//! What an association makes of the addresses of its peer.

use core::net::SocketAddr;

use smallvec::SmallVec;

use super::{Association, Phase};

/// What speaks for an address being the peer's, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Claim {
    /// It has answered with a nonce that was sent there (RFC 9260 §5.4).
    Proved,
    /// The association is still being set up: the user has named the address, or the peer that the user has named.
    Attempted,
    /// The peer has listed it. It may be somebody else's (RFC 5062 §2).
    Listed,
}

impl Association {
    /// Addresses of the peer that lead to this association.
    pub(crate) fn claims(&self) -> SmallVec<[(SocketAddr, Claim); 2]> {
        match &self.phase {
            Phase::CookieWait(wait) => {
                wait.remotes().iter().map(|&remote| (remote, Claim::Attempted)).collect()
            }
            Phase::CookieEchoed(echoed) => {
                echoed.open.paths.remotes().into_iter().map(|remote| (remote, Claim::Attempted)).collect()
            }
            Phase::Open(open) => {
                let claim = |remote: &SocketAddr| {
                    if open.is_confirmed(remote.ip()) { Claim::Proved } else { Claim::Listed }
                };
                open.paths.remotes().into_iter().map(|remote| (remote, claim(&remote))).collect()
            }
            Phase::Closed => SmallVec::new(),
        }
    }
}
