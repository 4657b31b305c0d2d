//! All associations that move: facts reach their policies, and what they decide reaches the endpoint.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use whimbrel_handover::{Decision, Fact, Policy};
use whimbrel_machine::{Instant, LinkFact, Links};
use whimbrel_proto::{AssociationId, Endpoint, Event, Mobility};

use crate::asking::Asking;
use crate::mover::Mover;

/// Decisions remembered for whoever asks, at most; the oldest are forgotten.
const MAX_REMEMBERED: usize = 256;

/// What a policy has decided about an association, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decided {
    /// When it was decided.
    pub at: Instant,
    /// The association that the policy moves.
    pub association: AssociationId,
    /// The action and the reason for it.
    pub decision: Decision,
}

/// Makes the policy of a new association.
pub(crate) struct NewPolicy(pub(crate) Box<dyn Fn() -> Box<dyn Policy> + Send>);

impl fmt::Debug for NewPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewPolicy")
    }
}

#[derive(Debug)]
pub(crate) struct Movers {
    new_policy: NewPolicy,
    all: BTreeMap<AssociationId, Mover>,
    /// When each policy wants to be asked, the earliest first.
    deadlines: BTreeSet<(Instant, AssociationId)>,
    decided: VecDeque<Decided>,
    /// Link facts on their way to the policies.
    asking: Asking,
}

impl Movers {
    pub(crate) fn new(new_policy: NewPolicy) -> Self {
        Self {
            new_policy,
            all: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            decided: VecDeque::new(),
            asking: Asking::default(),
        }
    }

    // ---- inputs

    /// A change of the links, which `links` and `endpoint` know already.
    pub(crate) fn handle_link(
        &mut self,
        now: Instant,
        fact: LinkFact,
        links: &Links,
        endpoint: &mut Endpoint,
    ) {
        self.asking.push(fact);
        self.tell_of_links(now, links, endpoint);
    }

    /// Tells all policies of link facts, as far as that is in measure; the rest is told later.
    fn tell_of_links(&mut self, now: Instant, links: &Links, endpoint: &mut Endpoint) {
        while let Some(fact) = self.asking.next(now, self.all.len()) {
            let ids: Vec<AssociationId> = self.all.keys().copied().collect();
            for id in ids {
                self.observe(now, id, &Fact::Link(fact), links, endpoint);
            }
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, links: &Links, endpoint: &mut Endpoint) {
        self.tell_of_links(now, links, endpoint);
        while let Some(&(at, id)) = self.deadlines.first()
            && at <= now
        {
            self.deadlines.pop_first();
            self.observe(now, id, &Fact::Deadline, links, endpoint);
        }
    }

    /// Something that the user will be told, too.
    pub(crate) fn handle_event(
        &mut self,
        now: Instant,
        event: &Event,
        links: &Links,
        endpoint: &mut Endpoint,
    ) {
        let (id, fact) = match *event {
            Event::Up { association, mobility, .. } => {
                // Not those that are up: some may have come up, or gone, since the handshake told the peer of us.
                let known = endpoint.addresses(association).local;
                let dynamic = mobility == Mobility::Dynamic;
                let mover = Mover::new(association, (self.new_policy.0)(), known, dynamic);
                self.all.insert(association, mover);
                (association, Fact::Begun)
            }
            Event::Path { association, path, state, .. } => (association, Fact::Path { path, state }),
            Event::PathInUse { association, path, .. } => (association, Fact::PathInUse { path }),
            Event::PathQuality { association, path, .. } => (association, Fact::PathQuality { path }),
            Event::PathEstimates { association, path } => (association, Fact::PathEstimates { path }),
            Event::PeerAddress { association, address, change } => {
                (association, Fact::PeerAddress { address, change })
            }
            Event::PathGone { association, path, .. } => (association, Fact::PathGone { path }),
            Event::AddressChanged { association, change, outcome } => {
                let Some(mover) = self.all.get_mut(&association) else { return };
                (association, mover.answered(change, outcome.is_ok()))
            }
            Event::MobilityChanged { association, mobility } => {
                let Some(mover) = self.all.get_mut(&association) else { return };
                mover.set_dynamic(mobility == Mobility::Dynamic);
                (association, Fact::Begun)
            }
            Event::Restarted { association, .. } => {
                let Some(mover) = self.all.get_mut(&association) else { return };
                mover.restart(endpoint.addresses(association).local);
                (association, Fact::Begun)
            }
            Event::Closed { association, .. } => {
                self.all.remove(&association);
                self.deadlines.retain(|&(_, id)| id != association);
                return;
            }
            _ => return,
        };
        self.observe(now, id, &fact, links, endpoint);
    }

    // ---- outputs

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let policies = self.deadlines.first().map(|&(at, _)| at);
        [policies, self.asking.next_deadline()].into_iter().flatten().min()
    }

    pub(crate) fn decided(&mut self) -> impl Iterator<Item = Decided> + '_ {
        self.decided.drain(..)
    }

    // ---- views

    pub(crate) fn decisions(&self) -> &VecDeque<Decided> {
        &self.decided
    }

    // ---- shared

    fn observe(
        &mut self,
        now: Instant,
        association: AssociationId,
        fact: &Fact,
        links: &Links,
        endpoint: &mut Endpoint,
    ) {
        let Some(mover) = self.all.get_mut(&association) else { return };
        if matches!(fact, Fact::Begun | Fact::Link(_))
            && let Some(spared) = mover.spare(links)
        {
            endpoint.spare_addresses(now, association, spared);
        }
        if let Some(before) = mover.next_deadline() {
            self.deadlines.remove(&(before, association));
        }
        let remotes = endpoint.addresses(association).remote;
        let decisions = mover.observe(now, fact, links, &endpoint.paths(association), &remotes);
        if let Some(next) = mover.next_deadline() {
            self.deadlines.insert((next, association));
        }
        for command in mover.commands(&decisions) {
            endpoint.handle_command(now, command);
        }
        for decision in decisions {
            if self.decided.len() >= MAX_REMEMBERED {
                self.decided.pop_front();
            }
            self.decided.push_back(Decided { at: now, association, decision });
        }
    }
}
