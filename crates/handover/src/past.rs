//! What happened to addresses: which of ours are down, and which, of either end, had to be left in a hurry.

use core::net::IpAddr;

use whimbrel_machine::Instant;

use crate::{Pace, View};

/// Addresses whose past is remembered, at most.
const MAX_REMEMBERED: usize = 32;

/// The past of several addresses.
#[derive(Debug, Default)]
pub(crate) struct Pasts {
    all: Vec<Past>,
}

/// What happened to an address.
#[derive(Clone, Copy, Debug)]
struct Past {
    ip: IpAddr,
    down_since: Option<Instant>,
    /// How often it had to be left in a hurry, lately.
    failures: u32,
    shunned_until: Instant,
}

impl Pasts {
    /// Since when our address `ip` is down; `None` if it is not.
    pub(crate) fn down_since(&self, ip: IpAddr) -> Option<Instant> {
        self.all.iter().find(|past| past.ip == ip).and_then(|past| past.down_since)
    }

    /// Until when nobody returns to `ip` just because it looks better.
    pub(crate) fn shunned_until(&self, ip: IpAddr) -> Option<Instant> {
        self.all.iter().find(|past| past.ip == ip).map(|past| past.shunned_until)
    }

    /// Notes which of our addresses are down.
    pub(crate) fn note(&mut self, now: Instant, view: &View<'_>) {
        for local in view.addresses {
            let ip = local.address.ip();
            match self.all.iter_mut().find(|past| past.ip == ip) {
                Some(past) if local.up => past.down_since = None,
                Some(past) => past.down_since = past.down_since.or(Some(now)),
                None if !local.up => {
                    self.remember(Past { ip, down_since: Some(now), failures: 0, shunned_until: now });
                }
                None => {}
            }
        }
    }

    /// It had to be left in a hurry: the more often that happens, the longer nobody returns just because it looks better.
    pub(crate) fn shun(&mut self, now: Instant, ip: IpAddr, pace: &Pace) {
        if pace.longest_shun.is_zero() {
            return;
        }
        if !self.all.iter().any(|past| past.ip == ip) {
            self.remember(Past { ip, down_since: None, failures: 0, shunned_until: now });
        }
        let Some(past) = self.all.iter_mut().find(|past| past.ip == ip) else { return };
        // Forgiven when it has held twice as long as one has to wait at most.
        if now.saturating_since(past.shunned_until) > pace.longest_shun * 2 {
            past.failures = 0;
        }
        let time = pace.dwell.saturating_mul(1 << past.failures.min(16)).min(pace.longest_shun);
        past.failures = past.failures.saturating_add(1);
        past.shunned_until = now + time;
    }

    /// The peer wants another one: as [`Pasts::shun`], but up to half as long again, by the address. Two hosts that want different
    /// things would otherwise ask for them in the same moment, each time, and cross each other's requests.
    pub(crate) fn yield_to_peer(&mut self, now: Instant, ip: IpAddr, pace: &Pace) {
        self.shun(now, ip, pace);
        let Some(past) = self.all.iter_mut().find(|past| past.ip == ip) else { return };
        let time = past.shunned_until.saturating_since(now);
        past.shunned_until += time * share(ip) / (2 * u32::from(u8::MAX));
    }

    fn remember(&mut self, past: Past) {
        if self.all.len() >= MAX_REMEMBERED {
            // The one whose time is over first.
            let oldest = self.all.iter().enumerate().min_by_key(|(_, past)| past.shunned_until);
            if let Some((at, _)) = oldest {
                self.all.remove(at);
            }
        }
        self.all.push(past);
    }
}

/// A number from 0 to 255 that two addresses hardly ever have in common, however alike they are (FNV-1a).
fn share(ip: IpAddr) -> u32 {
    let mix = |bytes: &[u8]| {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step) >> 32
    };
    let hash = match ip {
        IpAddr::V4(ip) => mix(&ip.octets()),
        IpAddr::V6(ip) => mix(&ip.octets()),
    };
    (hash % 256) as u32
}
