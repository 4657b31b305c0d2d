use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use whimbrel_handover::{Decision, Fact, Governed, Pace, Policy, Seamless, View};
use whimbrel_machine::Instant;

/// What a terminal does by itself while the network does not decide: as `whimbrel send` does (`gateway::Gated`, which has a clock and so is another crate's).
#[derive(Debug)]
pub(crate) struct Gate {
    network_decides: Arc<AtomicBool>,
    policy: Option<Governed<Seamless>>,
}

impl Gate {
    pub(crate) const fn new(network_decides: Arc<AtomicBool>) -> Self {
        Self { network_decides, policy: None }
    }
}

impl Policy for Gate {
    fn observe(&mut self, now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision> {
        if self.network_decides.load(Ordering::Relaxed) {
            self.policy = None;
            return Vec::new();
        }
        match &mut self.policy {
            Some(policy) => policy.observe(now, fact, view),
            None => self.policy.insert(Seamless::policy(Pace::MOBILE)).observe(now, &Fact::Begun, view),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.policy.as_ref().and_then(Policy::next_deadline)
    }
}
