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
        self.policy.get_or_insert_with(&self.make).observe(now, fact, view)
    }

    fn next_deadline(&self) -> Option<Instant> {
        let policy = self.policy.as_ref().and_then(Policy::next_deadline);
        [policy, self.looks].into_iter().flatten().min()
    }
}
