//! A policy that decides only while the network does not.

use std::time::Duration;

use whimbrel::handover::{Decision, Fact, Policy, View};
use whimbrel_machine::Instant;

use crate::network_control::NetworkControl;

/// How soon it is noticed that the network has ceased to decide.
const LOOK: Duration = Duration::from_millis(200);

/// Another policy behind a gate. Each time the gate opens the policy begins anew, as it does with a new association: what it knew is out of date.
pub struct Gated<F, P> {
    control: NetworkControl,
    make: F,
    policy: Option<P>,
    /// When it is seen next whether the gate is open.
    looks: Option<Instant>,
}

impl<F, P> Gated<F, P> {
    /// `make` makes the policy that decides while `control` says that the network does not.
    pub const fn new(control: NetworkControl, make: F) -> Self {
        Self { control, make, policy: None, looks: None }
    }
}

impl<F, P> core::fmt::Debug for Gated<F, P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Gated").field("control", &self.control).finish_non_exhaustive()
    }
}

impl<F: Fn() -> P + Send, P: Policy> Policy for Gated<F, P> {
    fn observe(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision> {
        self.looks = Some(now + LOOK);
        if self.control.decides() {
            self.policy = None;
            return Vec::new();
        }
        match &mut self.policy {
            Some(policy) => policy.observe(now, fact, view),
            // What has just happened the view shows.
            None => self.policy.insert((self.make)()).observe(now, &Fact::Begun, view),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        match &self.policy {
            Some(policy) => policy.next_deadline(),
            None => self.looks,
        }
    }
}

#[cfg(test)]
#[path = "gated_tests.rs"]
mod tests;
