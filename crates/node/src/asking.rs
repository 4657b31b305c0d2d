//! How often the policies of all associations are asked about links: who can tell link facts (a user's script, a radio that
//! flaps) must not keep the host busy with them, however many associations it has.

use core::time::Duration;
use std::collections::VecDeque;

use whimbrel_machine::{Instant, InterfaceFact, LinkFact};

/// Questions that may be asked at once: a fact told to one association is one.
const AT_ONCE: u64 = 100_000;

/// Questions per second in the long run.
const PER_SECOND: u64 = 100_000;

/// Nanoseconds that a question costs.
const COST: u64 = 1_000_000_000 / PER_SECOND;

/// Facts that wait to be told, at most; then the oldest is forgotten. What a policy may look at shows its effect anyway.
const WAITING_MAX: usize = 512;

/// Facts that are due to be told, and when.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    waiting: VecDeque<LinkFact>,
    /// When everything asked so far would have been asked at [`PER_SECOND`].
    paid: Instant,
}

impl Asking {
    /// A fact that the policies should hear of. Of those that wait and say something about the same thing, the last counts.
    pub(crate) fn push(&mut self, fact: LinkFact) {
        self.waiting.retain(|waiting| !same_thing(waiting, &fact));
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(fact);
    }

    /// The next fact to tell each of `count` associations now, if there is one and it is time.
    pub(crate) fn next(&mut self, now: Instant, count: usize) -> Option<LinkFact> {
        if count == 0 {
            // Nobody listens; those that come up look for themselves.
            self.waiting.clear();
        }
        let fact = *self.waiting.front()?;
        if self.next_deadline()? > now {
            return None;
        }
        self.waiting.pop_front();
        self.paid = self.paid.max(now) + Duration::from_nanos(COST.saturating_mul(count as u64));
        Some(fact)
    }

    /// When the next fact may be told; `None` without one.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let burst = Duration::from_nanos(AT_ONCE * COST);
        (!self.waiting.is_empty()).then(|| self.paid - burst)
    }
}

/// Whether two facts are about the same property of the same thing, so that the later one makes the earlier one old.
fn same_thing(one: &LinkFact, other: &LinkFact) -> bool {
    match (one, other) {
        (LinkFact::AddressUp(one), LinkFact::AddressUp(other))
        | (LinkFact::AddressDown(one), LinkFact::AddressDown(other)) => one == other,
        (LinkFact::AddressOn { address: one, .. }, LinkFact::AddressOn { address: other, .. }) => {
            one == other
        }
        (
            LinkFact::Interface { interface: one, fact },
            LinkFact::Interface { interface: other, fact: other_fact },
        ) => one == other && same_property(fact, other_fact),
        _ => false,
    }
}

fn same_property(one: &InterfaceFact, other: &InterfaceFact) -> bool {
    core::mem::discriminant(one) == core::mem::discriminant(other)
}

#[cfg(test)]
#[path = "asking_tests.rs"]
mod tests;
