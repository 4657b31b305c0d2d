//! The State Cookie (RFC 9260 §5.1.3): everything about an association that does not exist yet, kept by the peer.

use core::net::IpAddr;
use core::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use smallvec::SmallVec;
use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_wire::Tsn;

use crate::association::peer_init::Families;
use crate::auth::offer::Randoms;
use crate::endpoint::Serial;
use crate::negotiate::Agreement;

mod codec;

/// The format below. A cookie with another version is not ours, or from before an update.
const VERSION: u8 = 3;

/// Version and key number.
const HEADER_LEN: usize = 2;

/// HMAC-SHA-256, not shortened.
const MAC_LEN: usize = 32;

/// The most peer addresses a cookie carries; further ones are left out when it is made.
pub(crate) const MAX_COOKIE_ADDRESSES: usize = 64;

/// What the receiver of an INIT needs to know when COOKIE ECHO comes back. Readable for everyone on the way, so
/// nothing here may be secret: tie-tags are random nonces, not the tags of the existing association
/// (RFC 9260 §5.2.2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CookieContents {
    /// When the cookie was made.
    pub(crate) created: Instant,
    /// How long it is good for from then on. Judged by the caller: a stale cookie is answered with an ERROR
    /// (RFC 9260 §5.1.5 rule 3).
    pub(crate) lifetime: Duration,
    /// The verification tag we chose for packets to us.
    pub(crate) local_tag: u32,
    /// The nonces that stand for our tag and the peer's of an association that existed when the INIT came; 0 if there was none.
    pub(crate) tie_tags: (u64, u64),
    /// Our SCTP port.
    pub(crate) local_port: u16,
    /// The peer's SCTP port.
    pub(crate) peer_port: u16,
    /// The first TSN we will send.
    pub(crate) local_initial_tsn: Tsn,
    /// The way the INIT came. IPv6 flow labels are not kept.
    pub(crate) route: Route,
    /// Addresses listed in the INIT, at most [`MAX_COOKIE_ADDRESSES`].
    pub(crate) peer_addresses: SmallVec<[IpAddr; 4]>,
    /// The address families that the INIT ACK has told the peer of (RFC 9260 §3.3.2.1.5).
    pub(crate) families: Families,
    /// The INIT ACK has named addresses of ours with lower numbers than this; `None`: all there were.
    pub(crate) named_below: Option<Serial>,
    /// What the INIT and we agree on. Of authentication, our own random number is not carried, which follows from `local_tag`
    /// and `local_initial_tsn`; neither are shared keys (RFC 4895 §6.3).
    pub(crate) agreement: Agreement,
}

/// A cookie that has come back, and what follows from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OpenedCookie {
    contents: CookieContents,
    /// Our random number in the INIT ACK that brought the cookie (RFC 4895 §6.1).
    pub(crate) auth_random: [u8; 32],
}

impl OpenedCookie {
    pub(crate) fn new(contents: CookieContents, randoms: &Randoms) -> Self {
        let auth_random = randoms.of(contents.local_tag, contents.local_initial_tsn);
        Self { contents, auth_random }
    }
}

impl core::ops::Deref for OpenedCookie {
    type Target = CookieContents;

    fn deref(&self) -> &CookieContents {
        &self.contents
    }
}

/// Why a cookie is not accepted. Either way the packet is discarded without an answer (RFC 9260 §5.1.5 rule 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum CookieError {
    /// Not of the form we write.
    #[error("malformed State Cookie")]
    Malformed,
    /// Not made with a key of ours that is still in use, or changed since.
    #[error("forged State Cookie")]
    Forged,
}

/// The keys that sign cookies. There is no state per cookie and no way to switch the MAC off.
///
/// The key changes with every period of virtual time; the one before it remains valid, so a cookie can be opened for
/// at least one period. The key of period n is drawn from the endpoint's seed by number, which makes this type free
/// of any history.
pub(crate) struct CookieKeys {
    seed: Seed,
    period: u64,
    number: u64,
    current: Hmac<Sha256>,
    previous: Option<Hmac<Sha256>>,
}

impl CookieKeys {
    /// Keys drawn from `seed`, changing every `period`.
    pub(crate) fn new(seed: Seed, period: Duration) -> Self {
        let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1);
        let current = key(&seed, 0);
        Self { seed, period, number: 0, current, previous: None }
    }

    /// Appends a signed cookie with `contents` to `out`.
    pub(crate) fn seal(&mut self, now: Instant, contents: &CookieContents, out: &mut Vec<u8>) {
        self.rotate(now);
        let start = out.len();
        out.extend_from_slice(&[VERSION, self.number as u8]);
        codec::write(contents, out);
        let mac = self.current.clone().chain_update(&out[start..]).finalize().into_bytes();
        out.extend_from_slice(&mac);
    }

    /// Checks and reads a cookie.
    ///
    /// # Errors
    /// [`CookieError::Malformed`] if it cannot be one of ours by its shape, [`CookieError::Forged`] if its MAC is
    /// not right for a current key.
    pub(crate) fn open(&mut self, now: Instant, bytes: &[u8]) -> Result<CookieContents, CookieError> {
        self.rotate(now);
        let signed_len = bytes.len().checked_sub(MAC_LEN).ok_or(CookieError::Malformed)?;
        let (signed, mac) = bytes.split_at(signed_len);
        let [VERSION, key_number, ..] = *signed else { return Err(CookieError::Malformed) };
        let key = match (self.number as u8).wrapping_sub(key_number) {
            0 => &self.current,
            1 => self.previous.as_ref().ok_or(CookieError::Forged)?,
            _ => return Err(CookieError::Forged),
        };
        // Compares in constant time.
        key.clone().chain_update(signed).verify_slice(mac).map_err(|_| CookieError::Forged)?;
        codec::read(&signed[HEADER_LEN..]).ok_or(CookieError::Malformed)
    }

    fn rotate(&mut self, now: Instant) {
        let number = now.as_nanos() / self.period;
        if number == self.number {
            return;
        }
        self.previous = number.checked_sub(1).map(|before| key(&self.seed, before));
        self.current = key(&self.seed, number);
        self.number = number;
    }
}

impl core::fmt::Debug for CookieKeys {
    /// Does not show the keys.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CookieKeys").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The key of period `number`, its two hash blocks already absorbed.
fn key(seed: &Seed, number: u64) -> Hmac<Sha256> {
    let mut bytes = [0; 32];
    seed.stream("cookie-keys", number).fill(&mut bytes);
    Hmac::new_from_slice(&bytes).expect("HMAC takes keys of any length")
}

#[cfg(test)]
#[path = "cookie_tests.rs"]
mod tests;
