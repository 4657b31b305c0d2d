//! Which proofs have been used: none counts for two requests (RFC 7616 §3.3), and one that has been heard on the way is worth nothing.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// For how long a nonce is good for new requests. Who comes later is asked again, with `stale`, and need not ask its user.
pub(super) const NONCE_LIVES: Duration = Duration::from_secs(60);

/// For how long a request comes again (64 T1, RFC 3261 §17.1.1.2 and §17.1.2.2).
const REPEATS: Duration = Duration::from_secs(32);

/// Nonces of one user whose uses are remembered. Only who knows the password makes any be remembered, and it takes room from nobody else.
pub(super) const NONCES_PER_USER: usize = 1024;

/// Uses of one nonce that are remembered: as many requests may be on their way at a time.
const USES_PER_NONCE: usize = 8;

/// Names a nonce. They are in the order in which they were made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct NonceName {
    pub(super) made: Duration,
    pub(super) number: u32,
}

/// A datagram, and where it came from, under a key that nobody has.
pub(super) type Print = [u8; 32];

#[derive(Debug)]
struct Use {
    /// The count that it was made with (`nc`).
    count: u32,
    datagram: Print,
    first: Duration,
}

/// The nonces that one user has used.
#[derive(Default, Debug)]
struct OfUser {
    nonces: BTreeMap<NonceName, VecDeque<Use>>,
    /// There was no room for this one any more: what was made before it or with it counts for nothing new.
    forgotten: Option<NonceName>,
}

/// All of them.
#[derive(Default, Debug)]
pub(super) struct Uses(BTreeMap<String, OfUser>);

impl Uses {
    /// Whether this datagram, which proves that it is of this user, may pass: it is the first with this nonce and count, or it comes again as it was.
    pub(super) fn allow(
        &mut self,
        now: Duration,
        user: &str,
        nonce: NonceName,
        count: u32,
        datagram: Print,
    ) -> bool {
        let OfUser { nonces, forgotten } = self.0.entry(user.to_owned()).or_default();
        // What is too old to be used anew and to come again.
        while nonces
            .first_key_value()
            .is_some_and(|(old, _)| now.saturating_sub(old.made) > NONCE_LIVES + REPEATS)
        {
            nonces.pop_first();
        }
        let before = nonces.get(&nonce);
        if let Some(before) = before.and_then(|uses| uses.iter().find(|before| before.count == count)) {
            return before.datagram == datagram && now.saturating_sub(before.first) <= REPEATS;
        }
        let is_old = now.saturating_sub(nonce.made) > NONCE_LIVES || *forgotten >= Some(nonce);
        if is_old || before.and_then(VecDeque::back).is_some_and(|last| last.count >= count) {
            return false;
        }
        let uses = nonces.entry(nonce).or_default();
        uses.push_back(Use { count, datagram, first: now });
        // Those before it cannot be used anew, as their counts are less.
        if uses.len() > USES_PER_NONCE {
            uses.pop_front();
        }
        if nonces.len() > NONCES_PER_USER {
            *forgotten = nonces.pop_first().map(|(oldest, _)| oldest).max(*forgotten);
        }
        true
    }

    /// Nonces of a user that are remembered.
    #[cfg(test)]
    pub(super) fn remembered(&self, user: &str) -> usize {
        self.0.get(user).map_or(0, |of_user| of_user.nonces.len())
    }
}

#[cfg(test)]
#[path = "uses_tests.rs"]
mod tests;
