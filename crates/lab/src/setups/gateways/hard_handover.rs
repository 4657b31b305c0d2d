use core::net::IpAddr;

use whimbrel_handover::{Action, Decision, Fact, Policy, Reason, Standing, View};
use whimbrel_machine::Instant;

/// The terminal of paper d10, section II.B: it has one network at a time, adds the address that it gets there, and asks for it to be the primary one when
/// that is acknowledged. Each request is a packet of its own. The paper has no address deleted; the one before the last is, so that they do not add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HardHandover {
    /// The address it was at last, and the one before.
    last: [Option<IpAddr>; 2],
}

impl Policy for HardHandover {
    fn observe(&mut self, _now: Instant, fact: &Fact, view: &View<'_>) -> Vec<Decision> {
        let decide = |action| Decision { action, reason: Reason::AddressAcquired };
        match fact {
            Fact::Link(_) | Fact::Begun => {
                let new = view.addresses.iter().find(|local| local.up && local.standing == Standing::Absent);
                let Some(new) = new.filter(|_| view.dynamic) else { return Vec::new() };
                let ip = new.address.ip();
                if self.last[0] == Some(ip) {
                    return Vec::new();
                }
                self.last = [Some(ip), self.last[0]];
                vec![decide(Action::AddAddress(new.address))]
            }
            Fact::Added { address, accepted: true } => vec![decide(Action::AskPrimary(address.ip()))],
            Fact::PrimaryAsked { accepted: true, .. } => {
                // To begin with there is an address that was never added.
                let earlier = |ip: &IpAddr| self.last[1].is_some() && !self.last.contains(&Some(*ip));
                let old = view.addresses.iter().filter(|local| !local.up).map(|local| local.address.ip());
                old.filter(earlier).map(|ip| decide(Action::DeleteAddress(ip))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}
