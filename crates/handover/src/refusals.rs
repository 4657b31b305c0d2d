//! What the peer has refused, and when it may be asked again.

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_machine::Instant;

/// Refusals remembered, at most.
const MAX_REMEMBERED: usize = 64;

/// However often something was refused, it is asked for again after this time.
const LONGEST: Duration = Duration::from_secs(64);

/// A kind of request about one address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    Add,
    Delete,
    Primary,
}

/// Each refusal of the same request doubles the time until the next attempt: what is refused for good must not use up what is
/// allowed for all requests together.
#[derive(Debug)]
pub(crate) struct Refusals {
    /// Until the attempt after the first refusal.
    first: Duration,
    list: Vec<Refusal>,
}

#[derive(Clone, Copy, Debug)]
struct Refusal {
    request: Request,
    ip: IpAddr,
    times: u32,
    retry_at: Instant,
}

impl Refusals {
    pub(crate) const fn new(first: Duration) -> Self {
        Self { first, list: Vec::new() }
    }

    /// The peer has answered.
    pub(crate) fn note(&mut self, now: Instant, request: Request, ip: IpAddr, accepted: bool) {
        let known = self.list.iter().position(|refusal| refusal.request == request && refusal.ip == ip);
        let before = known.map_or(0, |at| self.list.swap_remove(at).times);
        if accepted {
            if request == Request::Delete {
                // There is room for another address now.
                self.list.retain(|refusal| refusal.request != Request::Add);
            }
            return;
        }
        if self.list.len() >= MAX_REMEMBERED {
            // The one whose time is over first.
            let oldest = self.list.iter().enumerate().min_by_key(|(_, refusal)| refusal.retry_at);
            if let Some((at, _)) = oldest {
                self.list.swap_remove(at);
            }
        }
        let wait = self.first.saturating_mul(1 << before.min(16)).min(LONGEST);
        self.list.push(Refusal { request, ip, times: before.saturating_add(1), retry_at: now + wait });
    }

    /// The peer is another one, or can do other things than before.
    pub(crate) fn forget(&mut self) {
        self.list.clear();
    }

    /// The address is new, or has come back.
    pub(crate) fn forget_of(&mut self, ip: IpAddr) {
        self.list.retain(|refusal| refusal.ip != ip);
    }

    /// When this may be asked for again; `None` if it was not refused.
    pub(crate) fn retry_at(&self, request: Request, ip: IpAddr) -> Option<Instant> {
        self.list.iter().find(|refusal| refusal.request == request && refusal.ip == ip).map(|r| r.retry_at)
    }
}

#[cfg(test)]
#[path = "refusals_tests.rs"]
mod tests;
