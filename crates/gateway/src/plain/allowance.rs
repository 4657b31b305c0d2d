//! How often somebody who has proved nothing is answered: whoever forges where a request comes from has answers go there.

use std::net::IpAddr;
use std::time::Duration;

/// Between two answers to one source, in the long run.
const INTERVAL: Duration = Duration::from_millis(20);

/// As many may follow each other at once.
pub(super) const BURST: u32 = 64;

/// Sources that are told apart at most: memory does not grow with those that are forged.
const PLACES: usize = 4096;

/// For all sources. Who shares a place with whom is decided by a secret, so that nobody can take the place of a certain other one.
#[derive(Debug)]
pub(super) struct Allowance(Vec<Duration>);

impl Allowance {
    pub(super) fn new() -> Self {
        Self(vec![Duration::ZERO; PLACES])
    }

    /// Whether one more answer may go there (GCRA, ITU-T I.371). `secret` is of the source.
    pub(super) fn take(&mut self, now: Duration, secret: &[u8; 32]) -> bool {
        let number = secret.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let due = &mut self.0[(number % PLACES as u64) as usize];
        if *due > now + INTERVAL * (BURST - 1) {
            return false;
        }
        *due = now.max(*due) + INTERVAL;
        true
    }
}

/// What stands for a source: one host may have all addresses of a /64 (RFC 4291 §2.5.4).
pub(super) fn source(of: IpAddr) -> IpAddr {
    match of {
        IpAddr::V4(_) => of,
        IpAddr::V6(of) => IpAddr::V6((of.to_bits() >> 64 << 64).into()),
    }
}
