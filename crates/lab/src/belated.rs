//! A policy that changes the primary path too late, and asks for nothing else.

use core::net::IpAddr;
use core::time::Duration;

use whimbrel_handover::{Action, Decision, Fact, Policy, Reason, View};
use whimbrel_machine::{Instant, LinkFact};

/// Adds every address it is told of. When one is lost it waits, and then asks for another one to be the primary address; it
/// never has one deleted.
#[derive(Debug)]
pub(crate) struct Belated {
    silence: Duration,
    added: Vec<IpAddr>,
    due: Option<Instant>,
}

impl Belated {
    /// One that waits for `silence`.
    pub(crate) const fn new(silence: Duration) -> Self {
        Self { silence, added: Vec::new(), due: None }
    }
}

impl Policy for Belated {
    fn observe(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision> {
        if let Fact::Link(LinkFact::AddressDown(_)) = fact {
            self.due = Some(now + self.silence);
        }
        if self.due.is_some_and(|due| due <= now) {
            self.due = None;
            let other = view.addresses.iter().filter(|local| local.up).map(|local| local.address.ip());
            let paths = other.filter_map(|ip| Some((ip, view.usable_path(ip)?.id)));
            let decide = |action| Decision { action, reason: Reason::AddressLost };
            let (ip, path) = match paths.into_iter().next() {
                Some(found) => found,
                None => return Vec::new(),
            };
            return vec![decide(Action::UsePath(path)), decide(Action::AskPrimary(ip))];
        }
        let absent = |local: &&whimbrel_handover::LocalAddress| {
            local.up && local.standing == whimbrel_handover::Standing::Absent
        };
        let new: Vec<_> = view.addresses.iter().filter(absent).map(|local| local.address).collect();
        let mut decisions = Vec::new();
        for address in new {
            if view.dynamic && !self.added.contains(&address.ip()) {
                self.added.push(address.ip());
                decisions
                    .push(Decision { action: Action::AddAddress(address), reason: Reason::AddressAcquired });
            }
        }
        decisions
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.due
    }
}
