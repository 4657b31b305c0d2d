//! Whether two ends can protect their association, and who begins (chunk draft §4.1, §5.1).

use smallvec::SmallVec;
use whimbrel_wire::Cause;
use whimbrel_wire::draft::{
    CAUSE_INCOMPATIBLE_ROLES, CAUSE_MISSING_SUPPORT, CAUSE_NO_COMMON_METHOD, CAUSE_TIE_BREAKER_COLLISION,
    KeyManagement, KeyRoles,
};

use super::exchange::{KeyContext, KeyExchanges, KeyRole};
use crate::interface::CloseReason;

/// Bytes of a DTLS Key Management parameter that are kept at most, so that a cookie does not grow without bound: 55 methods.
pub(crate) const MAX_PARAMETER: usize = 64;

/// What the peer has said of keys, and what both ends have said altogether.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PeerProtection {
    /// Its DTLS Key Management parameter as sent, without padding.
    pub(crate) parameter: SmallVec<[u8; 16]>,
    /// See [`super::transcript::digest`].
    pub(crate) digest: [u8; 32],
}

/// Why a peer's INIT or INIT ACK is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// It says nothing of keys.
    Missing,
    /// It knows no method that we know.
    NoCommonMethod,
    /// Both could only begin, or only answer.
    Roles,
    /// Both can do either and have drawn the same number.
    TieBreaker,
}

impl Refusal {
    /// The error cause that says so.
    pub(crate) const fn cause(self) -> Cause<'static> {
        let code = match self {
            Self::Missing => CAUSE_MISSING_SUPPORT,
            Self::NoCommonMethod => CAUSE_NO_COMMON_METHOD,
            Self::Roles => CAUSE_INCOMPATIBLE_ROLES,
            Self::TieBreaker => CAUSE_TIE_BREAKER_COLLISION,
        };
        Cause::Unknown { code, bytes: &[] }
    }

    /// Why the association does not come to be.
    pub(crate) const fn reason(self) -> CloseReason {
        match self {
            Self::Missing => CloseReason::PeerUnprotected,
            Self::NoCommonMethod => CloseReason::Refused("the peer agrees on keys in another way"),
            Self::Roles => {
                CloseReason::Refused("neither end listens, and one of them has to for keys to be agreed on")
            }
            Self::TieBreaker => CloseReason::Refused("both ends drew the same number; try again"),
        }
    }
}

/// Our parameter. `random` belongs to our Verification Tag and follows the same rules, see [`Randoms`](crate::auth::offer::Randoms).
pub(crate) fn own(exchanges: &dyn KeyExchanges, random: &[u8; 32], roles: KeyRoles) -> Vec<u8> {
    let [b0, b1, b2, b3, ..] = *random;
    let tie_breaker = u32::from_be_bytes([b0, b1, b2, b3]);
    KeyManagement { tie_breaker, roles, restart: false, methods: exchanges.methods() }.to_bytes()
}

/// What follows from our parameter and the peer's: our role, and what the keys depend on.
pub(crate) fn agree(own: &[u8], peer: Option<&[u8]>) -> Result<(KeyRole, KeyContext), Refusal> {
    let bytes = peer.filter(|bytes| bytes.len() <= MAX_PARAMETER).ok_or(Refusal::Missing)?;
    let (Some(ours), Some(peer)) = (KeyManagement::read(own), KeyManagement::read(bytes)) else {
        return Err(Refusal::Missing);
    };
    if !ours.methods.iter().any(|method| peer.methods.contains(method)) {
        return Err(Refusal::NoCommonMethod);
    }
    let role = role(&ours, &peer)?;
    let (client, server) = match role {
        KeyRole::Client => (own, bytes),
        KeyRole::Server => (bytes, own),
    };
    Ok((role, KeyContext { client: client.to_vec(), server: server.to_vec() }))
}

fn role(own: &KeyManagement<'_>, peer: &KeyManagement<'_>) -> Result<KeyRole, Refusal> {
    let (own_roles, peer_roles) = (own.roles, peer.roles);
    let begins = own_roles.client && peer_roles.server;
    let answers = own_roles.server && peer_roles.client;
    match (begins, answers) {
        (true, false) => Ok(KeyRole::Client),
        (false, true) => Ok(KeyRole::Server),
        (false, false) => Err(Refusal::Roles),
        (true, true) => match own.tie_breaker.cmp(&peer.tie_breaker) {
            core::cmp::Ordering::Less => Ok(KeyRole::Client),
            core::cmp::Ordering::Greater => Ok(KeyRole::Server),
            core::cmp::Ordering::Equal => Err(Refusal::TieBreaker),
        },
    }
}

#[cfg(test)]
#[path = "negotiate_tests.rs"]
mod tests;
