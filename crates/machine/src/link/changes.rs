//! The one place where links are compared.

use super::{Interface, InterfaceFact, LinkFact, Links};

impl Links {
    /// What has to happen to these links so that they become `next`: the inverse of [`Links::apply`], so that a single fact
    /// comes back as itself if it has changed anything.
    ///
    /// What comes is told before what goes, so that who has one thing in place of another is never without: interfaces that
    /// rise, the strongest of them, addresses in the order in which they came up; then interfaces and addresses that fall.
    /// A property that is withdrawn (a rank, a rate, a signal) makes no fact of its own: it is seen in the links when the next fact
    /// comes.
    pub fn changes_to(&self, next: &Self) -> Vec<LinkFact> {
        let mut changes = Vec::new();
        if self == next {
            return changes;
        }
        for now in &next.interfaces {
            rising(&self.before(now), now, |fact| changes.push(about(now, fact)));
        }
        for now in next.addresses.iter().filter(|now| !now.interface.is_nameless()) {
            if self.interface_of(now.ip) != Some(now.interface) {
                changes.push(LinkFact::AddressOn { interface: now.interface, address: now.ip });
            }
        }
        let strongest = next.interfaces.iter().find(|now| now.strongest);
        if let Some(now) = strongest.filter(|now| !self.before(now).strongest) {
            changes.push(about(now, InterfaceFact::Strongest));
        }
        changes.extend(self.addresses_coming_up(next));
        let gone = |was: &&Interface| was.up && !was.id.is_nameless() && next.interface(was.id).is_none();
        let down = |now: &&Interface| falls(&self.before(now), now, strongest.is_none());
        let falling = self.interfaces.iter().filter(gone).chain(next.interfaces.iter().filter(down));
        changes.extend(falling.map(|interface| about(interface, InterfaceFact::Down)));
        let is_up = |ip| next.address(ip).is_some_and(|now| now.up.is_some());
        let falling = self.addresses.iter().filter(|was| !is_up(was.ip));
        changes.extend(falling.filter_map(|was| was.up).map(LinkFact::AddressDown));
        changes
    }

    /// What was known of an interface before.
    fn before(&self, now: &Interface) -> Interface {
        self.interface(now.id).copied().unwrap_or_else(|| Interface::new(now.id))
    }

    fn addresses_coming_up(&self, next: &Self) -> impl Iterator<Item = LinkFact> {
        let mut rising = Vec::new();
        for now in &next.addresses {
            let before = self.address(now.ip);
            let news = before.is_none_or(|was| was.up != now.up || was.way < now.way);
            rising.extend(now.up.filter(|_| news).map(|address| (now.way, address)));
        }
        rising.sort_by_key(|(way, _)| *way);
        rising.into_iter().map(|(_, address)| LinkFact::AddressUp(address))
    }
}

fn about(interface: &Interface, fact: InterfaceFact) -> LinkFact {
    LinkFact::Interface { interface: interface.id, fact }
}

/// What has come about at an interface, who is the strongest excepted.
fn rising(was: &Interface, now: &Interface, mut tell: impl FnMut(InterfaceFact)) {
    let (before, after) = (&was.properties, &now.properties);
    let handover = after.handovers > before.handovers;
    // A handover, too, attaches an interface and takes a warning back.
    let recovers = (now.attached && !was.attached) || (before.going_down && !after.going_down);
    let up = now.up && (!was.up || before.kind != after.kind || (recovers && !handover));
    if up {
        tell(InterfaceFact::Up(after.kind.unwrap_or_default()));
    }
    if let Some(rank) = after.rank.filter(|_| before.rank != after.rank) {
        tell(InterfaceFact::Rank(rank));
    }
    if before.cost != after.cost {
        tell(InterfaceFact::Cost(after.cost.unwrap_or_default()));
    }
    if let Some(rate) = after.rate.filter(|_| before.rate != after.rate) {
        tell(InterfaceFact::Rate(rate));
    }
    if let Some(power) = after.signal.filter(|_| before.signal != after.signal) {
        tell(InterfaceFact::Signal(power));
    }
    if handover {
        tell(InterfaceFact::HandoverComplete);
    }
    if after.orders > before.orders {
        tell(InterfaceFact::Selected);
    }
    if now.up && before.nat64 != after.nat64 {
        tell(InterfaceFact::Nat64(after.nat64));
    }
    let warned = after.warnings > before.warnings || !before.going_down;
    if after.going_down && (warned || up || handover) {
        tell(InterfaceFact::GoingDown);
    }
}

/// Whether an interface goes down, or what goes with it: of one that is down already, what somebody has said since.
fn falls(was: &Interface, now: &Interface, no_other_is_strongest: bool) -> bool {
    let (before, after) = (&was.properties, &now.properties);
    let handover = after.handovers > before.handovers;
    let detached = was.attached && !now.attached;
    let unheard = before.signal.is_some() && after.signal.is_none();
    let unwarned = before.going_down && !after.going_down && !handover;
    let deposed = was.strongest && !now.strongest && no_other_is_strongest;
    !now.up && (was.up || detached || unheard || unwarned || deposed)
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
